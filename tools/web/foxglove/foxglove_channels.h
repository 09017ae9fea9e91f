// The topics that Foxglove clients can subscribe to, as channels with ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/web/feed/topic_feed.h"
#include "tools/web/foxglove/foxglove_type.h"
#include "tools/web/time_budget.h"

namespace orc::web {

// The newest sample in CDR, so that clients who read the same topic share it. Of the network's thread.
struct transcoded_sample {
  std::weak_ptr<const fed_sample> of = {};
  std::weak_ptr<const std::vector<std::byte>> bytes = {};
  time_budget time = time_budget();  // for all samples of the channel
};

struct foxglove_channel {
  std::uint32_t id = 0;
  std::string topic = {};
  std::shared_ptr<const foxglove_type> type = {};
  std::shared_ptr<transcoded_sample> transcoded = std::make_shared<transcoded_sample>();
};

// In the order of their ids.
using foxglove_channels = std::vector<std::shared_ptr<const foxglove_channel>>;

// Null: there is none with this id.
[[nodiscard]] std::shared_ptr<const foxglove_channel> find_channel(const foxglove_channels& channels, std::uint32_t id);

// What a source of channels knows now.
struct channel_list {
  std::uint64_t number = 0;                                       // another one for another list
  std::shared_ptr<const foxglove_channels> channels = {};         // null: not known yet
  std::shared_ptr<const std::vector<std::string>> problems = {};  // topics that have no channel, and why
};

// Where channels come from: the running system, or a recording. Of the network's thread. No call waits.
class channel_source {
 public:
  channel_source() = default;
  channel_source(const channel_source&) = delete;
  channel_source& operator=(const channel_source&) = delete;
  virtual ~channel_source() = default;

  // A client is there, or has left. While none is there, no broker is asked.
  virtual void open() = 0;
  virtual void close() noexcept = 0;
  [[nodiscard]] virtual channel_list newest() = 0;
};

// Gives ids to topics. No id comes twice. A thread at a time.
class channel_registry {
 public:
  static constexpr std::size_t max_channels = 20'000;

  // The topic has this type from now on: a channel of the same type stays, one of another type ends. False: there are
  // too many channels.
  bool set(const std::string& topic, const std::shared_ptr<const foxglove_type>& type);
  void remove(const std::string& topic);
  void clear();

  // Whether the list has changed since the last take().
  [[nodiscard]] bool changed() const noexcept { return changed_; }
  [[nodiscard]] std::shared_ptr<const foxglove_channels> take();

 private:
  std::map<std::string, std::shared_ptr<const foxglove_channel>> by_topic_;
  std::map<std::uint32_t, std::shared_ptr<const foxglove_channel>> by_id_;
  std::uint32_t last_id_ = 0;
  bool changed_ = false;
};

}  // namespace orc::web
