// The publication's end over ipc and tcp: a listening socket and one connection per subscriber.
//
// A sample is written from the call that sends it. A connection that does not take all of it keeps the rest; its reader
// is then behind, and gets the newest sample (or, in order, what it lacks) when the kernel has room again. So nothing
// but what the kernel holds is ever older than the newest sample (liborc/DESIGN.md, "Per-reader connections").
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/sample_ring.h"
#include "core/unique_fd.h"
#include "transport/acceptor.h"
#include "transport/stream/zmtp_connection.h"
#include "transport/transport.h"
#include "transport/visitor.h"
#include "wire/link_message.h"

namespace orc::detail {

class stream_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 4096;
  static constexpr std::size_t max_connections = max_readers + 64;    // the rest is told that there is no room
  static constexpr std::size_t max_lagging_bytes = 64 * 1024 * 1024;  // kept for one in-order reader

  stream_publisher_link(acceptor door, wire::id publication, wire::endpoint where);

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return readers_.load(std::memory_order_relaxed); }
  void commit(sample& s) noexcept override;
  void service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return door_.fd(); }
  [[nodiscard]] bool behind() const noexcept override;
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    explicit reader(unique_fd fd);
    zmtp_connection line;
    visitor guest;
    wire::id subscription;
    bool joined = false;  // it said hello
    bool gone = false;
    bool watched_for_room = false;
    std::uint32_t depth = 0;       // 0: newest wins
    bool behind = false;           // newest wins: the last sample is still to be sent
    sample_ring lagging{1};        // in order: what did not fit yet
    std::size_t kernel_queue = 0;  // what the connection's queues are made for
  };

  // Out.
  void offer(reader& to, sample& s) noexcept;
  [[nodiscard]] bool hand_over(reader& to, sample& s) noexcept;  // false: no room
  void queue(reader& to, sample& s) noexcept;
  void catch_up(reader& to, sample* last) noexcept;
  void fit_kernel_queue(reader& to, std::size_t sample_size) noexcept;
  void watch_for_room(reader& of) noexcept;
  [[nodiscard]] static bool waits(const reader& r) noexcept {
    return r.line.pending() || r.behind || !r.lagging.empty();
  }

  // In.
  void accept_some() noexcept;
  void accept_one(unique_fd fd);
  void receive_all(reader& from, sample* last) noexcept;
  void receive(reader& from, std::span<const std::byte> frame, sample* last) noexcept;
  void tell(reader& to, wire::link_kind kind, const wire::id& subscription, sample* last) noexcept;
  void on_hello(reader& from, const wire::link_message& hello, sample* last) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }
  void sweep(monotonic::time_point now) noexcept;
  void after_change() noexcept;

  acceptor door_;
  wire::id publication_;
  wire::endpoint where_;
  std::vector<std::unique_ptr<reader>> all_;
  bool changed_ = false;  // somebody joined or went
  monotonic::time_point next_sweep_;
  std::atomic<std::size_t> readers_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
