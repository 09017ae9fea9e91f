// Publishes what the page sends: JSON, which becomes samples of a topic's type.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tools/web/publish_queue.h"

namespace orc::web {

// Any thread may call; no call waits.
class publish_desk {
 public:
  using client = publish_queue::client;

  // The queue outlives it.
  publish_desk(publish_queue& queue, std::string broker);
  ~publish_desk();
  publish_desk(const publish_desk&) = delete;
  publish_desk& operator=(const publish_desk&) = delete;

  [[nodiscard]] client enter() { return queue_.enter(); }
  // Its topics end, unless other clients publish them too.
  void leave(client who) noexcept { queue_.leave(who); }

  // Sends a sample, and registers its topic the first time: as `like` (its type is taken), else as JSON without a type.
  // False: this client has too many samples that wait.
  [[nodiscard]] bool submit(client who, std::string topic, std::string like, std::string json);
  [[nodiscard]] std::vector<publish_answer> answers(client who) { return queue_.answers(who); }

 private:
  class json_topics;

  publish_queue& queue_;
  const std::shared_ptr<json_topics> topics_;  // of the queue's thread
};

}  // namespace orc::web
