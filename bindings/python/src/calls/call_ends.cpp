#include "calls/call_ends.h"

#include "gil.h"

namespace orc::python {

void call_ends::push(token& ended) noexcept {
  const std::lock_guard lock(mutex_);
  all_.splice(all_.end(), ended);
  pushed_.notify_one();
}

std::optional<std::uint64_t> call_ends::next(std::chrono::milliseconds longest) noexcept {
  std::unique_lock lock(mutex_);
  pushed_.wait_for(lock, longest, [this] { return !all_.empty(); });
  if (all_.empty()) return std::nullopt;
  const std::uint64_t first = all_.front();
  all_.pop_front();
  return first;
}

void bind_call_ends(nb::module_& m) {
  nb::class_<call_ends_handle>(m, "CallEnds", nb::is_final(), "Tokens of calls that have ended.")
      .def(nb::init<>())
      .def(
          "push",
          [](call_ends_handle& self, std::uint64_t token) {
            call_ends::token one{token};
            self.queue->push(one);
          },
          nb::arg("token"))
      .def(
          "next",
          [](call_ends_handle& self, int timeout_ms) -> nb::object {
            const auto found =
                without_gil([&]() noexcept { return self.queue->next(std::chrono::milliseconds(timeout_ms)); });
            return found ? nb::int_(*found) : nb::borrow(nb::none());
          },
          nb::arg("timeout_ms"), "Returns the next token, or None. Waits for it at most timeout_ms.");
}

}  // namespace orc::python
