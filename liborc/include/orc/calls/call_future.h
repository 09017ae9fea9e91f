// The calling end: a result that comes.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "orc/calls/call_error.h"
#include "orc/calls/raw_call.h"
#include "orc/typed.h"

namespace orc {

namespace detail {

// The view of untyped bytes.
class bytes_view {
 public:
  [[nodiscard]] errc open(std::span<const std::byte> bytes) noexcept {
    bytes_ = bytes;
    return errc::ok;
  }
  [[nodiscard]] const std::span<const std::byte>* get() const noexcept { return &bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

template <class T>
struct reply_view {
  using type = typename view_of<T>::type;
  using value = T;
};
template <>
struct reply_view<std::vector<std::byte>> {
  using type = bytes_view;
  using value = std::span<const std::byte>;
};

// Received bytes, and the T in them.
template <class T>
class call_value {
 public:
  call_value() = default;
  explicit call_value(call_bytes&& bytes) : bytes_(std::move(bytes)) { open(); }
  call_value(call_value&& other) noexcept { take(other); }
  call_value& operator=(call_value&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~call_value() = default;

  [[nodiscard]] errc status() const noexcept { return status_; }
  [[nodiscard]] const typename reply_view<T>::value* get() const noexcept { return view_.get(); }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_.bytes(); }

 private:
  void open() noexcept { status_ = open_view(view_, bytes_.bytes()); }
  void take(call_value& other) noexcept {
    [[maybe_unused]] const auto* const at = other.bytes().data();
    bytes_ = std::move(other.bytes_);
    status_ = std::exchange(other.status_, errc::nothing_new);
    view_ = std::move(other.view_);
    // The bytes of a small message are in the object itself.
    if constexpr (refers_to_bytes<typename reply_view<T>::type>) {
      if (status_ == errc::ok && bytes().data() != at) open();
    }
  }

  call_bytes bytes_;
  typename reply_view<T>::type view_;
  errc status_ = errc::nothing_new;
};

}  // namespace detail

// How a call ended: a Reply, or an error. Move-only; the Reply belongs to it, and a pointer to the Reply is invalid
// after a move. Over shm a large Reply is in the server's memory until this object is destroyed, so keep few of them.
template <class Reply>
class [[nodiscard]] call_result {
 public:
  // For ORC itself: call_future::get makes results.
  explicit call_result(call_error why) : error_(std::move(why)) {}
  call_result(call_error outcome, detail::call_bytes bytes) : error_(std::move(outcome)) {
    if (error_.code != call_errc::ok) return;
    reply_ = detail::call_value<Reply>(std::move(bytes));
    if (reply_.status() == errc::no_memory) error_.code = call_errc::no_memory;
    if (reply_.status() == errc::type_mismatch) error_.code = call_errc::bad_reply;
  }

  // True when there is a Reply.
  explicit operator bool() const noexcept { return error_.code == call_errc::ok; }
  // The Reply, for an untyped call its bytes as a std::span. Only when the result is true.
  const auto* operator->() const noexcept { return reply_.get(); }
  // The same as a reference.
  const auto& operator*() const noexcept { return *reply_.get(); }
  // The bytes of the Reply as they arrived. Only when the result is true.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return reply_.bytes(); }

  // Why there is no Reply; its code is call_errc::ok when there is one.
  [[nodiscard]] const call_error& error() const noexcept { return error_; }
  // Same as error().code.
  [[nodiscard]] call_errc code() const noexcept { return error_.code; }

 private:
  call_error error_;
  detail::call_value<Reply> reply_;
};

// A call that was made with participant::call. Move-only. Destroying it cancels the call. One thread at a time.
//
// A call ends exactly once, at its deadline at the latest. A thread that waits here receives the reply itself, without
// another thread in between.
template <class Reply>
class [[nodiscard]] call_future {
 public:
  // No call.
  call_future() noexcept = default;
  // For ORC itself: participant::call makes futures.
  explicit call_future(detail::raw_call call) noexcept : call_(std::move(call)) {}

  // True until get() returned a result or then() was called.
  explicit operator bool() const noexcept { return static_cast<bool>(call_); }

  // Whether the call has ended. Looks for the reply; never waits.
  [[nodiscard]] bool ready() { return wait(std::chrono::nanoseconds(0)); }
  // Waits until the call has ended, at most `timeout`. Returns whether it has.
  [[nodiscard]] bool wait(std::chrono::nanoseconds timeout) { return !call_ || call_.wait(detail::after(timeout)); }
  // Waits for the end of the call, which comes at the deadline at the latest, and returns its result, once.
  [[nodiscard]] call_result<Reply> get() {
    if (!call_) return call_result<Reply>({.code = call_errc::not_ready, .text = "this future has no call"});
    while (!call_.wait(std::chrono::steady_clock::time_point::max())) {
    }
    auto [error, bytes] = detail::raw_call(std::move(call_)).take();
    return call_result<Reply>(std::move(error), std::move(bytes));
  }
  // Returns a descriptor for poll, epoll or asyncio that is readable when the call has ended or feedback has come. It
  // belongs to the future: do not read, write or close it. A thread of ORC receives from now on. -1: no descriptor.
  [[nodiscard]] int fd() { return call_ ? call_.fd() : -1; }
  // Calls `ended` once with the result, from a thread of ORC, or from this one if the call has ended already. The
  // future is empty afterwards, and destroying it does not cancel. `ended` must not throw, and must not destroy the
  // participant. Other calls of this service that end by then() or fd() wait meanwhile, so it returns soon.
  template <class Callback>
  void then(Callback ended) {
    if (!call_) return;
    call_.then([ended = std::move(ended)](call_error error, detail::call_bytes bytes) mutable {
      ended(call_result<Reply>(std::move(error), std::move(bytes)));
    });
  }
  // Returns the newest feedback that was not returned yet. Nothing: there is none, or its bytes are no Feedback. Never
  // waits.
  template <class Feedback = std::vector<std::byte>>
  [[nodiscard]] std::optional<detail::call_value<Feedback>> feedback() {
    auto bytes = call_ ? call_.take_feedback() : std::nullopt;
    if (!bytes) return std::nullopt;
    detail::call_value<Feedback> value(*std::move(bytes));
    if (value.status() != errc::ok) return std::nullopt;
    return value;
  }
  // Ends the call as call_errc::cancelled, unless it has ended. The server does not start it any more, or its handler
  // sees cancelled(). Never waits.
  void cancel() noexcept {
    if (call_) call_.cancel();
  }

 private:
  detail::raw_call call_;
};

}  // namespace orc
