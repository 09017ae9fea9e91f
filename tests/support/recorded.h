// What a recording holds, read back with the library's own reader.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orc/recording/reader.h"
#include "support/catch.h"

namespace orc::test {

struct recorded_sample {
  std::string topic;
  std::string data;
  std::uint64_t sequence = 0;
  std::int64_t received_ns = 0;
  std::int64_t stamp_ns = 0;
  recording::channel_id channel = 0;
};

struct recorded {
  recording::summary summary;
  std::vector<recording::channel> channels;
  std::vector<recording::named_metadata> metadata;
  std::vector<recorded_sample> samples;
  std::vector<std::string> problems;  // what check() finds

  [[nodiscard]] std::vector<recorded_sample> of(const std::string& topic) const {
    std::vector<recorded_sample> found;
    for (const auto& each : samples)
      if (each.topic == topic) found.push_back(each);
    return found;
  }
  // The values of an entry in all metadata of a name, such as the counts of "orc.drops".
  [[nodiscard]] std::vector<std::string> entries(const std::string& name, const std::string& key) const {
    std::vector<std::string> found;
    for (const auto& each : metadata)
      if (each.name == name) found.push_back(each.entries.at(key));
    return found;
  }
};

// How many samples can be read now; the file may be open.
inline std::uint64_t samples_in(const std::string& path) {
  std::unique_ptr<recording::reader> file;
  return recording::reader::open(path, file) ? file->summary().samples : 0;
}

inline recorded read_recording(const std::string& path) {
  recorded found;
  std::unique_ptr<recording::reader> file;
  const result opened = recording::reader::open(path, file);
  INFO(path << ": " << opened.error().message());
  REQUIRE(opened);
  recording::sample each;
  result next;
  while ((next = file->next(each))) {
    REQUIRE(each.channel < file->channels().size());
    const auto* const content = reinterpret_cast<const char*>(each.data.data());
    found.samples.push_back({file->channels()[each.channel].topic, std::string(content, each.data.size()),
                             each.sequence, each.received_ns, each.stamp_ns, each.channel});
  }
  INFO(next.error().message());
  REQUIRE(next.code() == errc::nothing_new);
  found.summary = file->summary();
  found.channels = file->channels();
  found.metadata = file->metadata();
  if (found.summary.closed) {
    const result checked = file->check(found.problems);
    INFO(checked.error().message());
    REQUIRE(checked);
  }
  return found;
}

}  // namespace orc::test
