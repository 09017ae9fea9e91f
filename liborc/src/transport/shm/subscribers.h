// The subscribers of a publication over shared memory: a socket for each, hello and welcome, the page with its pins,
// the hand-over of each new segment, and what wakes it.
#pragma once

#include <atomic>
#include <initializer_list>
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

// Not thread-safe, except the counters: the publication serialises.
class subscribers {
 public:
  static constexpr std::size_t max_readers = 256;
  static constexpr std::size_t max_connections_of_process = 64;
  static constexpr std::size_t max_unacknowledged = 4;  // hand-overs: a system allows few descriptors under way

  // `memory`: of the publication.
  subscribers(acceptor door, const publication_spec& spec, std::string address, const generations& memory);
  ~subscribers();
  subscribers(const subscribers&) = delete;
  subscribers& operator=(const subscribers&) = delete;

  [[nodiscard]] int fd() const noexcept { return connections_.fd(); }
  [[nodiscard]] std::size_t count() const noexcept { return connections_.readers(); }
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_.load(std::memory_order_relaxed); }
  // True: one waits to join, or for a segment.
  [[nodiscard]] bool behind() const noexcept;

  // The demand of all that joined or wait to, for samples of this size.
  [[nodiscard]] demand demand_for(std::uint64_t size) const noexcept {
    return demand_of(size, [](const reader&) { return true; });
  }
  // Of those that joined.
  [[nodiscard]] std::span<const pin_table> pins() const noexcept { return pins_; }
  // Ends the one with the most pins. False: there is one at most, which may stay.
  [[nodiscard]] bool end_greediest() noexcept;

  // Wakes those that wait. [C5]
  void alert_all() noexcept;
  // Hands the current segment to those that do not have it. [M2]
  void hand_over() noexcept;

  // Hears what they say. `size` and `sequence`: of the newest sample; 0: there is none.
  void hear(visit& now_here, std::uint64_t size, std::uint64_t sequence) noexcept;
  // Welcomes those that wait, or refuses them, as the memory for them stands.
  void admit(generations::progress memory_is) noexcept;
  // Makes fd() readable at once.
  void want_turn(bool wanted) noexcept;
  void close_gone() noexcept;

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
    bool further = false;  // its process had another one
    bool waits = false;    // for memory
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

  // Same of those for which of() is true.
  template <class Which>
  [[nodiscard]] demand demand_of(std::uint64_t size, Which of) const noexcept;
  // How many of them have a place: also those that left, which keep a page and a socket until they close it.
  template <class Which>
  [[nodiscard]] std::size_t places_of(Which of) const noexcept;
  [[nodiscard]] bool has_place_for(reader& from) const noexcept;
  [[nodiscard]] std::unique_ptr<reader> make_reader(unique_fd socket);
  void receive_some(reader& from) noexcept;
  void handle(reader& from, const packet& p) noexcept;
  void hear_hello(reader& from, const packet& hello) noexcept;
  void welcome(reader& from);
  void refuse(reader& from) noexcept;
  void tell_generation(reader& r) noexcept;
  void give_alert(reader& to) noexcept;
  void alert(const reader& r) noexcept;
  delivered tell(reader& to, packet_kind kind, std::initializer_list<int> fds = {}) noexcept;
  void look_at(reader& r, monotonic::time_point now) noexcept;
  void list_pins() noexcept;
  void drop(reader& r) noexcept { connections_.leave(r); }
  void disconnect(reader& r) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }

  const wire::id publication_;
  const bool keep_last_;
  const std::string address_;
  const generations& memory_;
  std::uint64_t size_of_last_ = 0;  // at this visit, as is the next one
  std::uint64_t sequence_of_last_ = 0;
  unique_fd turn_;  // always readable; among the connections while there is work
  connection_set<reader> connections_;
  std::vector<pin_table> pins_;  // of those that joined
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail::shm
