// What the fuzz targets of the decoder share.
//
// The first byte says what the rest is: 0: a sample of the fixed type; 1: JSON for it; others: a schema (its length in
// two bytes), then a sample of it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/types/decoder.h"
#include "orc/types/json.h"

namespace orc::test {

// Decodes the sample in each way. Whatever it is, JSON is valid enough to be read as JSON again.
inline void fuzz_sample(const types::decoder& type, std::span<const std::byte> sample, std::string_view path) {
  std::string text;
  types::json_options options;
  options.max_bytes = std::size_t{1} << 20;
  if (types::to_json(type, sample, options, text)) {
    std::vector<std::byte> again;
    static_cast<void>(types::from_json(type, text, again));
    std::unique_ptr<types::decoder> json;
    std::string copy;
    options.max_bytes *= 8;
    if (!types::decoder::make({"", "", "json", ""}, json)) std::abort();
    const auto bytes = std::as_bytes(std::span(text));
    if (!types::to_json(*json, bytes, options, copy)) std::abort();
  }
  options.pretty = true;
  options.units = true;
  options.fold = 3;
  static_cast<void>(types::to_json(type, sample, options, text));
  types::field_path compiled;
  types::value found;
  if (type.path(path, compiled)) static_cast<void>(type.find(sample, compiled, found));
}

// What from_json() makes can be decoded.
inline void fuzz_json(const types::decoder& type, std::string_view text) {
  std::vector<std::byte> sample;
  if (!types::from_json(type, text, sample)) return;
  std::string again;
  types::json_options options;
  options.max_bytes = std::size_t{256} << 20;
  const result outcome = types::to_json(type, sample, options, again);
  if (!outcome && outcome.error().message().find("more values than") == std::string::npos) std::abort();
}

inline int fuzz_type(const type_description& fixed, std::string_view path, const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<types::decoder> type = [&fixed] {
    std::unique_ptr<types::decoder> made;
    if (!types::decoder::make(fixed, made)) std::abort();
    return made;
  }();
  if (size == 0) return 0;
  const auto rest = std::as_bytes(std::span(data, size)).subspan(1);
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (data[0] == 0) {
    fuzz_sample(*type, rest, path);
  } else if (data[0] == 1) {
    fuzz_json(*type, text);
  } else if (size > 3) {
    const std::size_t length = std::min<std::size_t>(data[1] + 256U * data[2], size - 3);
    type_description other = fixed;
    other.schema = text.substr(2, length);
    std::unique_ptr<types::decoder> made;
    if (types::decoder::make(other, made)) fuzz_sample(*made, rest.subspan(2 + length), path);
  }
  return 0;
}

}  // namespace orc::test
