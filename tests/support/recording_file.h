// Recordings for tests, made by the recording component's writer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "orc/recording/reader.h"
#include "orc/recording/writer.h"
#include "support/catch.h"
#include "support/files.h"

namespace orc::test {

// A moment that is easy to read: 2026-01-02T03:04:05Z.
inline constexpr std::int64_t recorded_at_ns = 1'767'323'045'000'000'000;
inline constexpr std::int64_t ms_ns = 1'000'000;

struct file_sample {
  std::string topic;
  std::int64_t received_ns = 0;
  std::int64_t stamp_ns = 0;
  std::uint64_t sequence = 0;
  std::string data;

  bool operator==(const file_sample&) const = default;
};

// Writes one file. Times are in ms from recorded_at_ns; stamps are 1 ms earlier; each topic has its own numbers.
class recording_file {
 public:
  explicit recording_file(const std::string& path, recording::mcap_options options = {}) {
    REQUIRE(recording::create_mcap(path, options, writer_));
  }
  static recording_file lcm(const std::string& path) {
    std::unique_ptr<recording::writer> writer;
    REQUIRE(recording::create_lcm_log(path, false, writer));
    return recording_file(std::move(writer));
  }

  recording_file& channel(const std::string& topic, const type_description& type = {}) {
    recording::channel added;
    added.topic = topic;
    added.type = type;
    recording::channel_id made = 0;
    REQUIRE(writer_->add_channel(added, made));
    channels_[topic] = {made, 0};
    return *this;
  }
  recording_file& sample(const std::string& topic, double at_ms, std::string_view data, std::uint64_t sequence = 0) {
    if (!channels_.contains(topic)) channel(topic);
    auto& [id, number] = channels_[topic];
    number = sequence != 0 ? sequence : number + 1;
    recording::sample written;
    written.channel = id;
    written.sequence = number;
    written.received_ns = recorded_at_ns + static_cast<std::int64_t>(at_ms * 1e6);
    written.stamp_ns = written.received_ns - ms_ns;
    written.data = std::as_bytes(std::span(data));
    REQUIRE(writer_->write(written));
    return *this;
  }
  recording::writer& writer() { return *writer_; }
  void close() { REQUIRE(writer_->close()); }

 private:
  explicit recording_file(std::unique_ptr<recording::writer> writer) : writer_(std::move(writer)) {}

  std::unique_ptr<recording::writer> writer_;
  std::map<std::string, std::pair<recording::channel_id, std::uint64_t>> channels_;
};

// All samples of a recording, in its order.
[[nodiscard]] inline std::vector<file_sample> samples_of(const std::string& path) {
  std::unique_ptr<recording::reader> reader;
  REQUIRE(recording::reader::open(path, reader));
  std::vector<file_sample> all;
  recording::sample each;
  while (reader->next(each)) {
    all.push_back({reader->channels()[each.channel].topic, each.received_ns, each.stamp_ns, each.sequence,
                   std::string(reinterpret_cast<const char*>(each.data.data()), each.data.size())});
  }
  return all;
}

}  // namespace orc::test
