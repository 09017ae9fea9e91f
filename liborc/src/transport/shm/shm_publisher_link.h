// The publication's end over shared memory: a segment of slots that all subscribers read in place, a page per
// subscriber, and a socket that passes both.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "transport/acceptor.h"
#include "transport/connection_set.h"
#include "transport/shm/generations.h"
#include "transport/shm/shm_packet.h"
#include "transport/transport.h"

namespace orc::detail::shm {

class shm_publisher_link final : public publisher_link {
 public:
  static constexpr std::size_t max_readers = 256;
  static constexpr std::size_t max_connections_of_process = 64;
  static constexpr std::size_t max_unacknowledged = 4;  // hand-overs: a system allows few descriptors under way

  shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where);
  ~shm_publisher_link() override;

  // Takes memory for samples of the expected size now. ok when none is expected.
  [[nodiscard]] result reserve() { return memory_.reserve(); }

  [[nodiscard]] const wire::endpoint& where() const noexcept override { return where_; }
  [[nodiscard]] std::size_t readers() const noexcept override { return connections_.readers(); }
  [[nodiscard]] sample_buffer try_loan(std::size_t payload_size) noexcept override;
  void commit(sample& s) noexcept override;
  unfinished service(sample* last) noexcept override;
  [[nodiscard]] int fd() const noexcept override { return connections_.fd(); }
  [[nodiscard]] std::uint64_t dropped() const noexcept override { return dropped_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  struct reader {
    unique_fd socket;
    std::int32_t process = 0;
    peer_budget budget;
    bool gone = false;
    // Since its hello:
    wire::id subscription;
    std::uint32_t pins = 0;
    std::uint32_t depth = 0;
    bool waits = false;  // for memory
    bool was_told_to_wait = false;
    // Since its welcome:
    std::uint64_t first = 0;  // sequence of the next sample at its join
    shared_memory page;
    unique_fd alert;
    std::uint32_t told = 0;                     // generation of the last hand-over
    std::vector<std::uint32_t> unacknowledged;  // oldest first
    monotonic::time_point told_at;              // of the oldest of them, or later
    bool wants_alert = false;                   // and has none yet
    bool left = false;                          // it gets no more samples, but its messages keep their slots

    [[nodiscard]] int fd() const noexcept { return socket.get(); }
    [[nodiscard]] bool joined() const noexcept { return static_cast<bool>(page.memory); }
    // True: its pins are not in this generation, because it left before.
    [[nodiscard]] bool left_before(std::uint32_t generation) const noexcept { return left && told != generation; }
    [[nodiscard]] bool is_stranger() const noexcept { return !gone && !joined() && !waits; }
    [[nodiscard]] bool is_introduced() const noexcept { return false; }  // its first packet is its hello
    [[nodiscard]] bool is_reader() const noexcept { return !gone && joined() && !left; }
    [[nodiscard]] reader_page& shared() const noexcept { return *reinterpret_cast<reader_page*>(page.memory.bytes()); }
  };

  // Sending.
  [[nodiscard]] demand demand_for(std::uint64_t size, std::optional<std::int32_t> process = {}) const noexcept;
  [[nodiscard]] bool make_room(std::uint64_t size) noexcept;
  [[nodiscard]] std::optional<std::uint32_t> free_slot(slot_writer& of, std::uint64_t size) noexcept;
  void keep_within_limits(std::uint64_t size) noexcept;
  void hand_over() noexcept;
  [[nodiscard]] bool copy_in(sample& s) noexcept;
  void publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept;
  void alert(const reader& r) noexcept;
  [[nodiscard]] bool behind() const noexcept;
  void tell_generation(reader& r) noexcept;

  // Receiving.
  [[nodiscard]] std::unique_ptr<reader> make_reader(unique_fd socket);
  void receive_some(reader& from) noexcept;
  void handle(reader& from, const packet& p) noexcept;
  void hear_hello(reader& from, const packet& hello) noexcept;
  [[nodiscard]] bool admit(sample* last) noexcept;
  void welcome(reader& from);
  void give_alert(reader& to) noexcept;
  delivered tell(reader& to, packet_kind kind, std::initializer_list<int> fds = {}) noexcept;
  void refuse(reader& from) noexcept;
  void look_at(reader& r, monotonic::time_point now) noexcept;
  void after_change() noexcept;
  void list_pins() noexcept;
  void want_turn(bool wanted) noexcept;
  void drop(reader& r) noexcept { connections_.leave(r); }
  void disconnect(reader& r) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }

  const wire::id publication_;
  const bool keep_last_;
  const wire::endpoint where_;

  generations memory_;
  std::uint64_t size_of_last_ = 0;  // at this visit, as is the next one
  std::uint64_t sequence_of_last_ = 0;
  unique_fd turn_;  // always readable; among the connections while there is work
  connection_set<reader> connections_;
  std::vector<pin_table> pins_;  // of those that joined
  bool behind_ = false;          // the last sample could not be published for lack of memory
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail::shm
