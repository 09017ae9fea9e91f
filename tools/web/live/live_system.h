// The figures of the running system.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "tools/view/broker_poller.h"
#include "tools/web/feed/system_source.h"

namespace orc::web {

// A thread starts and ends the poller: ending it waits for its question to the broker. The poller stays a few seconds
// after its last client, because a page that is loaded again comes back.
class live_system final : public system_source {
 public:
  // `all`: also ORC's own topics. Throws std::system_error when the system has no thread left.
  live_system(std::string broker, bool all);
  ~live_system() override;

  void open() override;
  void close() noexcept override;
  std::uint64_t refresh() override;
  [[nodiscard]] std::shared_ptr<const std::string> text() const override;
  [[nodiscard]] std::shared_ptr<const view::system_figures> figures() const override { return seen_.figures; }

 private:
  void run();
  void begin_poller(std::unique_lock<std::mutex>& lock);
  void end_poller(std::unique_lock<std::mutex>& lock);

  const std::string broker_;
  const bool all_;
  view::observation seen_;
  std::int64_t seen_at_ns_ = 0;                      // 0: nothing was seen yet
  mutable std::shared_ptr<const std::string> text_;  // made when it is wanted
  std::uint64_t number_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t users_ = 0;
  std::unique_ptr<view::broker_poller> poller_;
  std::string problem_;  // why there is no poller; clients do not know it yet
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orc::web
