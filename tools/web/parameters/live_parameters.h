// The parameters of a running system: which there are, their values, and sets of clients.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/threads/doorbell.h"
#include "orc/parameters.h"
#include "tools/web/live/attendance.h"
#include "tools/web/parameters/parameter_follower.h"

namespace orc::web {

// What a client wants to set.
struct parameter_order {
  std::uint64_t ticket = 0;  // the client's own
  std::string name = {};
  std::string value = {};  // JSON
};

struct parameter_answer {
  std::uint64_t ticket = 0;
  std::string name = {};
  std::string problem = {};                   // empty: it is set
  std::optional<parameter_value> value = {};  // in force, when it is set
};

// A thread follows the parameters while clients are there, and some seconds longer. Any thread may call; no call waits.
class live_parameters {
 public:
  using client = std::uint64_t;
  static constexpr std::size_t max_parameters = 1024;  // that are shown, the first by their names
  static constexpr std::size_t max_waiting = 64;       // sets and answers of one client

  // `all`: also ORC's own. `news` is called from other threads when there is something new. Throws
  // std::system_error when the system has no thread left.
  live_parameters(std::string broker, bool all, std::function<void()> news);
  ~live_parameters();
  live_parameters(const live_parameters&) = delete;
  live_parameters& operator=(const live_parameters&) = delete;

  [[nodiscard]] client enter();
  // Sets that the client has asked for are carried out all the same, but those that wait for the thread.
  void leave(client who) noexcept;

  // Null: not known yet. Another pointer for another list.
  [[nodiscard]] std::shared_ptr<const shown_parameters> newest();
  // False: the client has too many sets that wait.
  [[nodiscard]] bool set(client who, parameter_order order);
  [[nodiscard]] std::vector<parameter_answer> answers(client who);

 private:
  struct client_state {
    std::size_t waiting = 0;
    std::vector<parameter_answer> answers = {};
  };
  // Of the callbacks, which may come after this object has ended.
  struct answer_box {
    std::mutex mutex;
    std::map<client, client_state> clients;
    std::function<void()> news;

    void put(client who, parameter_answer answer);
  };

  void run();
  void follow();
  void carry_out(participant& by, directory& from);

  const std::string broker_;
  const bool all_;
  const std::function<void()> news_;
  const std::shared_ptr<answer_box> box_ = std::make_shared<answer_box>();
  attendance attendance_;
  detail::doorbell order_bell_;
  std::uint64_t last_change_ = 0;  // the thread's

  std::mutex mutex_;
  std::deque<std::pair<client, parameter_order>> orders_;
  client last_client_ = 0;
  std::shared_ptr<const shown_parameters> newest_;
  std::thread thread_;
};

}  // namespace orc::web
