// Recordings for tests: made, read, and changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "liborc/ext/recording/src/files/input_file.h"
#include "liborc/ext/recording/src/open_file.h"
#include "orc/recording/reader.h"
#include "orc/recording/writer.h"
#include "support/catch.h"
#include "support/files.h"

namespace orc::test {

inline constexpr std::int64_t recording_start = 1'700'000'000'000'000'000;

// A sample that owns its data.
struct owned_sample {
  recording::channel_id channel = 0;
  std::uint64_t sequence = 0;
  std::int64_t received_ns = 0;
  std::int64_t stamp_ns = 0;
  std::vector<std::byte> data = {};

  bool operator==(const owned_sample&) const = default;
  operator recording::sample() const {  // NOLINT(google-explicit-constructor): what the writer takes
    return {channel, sequence, received_ns, stamp_ns, data};
  }
};

inline owned_sample owned(const recording::sample& s) {
  return {s.channel, s.sequence, s.received_ns, s.stamp_ns, {s.data.begin(), s.data.end()}};
}

// The n-th sample of a test, a millisecond after the one before: its bytes tell its number.
inline owned_sample numbered_sample(recording::channel_id which, std::uint64_t n, std::size_t size) {
  owned_sample made{which, n, recording_start + static_cast<std::int64_t>(n) * 1'000'000, 0, {}};
  made.stamp_ns = made.received_ns - 1000;
  made.data.resize(size);
  for (std::size_t i = 0; i < size; ++i) made.data[i] = static_cast<std::byte>(n * 31 + i * 7 + i / 256);
  return made;
}

inline recording::channel json_channel(std::string topic, std::string type = "robot.State") {
  return {
      std::move(topic), {std::move(type), "jsonschema", "json", R"({"type":"object"})"}, {{"orc.publisher", "arm"}}};
}

inline void require_ok(const result& done) {
  INFO(done.error().message());
  REQUIRE(static_cast<bool>(done));
}

inline std::vector<std::byte> bytes_of_file(const std::string& path) {
  const std::string text = file_bytes(path);
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline std::unique_ptr<recording::reader> open_recording(const std::string& path) {
  std::unique_ptr<recording::reader> made;
  require_ok(recording::reader::open(path, made));
  return made;
}

// Null: it cannot be opened.
inline std::unique_ptr<recording::reader> open_bytes(std::vector<std::byte> bytes) {
  std::unique_ptr<recording::reader> made;
  static_cast<void>(
      recording::detail::open_file(recording::detail::input_file::of_bytes("test", std::move(bytes)), made));
  return made;
}

// All samples from here on; what is broken is counted.
inline std::vector<owned_sample> rest_of(recording::reader& from, std::size_t* broken = nullptr) {
  std::vector<owned_sample> all;
  for (recording::sample s;;) {
    const auto got = from.next(s);
    if (got.code() == errc::nothing_new) return all;
    if (got) {
      all.push_back(owned(s));
    } else {
      INFO(got.error().message());
      REQUIRE(broken != nullptr);
      REQUIRE(got.code() == errc::bad_argument);
      ++*broken;
    }
  }
}

inline std::vector<std::string> problems_of(recording::reader& from) {
  std::vector<std::string> problems;
  require_ok(from.check(problems));
  return problems;
}

}  // namespace orc::test
