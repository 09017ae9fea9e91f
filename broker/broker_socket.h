// The listening side of the address broker: accepts ZeroMQ DEALERs, takes one frame at a time from each in fair turns,
// and keeps a bounded part of what they do not read. schemas/PROTOCOL.md, "Connection", has the limits.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "control_connection.h"
#include "core/unique_fd.h"
#include "fair_share.h"
#include "listener.h"
#include "peer.h"

namespace orc {

// One thread, but for wake(). Never blocks but in turn(). Out of memory closes connections, and is no exception.
class broker_socket {
 public:
  using clock = std::chrono::steady_clock;
  using routing = std::uint64_t;  // of a connection: never used twice

  // Whose connections they are. turn() calls these; of them received() and closed() may call send(). std::bad_alloc is
  // the only exception: from opened() it closes the connection.
  class owner {
   public:
    virtual void opened(routing from, const peer& who) = 0;
    virtual void received(routing from, std::span<const std::byte> frame) noexcept = 0;
    virtual void closed(routing from) noexcept = 0;            // if it was opened
    virtual void rejected(std::string_view why) noexcept = 0;  // a message, and its connection with it
    // Does it belong to a participant, which gives way to nobody?
    [[nodiscard]] virtual bool participates(routing from) const noexcept = 0;

   protected:
    ~owner() = default;
  };

  // Listens at all of `listen` or at none. The socket, or one line that says which endpoint, what was found and what to
  // do.
  [[nodiscard]] static std::variant<std::unique_ptr<broker_socket>, std::string> open(
      const std::vector<std::string>& listen);
  broker_socket(const broker_socket&) = delete;
  broker_socket& operator=(const broker_socket&) = delete;
  ~broker_socket() = default;

  [[nodiscard]] std::vector<std::string> endpoints() const;
  // Does it listen on an address that other hosts can reach?
  [[nodiscard]] bool remote() const noexcept;

  // Waits until `deadline` at most, serves what has come for about a millisecond, and returns so that timers get their
  // turn. False: wake() was called.
  [[nodiscard]] bool turn(clock::time_point deadline, owner& to) noexcept;
  // Any thread.
  void wake() noexcept;

  // False: the connection is being closed, because it does not read. True also when there is no such connection any
  // more.
  bool send(routing to, const std::string& frame) noexcept;
  // The kernel has bytes of it that were not read yet.
  [[nodiscard]] bool has_unread(routing from) noexcept;

 private:
  struct connection;
  // Members change their list by splicing, which needs no memory.
  using chain = std::list<connection*>;
  struct connection {
    connection(routing number, peer other_end, detail::unique_fd fd, clock::time_point now)
        : key(number), who(std::move(other_end)), stream(std::move(fd)), since(now) {}
    const routing key;
    const peer who;
    control_connection stream;
    clock::time_point since;  // of the accept; once it is blocked, of the last progress
    chain::iterator at;       // in one of the chains below
    chain* in = nullptr;
    std::string_view why;     // it is closed: which rule it broke; empty: none
    std::size_t counted = 0;  // of its bytes in kept_
    bool opened = false;
    bool participant = false;
    bool deaf = false;            // it takes nothing any more; what it said before may still be read
    bool waits_for_room = false;  // for the kernel to take more
  };

  broker_socket(detail::unique_fd events, detail::unique_fd wakened, fair_share::bounds places);
  [[nodiscard]] std::string listen_at(const std::string& endpoint);

  void accept_from(listener& door, owner& to) noexcept;
  void take(const listener& door, detail::unique_fd fd, owner& to);
  void out_of_descriptors(listener& door, owner& to) noexcept;
  void listen(bool now) noexcept;

  void note(routing key, std::uint32_t events) noexcept;
  void serve(owner& to) noexcept;
  void serve_one(connection& one, owner& to) noexcept;
  [[nodiscard]] bool handle_one(connection& one, owner& to) noexcept;
  void introduce(connection& one, owner& to) noexcept;
  void flush(connection& one) noexcept;
  void want_room(connection& one, bool wanted) noexcept;

  void review(owner& to) noexcept;
  void close_late(owner& to) noexcept;
  void count(connection& one) noexcept;
  void keep_within_budget() noexcept;
  // To be closed in this turn; gives up at once what it has not read.
  void doom(connection& one, std::string_view why = {}) noexcept;
  void close(connection& one, owner& to) noexcept;

  void move(connection& one, chain& to) noexcept;
  [[nodiscard]] connection* find(routing key) noexcept;
  [[nodiscard]] int wait_ms(clock::time_point deadline) const noexcept;

  std::vector<listener> doors_;
  detail::unique_fd events_;
  detail::unique_fd wakened_;
  detail::unique_fd spare_;  // given up for a moment to refuse a connection when there are no descriptors left
  fair_share share_;
  std::unordered_map<routing, connection> connections_;
  routing last_key_ = 0;
  std::size_t kept_ = 0;  // bytes, of all connections
  bool paused_ = false;   // nothing is accepted until next_review_
  clock::time_point now_{};
  clock::time_point next_review_{};

  chain greeting_;  // not introduced yet, oldest first
  chain quiet_;     // nothing is unsent
  chain unsent_;    // to be sent in this turn
  chain blocked_;   // the kernel takes no more; longest without progress first
  chain doomed_;    // to be closed in this turn
};

}  // namespace orc
