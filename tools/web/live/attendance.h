// Whether clients need what a thread does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>

#include "base/threads/doorbell.h"
#include "tools/web/session/client_session.h"

namespace orc::web {

// Any thread may call enter(), leave() and stop(); the thread itself the others. No call waits but await().
class attendance {
 public:
  attendance() { (void)stop_bell_.fd(); }

  // A client is there, or has left.
  void enter();
  void leave() noexcept;
  void stop() noexcept;

  // Waits until a client is there. False: stop() was called.
  [[nodiscard]] bool await();
  // False: stop() was called, or no client has been there for 5 s.
  [[nodiscard]] bool goes_on(clock::time_point now);
  // Readable after stop().
  [[nodiscard]] int stop_fd() noexcept { return stop_bell_.fd(); }

 private:
  detail::doorbell stop_bell_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t clients_ = 0;
  bool stop_ = false;
  clock::time_point idle_since_ = {};  // epoch: a client is there
};

}  // namespace orc::web
