// A received sample of a C++ type.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "orc/message.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/typed/traits.h"

namespace orc {

// A received sample as a T, or nothing and the reason. Move-only. The T is valid as long as the message, and belongs to
// it: structs and FlatBuffers are read in the message's bytes when these are aligned, so over shm hold few messages
// (request_options::max_messages). A pointer to the T is invalid after a move of the message. One message belongs to
// one thread at a time.
template <class T>
class [[nodiscard]] typed_message {
 public:
  // No sample. For ORC itself: typed_subscriber::recv makes messages.
  typed_message() noexcept = default;
  explicit typed_message(message&& raw) noexcept : raw_(std::move(raw)) { open(); }
  // subscriber::recv or subscriber::recv_next.
  using way = message (orc::subscriber::*)(std::chrono::nanoseconds) noexcept;
  // Receives.
  typed_message(orc::subscriber& from, way receive, std::chrono::nanoseconds timeout) noexcept
      : raw_((from.*receive)(timeout)) {
    open();
  }

  // Moves the sample; the other message is empty afterwards.
  typed_message(typed_message&& other) noexcept { take(other); }
  // Drops this sample, and moves the other one here.
  typed_message& operator=(typed_message&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  typed_message(const typed_message&) = delete;
  typed_message& operator=(const typed_message&) = delete;
  ~typed_message() = default;

  // True when there is a sample and its bytes are a T.
  explicit operator bool() const noexcept { return status_ == errc::ok; }
  // Returns errc::ok, or why there is no T: what message::status() says, type_mismatch when the bytes are no T, or
  // no_memory. In the last two cases raw() has the sample.
  [[nodiscard]] errc status() const noexcept { return status_; }

  // The sample. Only when the message is true.
  const T* operator->() const noexcept { return view_.get(); }
  // The same as a reference.
  const T& operator*() const noexcept { return *view_.get(); }

  // As in orc::message.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return raw_.sequence(); }
  // As in orc::message, in ns.
  [[nodiscard]] std::int64_t stamp_ns() const noexcept { return raw_.stamp_ns(); }
  // As in orc::message, in ns.
  [[nodiscard]] std::int64_t age_ns() const noexcept { return raw_.age_ns(); }
  // As in orc::message.
  [[nodiscard]] std::uint64_t missed() const noexcept { return raw_.missed(); }

  // The bytes as they arrived.
  [[nodiscard]] const message& raw() const noexcept { return raw_; }
  // Gives the bytes away, to send them on. The typed message is empty afterwards.
  [[nodiscard]] message release() noexcept {
    status_ = errc::nothing_new;
    view_ = {};
    return std::move(raw_);
  }

 private:
  void open() noexcept { status_ = raw_ ? detail::open_view(view_, raw_.bytes()) : raw_.status(); }
  void take(typed_message& other) noexcept {
    [[maybe_unused]] const void* const at = other.raw_.data();
    raw_ = std::move(other.raw_);
    status_ = std::exchange(other.status_, errc::nothing_new);
    view_ = std::move(other.view_);
    // The bytes of a small sample may be in the message itself.
    if constexpr (detail::refers_to_bytes<typename detail::view_of<T>::type>) {
      if (status_ == errc::ok && raw_.data() != at) open();
    }
  }

  message raw_;
  typename detail::view_of<T>::type view_;
  errc status_ = errc::nothing_new;
};

}  // namespace orc
