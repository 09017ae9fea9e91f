// What call_future is made of. For ORC itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/calls/call_error.h"
#include "orc/message.h"
#include "orc/type_description.h"
#include "orc/version.h"

namespace orc {
class participant;
}

namespace orc::detail {

class call_state;

// Now and so much time, which may be more than the clock holds.
[[nodiscard]] inline std::chrono::steady_clock::time_point after(std::chrono::nanoseconds time) noexcept {
  using point = std::chrono::steady_clock::time_point;
  const auto now = std::chrono::steady_clock::now();
  return time > point::max() - now ? point::max() : now + time;
}

// The payload of a received message: in the message, or copied.
class ORC_API call_bytes {
 public:
  call_bytes() noexcept = default;
  call_bytes(message&& received, std::shared_ptr<int> held) noexcept
      : message_(std::move(received)), held_(std::move(held)) {}
  explicit call_bytes(std::span<const std::byte> payload) : copy_(payload.begin(), payload.end()) {}

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept;

 private:
  message message_;
  std::shared_ptr<int> held_;  // its use count is the number of messages that the program holds
  std::vector<std::byte> copy_;
};

// A type with its hash.
struct hashed_type {
  type_description type;
  std::uint64_t hash = 0;
};

// Fills the memory of a request. False: it cannot be encoded.
using request_writer = std::function<bool(std::span<std::byte>)>;

// A call. Move-only; destroying it cancels the call. One thread at a time; several threads may be in wait(), cancel(),
// fd(), notify() and take_feedback(), and in error() and reply() after the end.
class ORC_API raw_call {
 public:
  raw_call() noexcept;
  explicit raw_call(std::shared_ptr<call_state> state) noexcept;
  ~raw_call();
  raw_call(raw_call&& other) noexcept;
  raw_call& operator=(raw_call&& other) noexcept;

  [[nodiscard]] explicit operator bool() const noexcept { return state_ != nullptr; }
  // Waits until the call has ended, at most until `until`. False: it has not.
  [[nodiscard]] bool wait(std::chrono::steady_clock::time_point until);
  [[nodiscard]] int fd();
  void cancel() noexcept;
  // The call goes on without this object, which is empty afterwards; `ended` runs once, with the outcome.
  void then(std::function<void(call_error, call_bytes)> ended);
  // Runs `ended` once at the end, from a thread of ORC, or now if the call has ended. Unlike then() it leaves the call
  // here, and may be called again for others. `ended` must not throw or wait.
  void notify(std::function<void()> ended);
  // After wait() returned true. take() empties them.
  [[nodiscard]] const call_error& error() const;
  [[nodiscard]] std::span<const std::byte> reply() const;
  // After wait() returned true.
  [[nodiscard]] std::pair<call_error, call_bytes> take();
  [[nodiscard]] std::optional<call_bytes> take_feedback();

 private:
  std::shared_ptr<call_state> state_;
};

// A call that ended before it began.
[[nodiscard]] ORC_API raw_call failed_call(call_error why);
// Starts a call.
[[nodiscard]] ORC_API raw_call start_call(orc::participant& by, std::string_view service, const hashed_type& request,
                                          const hashed_type& reply, std::chrono::nanoseconds deadline, std::size_t size,
                                          const request_writer& write);

}  // namespace orc::detail
