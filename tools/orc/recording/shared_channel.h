// Channels of shared topics: each publication has its own.
#pragma once

#include <string>

#include "orc/recording/sample.h"

namespace orc::cli {

// An entry of a channel's metadata. The file's word: any text may stand there.
[[nodiscard]] inline std::string metadata_of(const recording::channel& channel, const std::string& name) {
  const auto found = channel.metadata.find(name);
  return found == channel.metadata.end() ? std::string() : found->second;
}

// The publication of a channel of a shared topic; empty: the topic is not shared.
[[nodiscard]] inline std::string shared_publication_of(const recording::channel& channel) {
  return metadata_of(channel, "orc.shared") == "true" ? metadata_of(channel, "orc.publication") : std::string();
}

// Equal for channels whose later samples replace each other's: those of one topic, or of one publication of a shared
// topic.
[[nodiscard]] inline std::string line_of(const std::string& topic, const std::string& shared_publication) {
  return shared_publication.empty() ? topic : topic + '\0' + shared_publication;
}
[[nodiscard]] inline std::string line_of(const recording::channel& channel) {
  return line_of(channel.topic, shared_publication_of(channel));
}

}  // namespace orc::cli
