// Limits what is on the way to a client, so that what it reads is new.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace orc::web {

// Between the server and what a client reads, the kernels of both sides keep megabytes. Bytes there are older than what
// the server knows, so a slow client would see the past. The client answers a ping when it has read all bytes before
// it: the window counts the bytes that no answer confirms, and adapts to how long answers take. Like TCP's window, but
// up to the program. A thread at a time.
class flow_window {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::size_t min_bytes = std::size_t{8} << 10;
  static constexpr std::size_t max_bytes = std::size_t{4} << 20;

  // Whether another frame may go.
  [[nodiscard]] bool has_room() const noexcept { return unconfirmed_ < size_; }
  void sent(std::size_t bytes) noexcept { unconfirmed_ += bytes; }
  // The number for a ping, if it is time for one.
  [[nodiscard]] std::optional<std::uint32_t> next_ping(clock::time_point now) noexcept;
  // The answer to ping `number` came.
  void answered(std::uint32_t number, clock::time_point now) noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  std::size_t size_ = std::size_t{16} << 10;  // soon large for a fast client; what a slow one has yet to read is old
  std::size_t unconfirmed_ = 0;
  bool waits_ = false;  // for an answer
  std::uint32_t number_ = 0;
  std::size_t asked_ = 0;  // bytes that the answer confirms
  clock::time_point asked_at_ = {};
};

}  // namespace orc::web
