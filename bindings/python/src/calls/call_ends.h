// Tokens of calls that have ended, for the thread of Python that runs their callbacks.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

namespace orc::python {

// Any thread, with or without the GIL: no call waits for it.
class call_ends {
 public:
  using token = std::list<std::uint64_t>;  // of one, which is made before the call ends

  void push(token& ended) noexcept;
  // Waits at most so long. Without the GIL.
  [[nodiscard]] std::optional<std::uint64_t> next(std::chrono::milliseconds longest) noexcept;

 private:
  std::mutex mutex_;
  std::condition_variable pushed_;
  token all_;
};

// Its Python object. Threads of ORC own the queue, too, and must not own an object of Python.
struct call_ends_handle {
  std::shared_ptr<call_ends> queue = std::make_shared<call_ends>();
};

void bind_call_ends(nanobind::module_& m);

}  // namespace orc::python
