// Asks the broker from a thread of its own, again and again, and gives the newest figures.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/threads/doorbell.h"
#include "tools/view/figures.h"

namespace orc::view {

// What is known now. The figures stay when the broker is silent, and `problem` then says why.
struct observation {
  std::shared_ptr<const system_figures> figures = {};  // null: no broker has answered yet
  std::string problem = {};                            // empty: the broker answered; may have control characters
  bool rates_known = false;                            // system_meter::knows_rates
};

// How long to wait after an answer that took `took`: long enough that all asking is a twentieth of the time, since the
// broker has other work, and between half a second and 5 s, since participants report once a second.
[[nodiscard]] std::chrono::milliseconds pause_after(std::chrono::nanoseconds took) noexcept;

// Any thread may call. The destructor ends a question to a broker that does not answer.
class broker_poller {
 public:
  // `broker` as directory_options::broker. `all`: also ORC's own topics (is_reserved). Throws std::system_error when
  // the system has no thread left.
  broker_poller(const std::string& broker, bool all);
  ~broker_poller();
  broker_poller(const broker_poller&) = delete;
  broker_poller& operator=(const broker_poller&) = delete;

  // Changes `all`, and asks the broker anew.
  void show_all(bool all);

  // Readable when there is a new observation: call newest() then.
  [[nodiscard]] int fd() noexcept { return news_.fd(); }
  [[nodiscard]] observation newest();

 private:
  void run(const std::string& broker);
  void tell(observation made);

  detail::doorbell news_;
  detail::doorbell stop_;
  detail::doorbell again_;
  std::atomic<bool> all_;
  std::mutex mutex_;
  observation newest_;
  std::thread thread_;
};

}  // namespace orc::view
