// Asks running programs for their services or parameters from a thread of its own, and gives the newest answers.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/threads/doorbell.h"
#include "orc/directory.h"
#include "tools/orc/top/program_figures.h"

namespace orc::cli {

// About once a second while something is watched. It is a participant only then. No call waits for an answer. Any
// thread may call.
class program_poller {
 public:
  enum class subject : std::uint8_t { none, services, parameters };

  // `broker` as participant_options::broker.
  explicit program_poller(std::string broker);
  // Ends the questions, which may take a second while a program or the broker is silent.
  ~program_poller();
  program_poller(const program_poller&) = delete;
  program_poller& operator=(const program_poller&) = delete;

  // `all`: also the services of ORC itself.
  void watch(subject what, bool all);

  // Readable when there is something new: call newest() then.
  [[nodiscard]] int fd() noexcept { return news_.fd(); }
  // Null: no answer about what is watched has come yet. When the broker is silent, the last answers stay.
  [[nodiscard]] std::shared_ptr<const program_figures> newest();

 private:
  using clock = std::chrono::steady_clock;
  struct question {
    subject what = subject::none;
    bool all = false;

    bool operator==(const question&) const = default;
  };

  void run();
  void follow(const question& asked);
  void tell(const question& asked, program_figures found);
  // Waits; false: something else is asked now, or the program ends.
  [[nodiscard]] bool pause(const question& asked, clock::time_point until);
  [[nodiscard]] bool is_over(const question& asked);
  [[nodiscard]] question wanted();

  const std::string broker_;
  detail::doorbell news_;
  detail::doorbell wake_;
  detail::doorbell stop_;  // ends questions to a silent broker
  std::atomic<bool> ends_{false};
  std::mutex mutex_;
  question wanted_;  // guarded by mutex_
  std::shared_ptr<const program_figures> newest_;
  std::thread thread_;
};

}  // namespace orc::cli
