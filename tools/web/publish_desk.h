// Publishes what clients send, in a thread of its own: registering a topic waits for the broker.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/doorbell.h"
#include "orc/directory.h"
#include "orc/participant.h"
#include "orc/types/decoder.h"

namespace orc::web {

// What became of one sample.
struct publish_answer {
  std::string topic = {};
  std::string problem = {};  // empty: it was sent
};

// Any thread may call; no call waits.
class publish_desk {
 public:
  using client = std::uint64_t;

  // `news` is called from its thread when there is an answer. Throws std::system_error when the system has no thread
  // left.
  publish_desk(const std::string& broker, std::function<void()> news);
  ~publish_desk();
  publish_desk(const publish_desk&) = delete;
  publish_desk& operator=(const publish_desk&) = delete;

  [[nodiscard]] client enter();
  // Its topics end, unless other clients publish them too.
  void leave(client who) noexcept;

  // Sends a sample, and registers its topic the first time: as `like` (its type is taken), else as JSON without a type.
  // False: this client has too many samples that wait.
  [[nodiscard]] bool submit(client who, std::string topic, std::string like, std::string json);
  [[nodiscard]] std::vector<publish_answer> answers(client who);

 private:
  struct job {
    client who = 0;
    bool leaves = false;
    std::string topic = {};
    std::string like = {};
    std::string json = {};
  };
  struct published_topic {
    std::unique_ptr<types::decoder> type = {};  // null: JSON as it is
    std::string like = {};
    std::set<client> by = {};
  };

  void run();
  void end_topics_of(client who);
  [[nodiscard]] std::size_t topics_of(client who) const;
  [[nodiscard]] std::string publish(const job& what);
  [[nodiscard]] std::string register_topic(const job& what, published_topic& made);

  const std::string broker_;
  const std::function<void()> news_;
  detail::doorbell stop_bell_;

  // The thread's.
  std::optional<participant> participant_;
  std::map<std::string, published_topic> topics_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<job> jobs_;
  std::map<client, std::size_t> waiting_;  // jobs and answers of each client
  std::map<client, std::vector<publish_answer>> answers_;
  client last_client_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orc::web
