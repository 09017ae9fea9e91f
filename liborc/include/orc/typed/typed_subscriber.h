// The receiving end of a topic whose samples are a C++ type.
#pragma once

#include <chrono>
#include <utility>

#include "orc/result.h"
#include "orc/subscriber.h"
#include "orc/timeout.h"
#include "orc/typed/traits.h"
#include "orc/typed/typed_message.h"

namespace orc {

// A subscription to samples of type T, as participant::request_topic<T> returns it. Cheap to copy; threads as in
// orc::subscriber. The topic stays requested until participant::release_topic or the end of the participant.
template <class T>
class [[nodiscard]] typed_subscriber {
 public:
  // A false handle, for which recv returns not_requested.
  typed_subscriber() noexcept = default;
  // For ORC itself: participant::request_topic makes handles.
  explicit typed_subscriber(orc::subscriber subscriber) noexcept : subscriber_(std::move(subscriber)) {}

  // As in orc::subscriber.
  explicit operator bool() const noexcept { return static_cast<bool>(subscriber_); }
  // As in orc::subscriber.
  [[nodiscard]] const orc::result& result() const noexcept { return subscriber_.result(); }
  // As in orc::subscriber.
  [[nodiscard]] const orc::error& error() const noexcept { return subscriber_.error(); }

  // Receives as subscriber::recv and recv_next do, and reads the sample as a T: `if (auto m = state.recv(100)) m->q`.
  // A sample that is no T makes the message false with status() type_mismatch; it counts as received.
  [[nodiscard]] typed_message<T> recv(std::chrono::nanoseconds timeout) noexcept {
    return typed_message<T>(subscriber_, &orc::subscriber::recv, timeout);
  }
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] typed_message<T> recv(int timeout_ms) noexcept { return recv(detail::timeout_of(timeout_ms)); }
  // The same in order: subscriber::recv_next.
  [[nodiscard]] typed_message<T> recv_next(std::chrono::nanoseconds timeout) noexcept {
    return typed_message<T>(subscriber_, &orc::subscriber::recv_next, timeout);
  }
  // The same with a timeout in ms.
  [[nodiscard]] typed_message<T> recv_next(int timeout_ms) noexcept {
    return recv_next(detail::timeout_of(timeout_ms));
  }

  // As in orc::subscriber.
  [[nodiscard]] int fd() noexcept { return subscriber_.fd(); }
  // As in orc::subscriber.
  [[nodiscard]] bool connected() const noexcept { return subscriber_.connected(); }
  // As in orc::subscriber.
  [[nodiscard]] orc::result wait_connected(std::chrono::nanoseconds timeout) noexcept {
    return subscriber_.wait_connected(timeout);
  }
  // As in orc::subscriber.
  [[nodiscard]] orc::result wait_connected(int timeout_ms) noexcept { return subscriber_.wait_connected(timeout_ms); }
  // As in orc::subscriber.
  [[nodiscard]] link_info link() const { return subscriber_.link(); }

  // The subscription as one of bytes.
  [[nodiscard]] const orc::subscriber& untyped() const noexcept { return subscriber_; }

 private:
  orc::subscriber subscriber_;
};

}  // namespace orc
