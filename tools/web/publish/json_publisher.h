// Publishes what the page sends: JSON, which becomes samples of a topic's type.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/web/publish/publish_queue.h"

namespace orc::web {

// A sample of the page.
struct json_sample {
  std::string topic = {};
  std::string like = {};  // a topic whose type it takes; empty: it is JSON
  std::string value = {};
  bool keep = false;  // for subscribers that come later; the first sample of a topic decides
};

// Any thread may call; no call waits.
class json_publisher {
 public:
  using client = publish_queue::client;

  // The queue outlives it.
  json_publisher(publish_queue& queue, std::string broker);
  ~json_publisher();
  json_publisher(const json_publisher&) = delete;
  json_publisher& operator=(const json_publisher&) = delete;

  [[nodiscard]] client enter() { return queue_.enter(); }
  // Its topics end, unless other clients publish them too.
  void leave(client who) noexcept { queue_.leave(who); }

  // Sends a sample, and registers its topic the first time, if the sample can be sent. False: this client has too many
  // samples that wait.
  [[nodiscard]] bool submit(client who, json_sample sample);
  // The topic ends, unless other clients publish it too.
  void end(client who, std::string topic) { queue_.end(who, std::move(topic)); }
  [[nodiscard]] std::vector<publish_answer> answers(client who) { return queue_.answers(who); }

 private:
  class json_topics;

  publish_queue& queue_;
  const std::shared_ptr<json_topics> topics_;  // of the queue's thread
};

}  // namespace orc::web
