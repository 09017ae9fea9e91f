// The publication's end over shared memory: a segment of slots that all subscribers read in place, a page per
// subscriber, and a socket over which they get both.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/clock.h"
#include "transport/acceptor.h"
#include "transport/shm/shm_packet.h"
#include "transport/shm/slot_writer.h"
#include "transport/transport.h"
#include "transport/visitor.h"

namespace orc::detail::shm {

class shm_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 256;
  static constexpr std::size_t max_connections = max_readers + 64;
  static constexpr std::size_t max_connections_of_process = 64;
  // All of them together. What is pinned cannot be used again, so this bounds the memory that subscribers can hold.
  static constexpr std::uint32_t max_pins = 1024;
  static constexpr std::uint64_t max_pinned_bytes = std::uint64_t{16} << 30;
  static constexpr std::size_t max_unacknowledged = 4;  // hand-overs: descriptors on their way are few in a system
  static constexpr std::uint64_t max_history_bytes = 64 * 1024 * 1024;
  static constexpr std::uint64_t largest_sample = std::uint64_t{1} << 36;

  shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where);
  ~shm_publisher_link() override;

  // Takes memory for samples of the expected size now. ok when none is expected.
  [[nodiscard]] result reserve();

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return readers_.load(std::memory_order_relaxed); }
  [[nodiscard]] sample_buffer try_loan(std::size_t payload_size) noexcept override;
  void commit(sample& s) noexcept override;
  [[nodiscard]] bool try_send(const void* data, std::size_t size, const wire::sample_header& header) noexcept override;
  [[nodiscard]] bool newest(sample& out) noexcept override;
  void service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return door_.fd(); }
  [[nodiscard]] bool behind() const noexcept override;
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    unique_fd socket;
    std::int32_t process = 0;
    visitor guest;
    bool gone = false;
    // Since its hello:
    wire::id subscription;
    std::uint32_t pins = 0;
    std::uint32_t depth = 0;
    shared_memory page;
    unique_fd alert;
    std::uint32_t told = 0;                     // generation that was handed over last
    std::vector<std::uint32_t> unacknowledged;  // oldest first
    monotonic::time_point told_at;              // the oldest of them, or a later one
    bool wants_alert = false;                   // and has none yet
    bool left = false;                          // it gets no more samples, but its messages keep their slots

    [[nodiscard]] bool joined() const noexcept { return static_cast<bool>(page.memory); }
    [[nodiscard]] reader_page& shared() const noexcept { return *reinterpret_cast<reader_page*>(page.memory.bytes()); }
  };

  // Out.
  [[nodiscard]] bool make_room(std::uint64_t size, const reader* joining = nullptr) noexcept;
  [[nodiscard]] bool move_to(const shape& s) noexcept;
  [[nodiscard]] std::optional<std::uint32_t> free_slot(std::uint64_t size) noexcept;
  void publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept;
  void alert(const reader& r) noexcept;
  void tell_generation(reader& r) noexcept;

  // In.
  void accept_some() noexcept;
  void receive_some(reader& from, sample* last) noexcept;
  void handle(reader& from, const packet& p, sample* last) noexcept;
  void welcome(reader& from, const packet& hello, sample* last);
  void give_alert(reader& to) noexcept;
  delivered tell(reader& to, packet_kind kind, std::initializer_list<int> fds = {}) noexcept;
  [[nodiscard]] std::uint32_t pins_in_advance() const noexcept;
  void refuse(reader& from) noexcept;
  void sweep(monotonic::time_point now) noexcept;
  void after_change() noexcept;
  void drop(reader& r) noexcept { r.gone = changed_ = true; }
  void part_with(reader& r) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }

  acceptor door_;
  const wire::id publication_;
  const std::size_t expected_size_;
  const std::uint32_t history_;
  const shared_memory_options memory_;
  const wire::endpoint where_;

  std::shared_ptr<slot_writer> writer_;  // the current generation, once there was a reader or an expected size
  std::uint32_t generation_ = 0;
  std::vector<std::unique_ptr<reader>> all_;
  std::vector<pin_table> pins_;  // of those that joined
  bool behind_ = false;          // the last sample could not be published for want of memory
  bool changed_ = false;
  monotonic::time_point next_sweep_;
  std::atomic<std::size_t> readers_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail::shm
