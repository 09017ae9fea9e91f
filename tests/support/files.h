// Whole files.
#pragma once

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace orc::test {

[[nodiscard]] inline std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const std::string& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

}  // namespace orc::test
