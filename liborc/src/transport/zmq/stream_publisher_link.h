// The publication's end over ipc and tcp: one ROUTER socket, one entry per subscriber.
//
// Why ROUTER and not PUB (liborc/DESIGN.md, "ROUTER instead of PUB"): a PUB socket drops the newest sample of a full
// pipe without a word. Here a full pipe shows as EAGAIN, per subscriber; the subscriber is then known to be behind and
// gets the newest sample as soon as there is room.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/sample_ring.h"
#include "transport/transport.h"
#include "transport/zmq/socket.h"
#include "wire/link_message.h"

namespace orc::detail {

class stream_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 4096;
  static constexpr std::size_t few_readers = 64;
  static constexpr std::size_t max_lagging_bytes = 64 * 1024 * 1024;  // kept for one in-order reader

  // `socket` is a bound ROUTER with ZMQ_ROUTER_MANDATORY; `file` what it left in the file system, if anything.
  stream_publisher_link(zmq_socket socket, wire::id publication, wire::endpoint where, std::string file = {});
  ~stream_publisher_link() override;

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return readers_.load(std::memory_order_relaxed); }
  void commit(sample& s) noexcept override;
  void service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return fd_; }
  [[nodiscard]] bool urgent() const noexcept override { return urgent_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    std::string route;  // routing id of its connection
    wire::id subscription;
    std::uint32_t depth = 0;  // 0: newest wins
    bool behind = false;      // newest wins: the last sample is still to be sent
    bool gone = false;
    sample_ring lagging{1};  // in order: what did not fit yet
  };
  enum class outcome { sent, full, gone };

  // Hands the frame to one connection; `retry` makes sure that "full" is not just old news.
  outcome try_send(const std::string& route, zmq_msg_t* frame, bool retry) noexcept;
  outcome try_send(reader& to, sample& s, bool retry) noexcept;
  void offer(reader& to, sample& s) noexcept;
  void queue(reader& to, sample& s) noexcept;
  void catch_up(reader& to, sample* last) noexcept;

  // What arrives from subscribers.
  void receive_all(sample* last) noexcept;
  void receive(const std::string& route, std::span<const std::byte> frame, sample* last) noexcept;
  outcome tell(const std::string& route, wire::link_kind kind, const wire::id& subscription, sample* last) noexcept;
  void on_hello(const std::string& route, const wire::link_message& hello, sample* last) noexcept;
  void forget_gone_readers(sample* last) noexcept;
  void after_change() noexcept;

  zmq_socket socket_;
  int fd_;
  wire::id publication_;
  wire::endpoint where_;
  const std::string file_;
  std::vector<std::unique_ptr<reader>> all_;
  std::size_t forget_at_ = few_readers;  // so many readers: look for those that were killed
  std::atomic<std::size_t> readers_{0};
  std::atomic<bool> urgent_{false};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
