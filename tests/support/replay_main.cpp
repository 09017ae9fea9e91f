// replay_main NAME DIRECTORY: runs a fuzz target over the files of a directory, without libFuzzer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "support/replay.h"

int main(int argc, char** argv) {
  if (argc != 3 || !orc::test::fuzz_targets.contains(argv[1]) || !std::filesystem::is_directory(argv[2])) {
    std::fprintf(stderr, "usage: %s TARGET DIRECTORY\n", argv[0]);
    return 2;
  }
  orc::test::fuzz_target* const target = orc::test::fuzz_targets.at(argv[1]);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[2])) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    // An exact-size heap copy, so that AddressSanitizer sees a read past the end; named first, for when it aborts.
    std::fprintf(stderr, "%s (%zu bytes)\n", file.c_str(), bytes.size());
    const std::vector<std::uint8_t> input(bytes.begin(), bytes.end());
    target(input.data(), input.size());
  }
  std::printf("%zu inputs replayed\n", files.size());
  return files.empty() ? 1 : 0;
}
