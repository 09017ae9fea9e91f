// Carries out what clients publish, in a thread of its own: registering a topic waits for the broker.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/doorbell.h"
#include "tools/web/memory_budget.h"
#include "tools/web/publish/free_topics.h"

namespace orc::web {

// What became of one order.
struct publish_answer {
  std::string topic = {};
  std::string problem = {};  // empty: it was carried out
};

// Any thread may call; no call waits.
class publish_queue {
 public:
  using client = free_topics::client;
  // Runs in the queue's thread. Returns what went wrong; empty: nothing.
  using order = std::function<std::string(free_topics& topics)>;
  static constexpr std::size_t max_waiting = 128;                         // orders and answers of one client
  static constexpr std::size_t max_waiting_bytes = std::size_t{4} << 20;  // the same
  static constexpr std::size_t max_bytes = std::size_t{64} << 20;         // of all clients

  // `news` is called from its thread when there is an answer. Throws std::system_error when the system has no thread
  // left.
  publish_queue(const std::string& broker, std::function<void()> news);
  ~publish_queue();
  publish_queue(const publish_queue&) = delete;
  publish_queue& operator=(const publish_queue&) = delete;

  [[nodiscard]] client enter();
  // Its topics end, unless other clients publish them too.
  void leave(client who) noexcept;

  // `bytes`: what the order keeps in memory. False: this client, or all together, have too much that waits.
  [[nodiscard]] bool submit(client who, std::string topic, std::size_t bytes, order what);
  [[nodiscard]] std::vector<publish_answer> answers(client who);
  // Ends a topic that an order of this client has opened, after the orders before.
  void end(client who, std::string topic);

  // Readable when the queue ends: for orders that wait.
  [[nodiscard]] int stop_fd() noexcept { return stop_bell_.fd(); }

 private:
  struct waiting_order {
    client who = 0;
    std::string topic = {};
    std::size_t bytes = 0;
    std::shared_ptr<const void> share = {};
    order what = {};  // empty: the topic ends; without a topic too: the client leaves
  };
  struct client_state {
    std::size_t waiting = 0;
    std::size_t bytes = 0;
    std::vector<publish_answer> answers = {};
  };

  void run();
  void carry_out(waiting_order&& next);

  const std::function<void()> news_;
  const std::shared_ptr<memory_budget> budget_ = std::make_shared<memory_budget>(max_bytes);
  detail::doorbell stop_bell_;
  free_topics topics_;  // the thread's

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<waiting_order> orders_;
  std::map<client, client_state> clients_;
  client last_client_ = 0;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace orc::web
