// The fuzz targets of the program that replays their corpora.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>

namespace orc::test {

using fuzz_target = int(const std::uint8_t* data, std::size_t size);

// By the name of the corpus. tests/fuzz/CMakeLists.txt writes it.
extern const std::map<std::string_view, fuzz_target*> fuzz_targets;

}  // namespace orc::test
