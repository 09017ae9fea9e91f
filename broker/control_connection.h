// The broker's end of one connection: ZMTP 3 between a ROUTER and a DEALER (schemas/PROTOCOL.md, "Connection"), over a
// connected non-blocking stream socket. It turns bytes into frames and back, with bounded memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/stray_descriptors.h"
#include "base/unique_fd.h"
#include "wire/zmtp.h"

namespace orc {

// Not thread-safe. No call blocks, throws or raises SIGPIPE.
class control_connection {
 public:
  using clock = std::chrono::steady_clock;

  // router: serves a DEALER. dealer: asks the ROUTER of another broker.
  enum class role : std::uint8_t { router, dealer };
  // The peer's Socket-Type must be the other one. Its Identity is ignored.
  explicit control_connection(detail::unique_fd fd, role as = role::router) noexcept
      : fd_(std::move(fd)), plain_(detail::refuse_descriptors(fd_.get())), role_(as) {}
  // Tries once more to send the rest. The peer then gets what the kernel holds, and sees the end.
  ~control_connection();
  control_connection(const control_connection&) = delete;
  control_connection& operator=(const control_connection&) = delete;

  // Sends the first bytes of the protocol. False: no memory, or the connection has ended.
  [[nodiscard]] bool greet() noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // True: the peer has introduced itself, so frames may be sent.
  [[nodiscard]] bool ready() const noexcept { return state_ == state::ready; }

  // ---- receiving ----
  enum class event {
    frame,    // a message of one frame
    handled,  // bytes for the connection itself
    nothing,  // nothing for now: call readable() when the descriptor has more
    ended,    // by the peer or the network, or it does not speak ZMTP 3
    broken    // the peer broke the rule of the protocol that why() names
  };
  // Receives the next item, at most one. `frame` is valid until the next call. Keeps at most max_buffered bytes.
  [[nodiscard]] event receive(std::span<const std::byte>& frame, clock::time_point now) noexcept;
  static constexpr std::size_t max_buffered = 96 * 1024;
  [[nodiscard]] std::string_view why() const noexcept { return why_; }
  // There is something to read. `to_the_end`: the peer sends no more after it.
  void readable(bool to_the_end) noexcept {
    drained_ = false;
    ending_ = ending_ || to_the_end;
  }

  // ---- sending ----
  // Keeps a frame for flush(). False: no memory, and no part of it is kept.
  [[nodiscard]] bool append(std::span<const std::byte> frame) noexcept;
  // Bytes that the kernel has not taken yet.
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_; }
  enum class flushed { all, some, none, failed };  // some, none: the socket is full; some: it took a part
  [[nodiscard]] flushed flush() noexcept;
  // Drops the unsent bytes.
  void discard() noexcept;

  // Memory kept for both directions. A piece counts until all of it is sent.
  [[nodiscard]] std::size_t kept() const noexcept { return in_.capacity() + done_ + unsent_; }

 private:
  enum class state { greeting, handshake, ready };

  [[nodiscard]] event parse(std::span<const std::byte>& frame, clock::time_point now);
  [[nodiscard]] event read();
  void forget_handled();
  [[nodiscard]] event handle_command(std::span<const std::byte> body, clock::time_point now);
  [[nodiscard]] event broken(std::string_view why) noexcept;
  [[nodiscard]] std::span<const std::byte> buffered() const noexcept {
    return std::as_bytes(std::span(in_)).subspan(begin_);
  }
  void write(std::span<const std::byte> first, std::span<const std::byte> second);

  [[nodiscard]] ssize_t take(std::span<char> to) noexcept;

  detail::unique_fd fd_;
  const bool plain_;  // no descriptors can come, only bytes
  const role role_;
  state state_ = state::greeting;
  std::string_view why_;

  // Receiving: bytes that are no whole frame yet, or not handled yet.
  std::string in_;
  std::size_t begin_ = 0;  // index in in_: everything before it is handled
  bool drained_ = true;
  bool ending_ = false;
  unsigned commands_ = 0;  // since commands_from_
  clock::time_point commands_from_{};

  // Sending.
  std::list<std::string> out_;  // in pieces, so that a long queue is neither moved nor stored twice
  std::size_t done_ = 0;        // bytes of the first piece that are sent
  std::size_t unsent_ = 0;
};

}  // namespace orc
