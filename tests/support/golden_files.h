// The golden vectors of schemas/golden, as bytes.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

namespace orc::test {

// ctest sets ORC_SOURCE_DIR; a test started by hand finds the sources where it was compiled.
inline std::filesystem::path source_dir() {
  const char* set = std::getenv("ORC_SOURCE_DIR");
  return set != nullptr ? std::filesystem::path(set)
                        : std::filesystem::path(__FILE__).parent_path().parent_path().parent_path();
}

inline std::string golden_bytes(const std::string& name) {
  const auto path = source_dir() / "schemas" / "golden" / (name + ".bin");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::span<const std::byte> as_span(const std::string& bytes) {
  return std::as_bytes(std::span<const char>(bytes.data(), bytes.size()));
}

}  // namespace orc::test
