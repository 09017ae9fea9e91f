// The publication's end over ipc and tcp: a listening socket and one connection per subscriber.
//
// The call that sends a sample also writes it. A connection that does not take all of it keeps the rest. Its reader is
// then behind, and gets the newest sample (or, in order, what it lacks) when the kernel has room again. So only what
// the kernel holds is ever older than the newest sample (liborc/doc/design/readers.md).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/files/unique_fd.h"
#include "transport/acceptor.h"
#include "transport/connection_set.h"
#include "transport/sample_backlog.h"
#include "transport/stream/bulk_pace.h"
#include "transport/stream/stream_connection.h"
#include "transport/stream/stream_socket.h"
#include "transport/transport.h"
#include "wire/link_message.h"

namespace orc::detail {

class stream_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 4096;
  // Of one process (ipc) or address (tcp), which may also use half of the publisher's descriptors at most.
  static constexpr std::size_t max_readers_of_peer = 1024;
  static constexpr std::size_t max_readers_of_peer_scarce = 4;  // while the process has few descriptors left

  stream_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where);

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  void append_endpoints(std::vector<wire::endpoint>& to, const std::vector<std::string>& addresses) const override;
  [[nodiscard]] std::size_t max_sample_bytes() const noexcept override { return max_stream_sample; }
  [[nodiscard]] std::size_t readers() const noexcept override { return connections_.readers(); }
  void commit(sample& s) noexcept override;
  unfinished service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return connections_.fd(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    explicit reader(unique_fd fd);
    [[nodiscard]] int fd() const noexcept { return line.fd(); }
    [[nodiscard]] bool is_stranger() const noexcept { return !joined && !gone; }
    [[nodiscard]] bool is_introduced() const noexcept { return line.ready(); }
    [[nodiscard]] bool is_reader() const noexcept { return joined && !gone; }
    // It has something to catch up on.
    [[nodiscard]] bool waits() const noexcept { return line.pending() || behind || lacks != 0; }

    stream_connection line;
    peer_budget budget;
    wire::id subscription;
    std::uint64_t secret = 0;
    peer_id peer;
    bool joined = false;  // it said hello
    bool gone = false;
    bool further = false;  // its peer had another one when it joined
    bool moves = true;     // it took something since the last sweep
    bool stuck = false;    // it lacked something at the last sweep, and had taken nothing since the one before
    bool watched_for_room = false;
    std::uint32_t depth = 0;       // 0: newest wins
    bool behind = false;           // newest wins: the last sample is not sent yet
    std::uint64_t lacks = 0;       // in order: the first sample that did not fit; 0: none
    std::uint64_t begun = 0;       // the sample that the connection has begun; 0: none
    std::size_t kernel_queue = 0;  // sample size that the connection's queues are set for
    bulk_pace pace;                // with paced_
    std::uint8_t lost_tries = 0;   // loses_large_packets
  };

  // Sending.
  void offer(reader& to, sample& s, int& tries) noexcept;
  [[nodiscard]] bool hand_over(reader& to, sample& s) noexcept;  // false: no room
  [[nodiscard]] stream_connection::written copy_and_send(reader& to, sample& s) noexcept;
  void queue(reader& to, sample& s) noexcept;
  void flush(reader& to) noexcept;
  void catch_up(reader& to, sample* last, std::uint64_t end, visit* now) noexcept;
  void skip_what_is_gone(reader& r) noexcept;
  void fit_kernel_queue(reader& to, std::size_t sample_size) noexcept;
  void pace(reader& to) noexcept;
  void watch_for_room(reader& of) noexcept;
  void look_again_in(std::chrono::microseconds pause) noexcept;
  void take_turns(sample* last, visit& now) noexcept;
  [[nodiscard]] bool behind() const noexcept;

  // Receiving.
  [[nodiscard]] std::unique_ptr<reader> make_reader(unique_fd fd) const;
  void receive_some(reader& from, sample* last) noexcept;
  void receive(reader& from, std::span<const std::byte> frame, sample* last) noexcept;
  void tell(reader& to, wire::link_kind kind, const wire::id& subscription, sample* last) noexcept;
  void on_hello(reader& from, const wire::link_message& hello, sample* last) noexcept;
  [[nodiscard]] bool make_place_for(reader& from) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }
  void leave(reader& r) noexcept { connections_.leave(r); }
  void look_at_path(reader& to, monotonic::time_point now) noexcept;
  void after_change() noexcept;
  void leave_abandoned() noexcept;

  const wire::id publication_;
  const bool keep_last_;
  const std::shared_ptr<sample_backlog> lacking_;
  const wire::endpoint where_;
  const bool everywhere_;  // listens at each address of this host
  const priority priority_;
  connection_set<reader> connections_;
  const unique_fd turns_;                                   // timerfd: readers look whether it is their turn
  const bool paced_;                                        // bulk, over tcp
  std::optional<monotonic::time_point> small_packets_end_;  // until then new readers get small ones
  bool looks_again_ = false;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
