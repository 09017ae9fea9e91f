// The services of a running system, and calls of clients.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/doorbell.h"
#include "orc/calls.h"
#include "tools/web/live/attendance.h"
#include "tools/web/memory_budget.h"
#include "tools/web/services/open_call.h"
#include "tools/web/services/service_follower.h"

namespace orc::web {

// A thread follows the services while clients are there, and some seconds longer. Any thread may call; no call waits.
class live_services {
 public:
  using client = std::uint64_t;
  static constexpr std::size_t max_open_calls = 8;                 // of one client, with answers that it did not take
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;  // requests that wait and answers, of all clients

  // `all`: also ORC's own services. `news` is called from other threads when there is something new. Throws
  // std::system_error when the system has no thread left.
  live_services(std::string broker, bool all, std::function<void()> news);
  ~live_services();
  live_services(const live_services&) = delete;
  live_services& operator=(const live_services&) = delete;

  [[nodiscard]] client enter();
  // Cancels the client's calls.
  void leave(client who) noexcept;

  // Null: not known yet. Another pointer for another list.
  [[nodiscard]] std::shared_ptr<const shown_services> newest();
  // Returns why it cannot be called now; empty: the answer comes.
  [[nodiscard]] std::string call(client who, call_order order);
  // The call ends as cancelled, unless it has ended.
  void cancel(client who, std::uint64_t ticket);
  // Feedback comes before the answer; of two that were not taken, the newer one.
  [[nodiscard]] std::vector<call_answer> answers(client who);
  // The client has sent an answer on: another call can take its place.
  void done(client who);

 private:
  struct client_state {
    std::size_t open = 0;
    std::deque<call_order> orders = {};
    std::vector<std::uint64_t> cancelled = {};
    std::vector<call_answer> answers = {};
  };

  void run();
  void follow();
  void start_some(participant& by);
  [[nodiscard]] bool next_order(client& who, call_order& order);
  void end_some();
  [[nodiscard]] std::vector<std::pair<client, std::uint64_t>> take_cancelled();
  void put(client who, call_answer answer);
  void wait(const service_follower& services);

  const std::string broker_;
  const bool all_;
  const std::function<void()> news_;
  const std::shared_ptr<memory_budget> budget_ = std::make_shared<memory_budget>(max_bytes);
  attendance attendance_;
  detail::doorbell order_bell_;

  // The thread's.
  std::map<std::pair<client, std::uint64_t>, open_call> calls_;  // by client and ticket
  std::uint32_t last_id_ = 0;                                    // of a service
  bool had_feedback_ = false;                                    // in this turn

  std::mutex mutex_;
  std::map<client, client_state> clients_;
  client last_client_ = 0;
  client last_served_ = 0;
  std::shared_ptr<const shown_services> newest_;
  std::thread thread_;
};

}  // namespace orc::web
