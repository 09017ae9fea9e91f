// One end of a connection that owes nobody good manners: a socket, ZeroMQ's handshake if wanted, and raw bytes.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/files/unique_fd.h"

namespace orc::test {

class line {
 public:
  // ipc://PATH, shm:///PATH or tcp://ADDRESS:PORT. Without a connection: is_up() is false.
  explicit line(const std::string& endpoint);

  [[nodiscard]] bool is_up() const noexcept { return static_cast<bool>(fd_); }
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  // Greeting and READY of a DEALER, with `identity` as its routing id if it is not empty.
  bool introduce(std::string_view identity = {});
  // All of it or nothing within the time; false: the other end is gone or does not read.
  bool say(std::string_view bytes, std::chrono::milliseconds within = std::chrono::milliseconds(200));
  // As much as goes in without waiting. Bytes, or -1 when the other end is gone.
  long push(std::string_view bytes);
  bool say_frame(std::string_view body, bool more = false);
  // The body of the next frame that is not a command; nothing when none comes in time.
  [[nodiscard]] std::optional<std::string> hear(std::chrono::milliseconds within = std::chrono::milliseconds(200));
  // Closes with a reset instead of an end.
  void reset();

 private:
  bool fill(std::chrono::steady_clock::time_point end);

  detail::unique_fd fd_;
  std::string heard_;
  bool greeted_ = false;
};

[[nodiscard]] std::string frame_of(std::string_view body, std::uint8_t flags = 0);

}  // namespace orc::test
