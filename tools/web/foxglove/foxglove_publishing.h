// The topics that one Foxglove client publishes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tools/web/foxglove/foxglove_message.h"
#include "tools/web/publish/publish_queue.h"

namespace orc::web {

// Of the network's thread. No call waits.
class foxglove_publishing {
 public:
  explicit foxglove_publishing(publish_queue& queue) : queue_(queue), who_(queue.enter()) {}
  ~foxglove_publishing() { queue_.leave(who_); }
  foxglove_publishing(const foxglove_publishing&) = delete;
  foxglove_publishing& operator=(const foxglove_publishing&) = delete;

  // Each returns what is wrong; empty: the order is on its way, and problems() has what becomes of it.
  [[nodiscard]] std::string advertise(const foxglove_client_channel& channel);
  [[nodiscard]] std::string unadvertise(std::uint32_t id);
  [[nodiscard]] std::string send(std::uint32_t id, std::span<const std::byte> sample);

  [[nodiscard]] std::vector<std::string> problems();

 private:
  class client_topic;

  publish_queue& queue_;
  const publish_queue::client who_;
  std::map<std::uint32_t, std::shared_ptr<client_topic>> channels_;
};

}  // namespace orc::web
