// The subscription's end over ipc and tcp: one DEALER socket towards one publication.
#pragma once

#include <atomic>

#include "transport/transport.h"
#include "transport/zmq/socket.h"
#include "wire/link_message.h"

namespace orc::detail {

class stream_subscriber_link final : public subscriber_link {
 public:
  // `socket` is a connected DEALER. Not one with ZMQ_IMMEDIATE: that drops what has arrived when the publisher goes.
  stream_subscriber_link(zmq_socket socket, const subscription_spec& spec);
  ~stream_subscriber_link() override;

  [[nodiscard]] bool try_recv(sample& out) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return fd_; }
  void refresh(std::uint64_t newest) noexcept override;
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
  [[nodiscard]] link_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override {
    return malformed_.load(std::memory_order_relaxed);
  }

 private:
  // One frame out of the socket. True: it is a sample, in `out`.
  bool accept(zmq_frame& frame, sample& out) noexcept;
  void handle(const wire::link_message& message) noexcept;
  void tell(wire::link_kind kind, std::uint64_t newest) noexcept;

  zmq_socket socket_;
  int fd_;
  wire::id publication_;
  wire::id subscription_;
  orc::detail::delivery delivery_;
  std::uint64_t newest_at_join_ = 0;
  bool heard_ = false;  // something since the last refresh
  std::atomic<link_state> state_{link_state::connecting};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
