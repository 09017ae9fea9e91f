// Short names for what the tests of the decoder do again and again.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/types/decoder.h"
#include "orc/types/json.h"
#include "support/catch.h"

namespace orc::test {

using byte_list = std::vector<std::byte>;

inline std::unique_ptr<types::decoder> decoder_of(const type_description& type) {
  std::unique_ptr<types::decoder> made;
  const result outcome = types::decoder::make(type, made);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  return made;
}

inline std::string why_no_decoder(const type_description& type) {
  std::unique_ptr<types::decoder> made;
  const result outcome = types::decoder::make(type, made);
  CHECK(outcome.code() == errc::bad_argument);
  CHECK_FALSE(made);
  return outcome.error().message();
}

inline std::string json_of(const types::decoder& type, std::span<const std::byte> sample,
                           const types::json_options& options = {}) {
  std::string text;
  const result outcome = types::to_json(type, sample, options, text);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  return text;
}

// The JSON of the value at a path.
inline std::string json_at(const types::decoder& type, std::span<const std::byte> sample, std::string_view path) {
  types::field_path compiled;
  const result found = type.path(path, compiled);
  INFO(found.error().message());
  REQUIRE(found);
  std::string text;
  const result outcome = types::to_json(type, sample, compiled, {}, text);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  return text;
}

inline std::string why_not_decoded(const types::decoder& type, std::span<const std::byte> sample) {
  std::string text;
  const result outcome = types::to_json(type, sample, {}, text);
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

inline byte_list sample_of(const types::decoder& type, std::string_view json) {
  byte_list sample;
  const result outcome = types::from_json(type, json, sample);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  return sample;
}

inline std::string why_no_sample(const types::decoder& type, std::string_view json) {
  byte_list sample{std::byte{42}};
  const result outcome = types::from_json(type, json, sample);
  CHECK(outcome.code() == errc::bad_argument);
  CHECK(sample == byte_list{std::byte{42}});
  return outcome.error().message();
}

inline std::string why_no_path(const types::decoder& type, std::string_view path) {
  types::field_path compiled;
  const result outcome = type.path(path, compiled);
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

// The single number at a path.
inline double number_at(const types::decoder& type, std::span<const std::byte> sample, std::string_view path) {
  types::field_path compiled;
  REQUIRE(type.path(path, compiled));
  types::value found;
  const result outcome = type.find(sample, compiled, found);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  REQUIRE(found.number());
  return *found.number();
}

// Every cut of the sample is decoded, or is an error; never more.
inline void check_cuts(const types::decoder& type, const byte_list& sample) {
  std::string text;
  for (std::size_t size = 0; size < sample.size(); ++size) {
    const byte_list cut(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(size));
    static_cast<void>(types::to_json(type, cut, {}, text));
  }
}

}  // namespace orc::test
