// Feeds from the running system: one subscription per topic that a client wants, all received in one thread.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "base/files/unique_fd.h"
#include "base/threads/doorbell.h"
#include "orc/participant.h"
#include "tools/web/feed/feed_source.h"
#include "tools/web/live/followed_topic.h"
#include "tools/web/live/type_watch.h"

namespace orc::web {

// Without plots a topic is received newest-wins, as often as clients look at it; with plots every sample is received.
class live_source final : public feed_source {
 public:
  // `news` is called from the receiving thread. Throws std::system_error when the system has no thread or descriptor
  // left.
  live_source(const std::string& broker, std::function<void()> news);
  ~live_source() override;

  [[nodiscard]] std::shared_ptr<topic_feed> open(const std::string& topic, interest what) override;
  void close(const std::string& topic, interest what) noexcept override;

 private:
  struct wanted_topic {
    std::shared_ptr<topic_feed> feed;
    std::array<std::size_t, interests> uses = {};  // by interest
  };

  void run();
  [[nodiscard]] bool stopping();
  void obey();
  void visit_due(clock::time_point now);
  void visit_all(clock::time_point now);
  void visit(followed_topic& topic, clock::time_point now);
  [[nodiscard]] bool watch(followed_topic& topic);
  void forget(followed_topic& topic);
  [[nodiscard]] int wait_ms(clock::time_point now) const;
  void wait(clock::time_point now);

  const std::function<void()> news_;
  const feed_limits limits_;
  participant participant_;
  type_watch types_;
  detail::doorbell bell_;
  detail::unique_fd epoll_;

  // The thread's.
  std::map<std::string, std::unique_ptr<followed_topic>> followed_;
  std::map<std::uint64_t, followed_topic*> by_number_;
  std::set<std::pair<clock::time_point, followed_topic*>> due_;
  std::uint64_t last_number_ = 0;
  clock::time_point look_at_all_ = {};

  std::mutex mutex_;
  std::map<std::string, wanted_topic> wanted_;
  std::set<std::string> changed_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orc::web
