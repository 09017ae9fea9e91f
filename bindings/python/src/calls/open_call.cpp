#include "calls/open_call.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <new>

#include "buffers.h"
#include "errors.h"
#include "gil.h"
#include "interpreter.h"
#include "log_sink.h"
#include "options.h"
#include "orc/calls.h"

namespace orc::python {

namespace {

using std::chrono::steady_clock;

constexpr double longest_s = 1e9;
constexpr std::chrono::milliseconds between_signals{slice_ms};

[[nodiscard]] steady_clock::duration to_duration(double seconds) noexcept {
  const double bounded = seconds > 0 ? std::min(seconds, longest_s) : 0;  // NaN: 0
  return std::chrono::duration_cast<steady_clock::duration>(std::chrono::duration<double>(bounded));
}

// A time of time.monotonic(), whose clock this is.
[[nodiscard]] steady_clock::time_point to_time(double monotonic) noexcept {
  return steady_clock::time_point(to_duration(monotonic));
}

[[nodiscard]] nb::object to_bytes(std::span<const std::byte> bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

[[nodiscard]] PyObject* to_text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

[[nodiscard]] nb::object to_error(const call_error& why) {
  PyObject* const arguments = Py_BuildValue("(iNiN)", static_cast<int>(why.code), to_text(why.text),
                                            static_cast<int>(why.number), to_text(why.exception_type));
  nb::object made = nb::steal(call_python("orc._calls.errors", "error_of", arguments));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace

open_call::~open_call() {
  if (ended_) {
    (void)call_.take();  // needs no lock
  } else if (log_sink::in_a_call()) {
    // Garbage collection ran in a log callback, perhaps while this thread has the lock of the connection.
    interpreter::run_beside([ended = std::make_shared<detail::raw_call>(std::move(call_))] {});
  } else {
    without_gil([&]() noexcept { const detail::raw_call ended(std::move(call_)); });
  }
}

bool open_call::wait(double seconds) {
  if (ended_) return true;
  const auto until = steady_clock::now() + to_duration(seconds);
  for (;;) {
    const auto slice = std::min(until, steady_clock::now() + between_signals);
    const bool ended = without_gil([&]() noexcept {
      try {
        return call_.wait(slice);
      } catch (const std::bad_alloc&) {
        return false;
      }
    });
    if (ended) return ended_ = true;
    raise_signals();
    if (slice == until) return false;
  }
}

nb::object open_call::result() {
  while (!wait(longest_s)) {
  }
  const call_error& why = call_.error();
  return why.code == call_errc::ok ? to_bytes(call_.reply()) : to_error(why);
}

nb::object open_call::take_feedback() {
  const auto newest = without_gil([&]() noexcept -> std::optional<detail::call_bytes> {
    try {
      return call_.take_feedback();
    } catch (const std::bad_alloc&) {
      return std::nullopt;
    }
  });
  return newest ? to_bytes(newest->bytes()) : nb::borrow(nb::none());
}

void open_call::cancel() noexcept {
  without_gil([&]() noexcept { call_.cancel(); });
}

int open_call::descriptor() {
  const int found = without_gil([&]() noexcept { return call_.fd(); });
  if (found < 0) fail(wait(0) && call_.error().code == call_errc::forked ? errc::forked : errc::no_descriptors);
  return found;
}

void open_call::notify(const call_ends_handle& ends, std::uint64_t token) {
  const auto ended = std::make_shared<call_ends::token>(1, token);
  const bool is_told = without_gil([&]() noexcept {
    try {
      call_.notify([ended, to = ends.queue] { to->push(*ended); });
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  });
  if (!is_told) fail(errc::no_memory);
}

open_call* start_call(session& by, std::string_view service, const detail::hashed_type& request,
                      const detail::hashed_type& reply, nb::handle payload, double ends) {
  const readable_bytes bytes(payload);
  const auto left =
      std::max<std::chrono::nanoseconds>(to_time(ends) - steady_clock::now(), std::chrono::nanoseconds(1));
  auto made = by.with_participant([&](orc::participant& on) {
    try {
      return detail::start_call(on, service, request, reply, left, bytes.size(), [&](std::span<std::byte> to) {
        if (!to.empty()) std::memcpy(to.data(), bytes.data(), to.size());
        return true;
      });
    } catch (const std::bad_alloc&) {
      return detail::raw_call();
    }
  });
  if (!made) fail(errc::no_memory);
  return new open_call(std::move(made));
}

open_call* failed_call(int code, std::string text) {
  return new open_call(detail::failed_call({.code = static_cast<call_errc>(code), .text = std::move(text)}));
}

void wait_for_service(session& by, std::string_view service, double ends) {
  const auto until = to_time(ends);
  for (;;) {
    const std::chrono::nanoseconds left = until - steady_clock::now();
    const auto slice = std::clamp<std::chrono::nanoseconds>(left, std::chrono::nanoseconds(0), between_signals);
    const result outcome = by.with_participant([&](orc::participant& on) -> result {
      try {
        return on.wait_for_service(service, slice);
      } catch (const std::bad_alloc&) {
        return errc::no_memory;
      } catch (const std::exception&) {
        return errc::system_error;  // no thread
      }
    });
    if (outcome) return;
    if (outcome.code() != errc::timed_out || left <= between_signals) check(outcome);
    raise_signals();
  }
}

void bind_open_call(nb::module_& m) {
  nb::class_<detail::hashed_type>(m, "CallType", nb::is_final(), "A type of requests or replies.")
      .def(
          "__init__",
          [](detail::hashed_type* self, nb::handle type) {
            type_description read = to_type(type);
            const std::uint64_t hash = hash_of(read);
            new (self) detail::hashed_type{std::move(read), hash};
          },
          nb::arg("type"));
  nb::class_<open_call>(m, "Call", nb::is_final(), "A call of a service. Dropping it cancels the call.")
      .def("wait", &open_call::wait, nb::arg("seconds"),
           "Waits until the call has ended, at most so long. Returns whether it has.")
      .def("result", &open_call::result, "Waits for the end. Returns the reply as bytes, or an orc.CallError.")
      .def("take_feedback", &open_call::take_feedback, "Returns the newest feedback as bytes, or None.")
      .def("cancel", &open_call::cancel)
      .def("fileno", &open_call::descriptor, "Raises NoDescriptors.")
      .def("notify", &open_call::notify, nb::arg("ends"), nb::arg("token"),
           "Puts the token into `ends` when the call has ended.");
  m.def("failed_call", &failed_call, nb::arg("code"), nb::arg("text"), "Returns a call that ended before it began.");
}

}  // namespace orc::python
