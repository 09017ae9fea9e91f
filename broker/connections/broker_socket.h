// The listening side of the address broker. It accepts ZeroMQ DEALERs, takes one frame at a time from each in fair
// turns, and keeps a bounded part of what they do not read. schemas/PROTOCOL.md, "Connection", has the limits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "broker/connections/control_connection.h"
#include "broker/connections/fair_share.h"
#include "broker/connections/listener.h"
#include "broker/connections/peer.h"

namespace orc {

// Not thread-safe, except wake(). Only turn() blocks. When memory runs out it closes connections and does not throw.
class broker_socket {
 public:
  using clock = std::chrono::steady_clock;
  using routing = std::uint64_t;  // of a connection; never used twice

  // The receiver of the connections' events. turn() calls it; received() and closed() may call send(). The only
  // exception is std::bad_alloc: from opened() it closes the connection.
  class owner {
   public:
    virtual void opened(routing from, const peer& who) = 0;
    virtual void received(routing from, std::span<const std::byte> frame) noexcept = 0;
    virtual void closed(routing from) noexcept = 0;            // only after opened()
    virtual void rejected(std::string_view why) noexcept = 0;  // a message, and with it the connection
    // The socket of an endpoint was removed. `again`: it listens there anew, or why it cannot.
    virtual void removed(const std::string& endpoint, const result& again) noexcept = 0;
    // Returns whether it belongs to a participant, which never makes room.
    [[nodiscard]] virtual bool participates(routing from) const noexcept = 0;

   protected:
    ~owner() = default;
  };

  // Listens on all of `listen` or on none. Returns the socket, or one line that names the endpoint, the finding and the
  // fix.
  // `group`: may use the ipc endpoints.
  [[nodiscard]] static detail::expected<std::unique_ptr<broker_socket>> open(const std::vector<std::string>& listen,
                                                                             std::optional<gid_t> group = std::nullopt);
  broker_socket(const broker_socket&) = delete;
  broker_socket& operator=(const broker_socket&) = delete;
  ~broker_socket() = default;

  [[nodiscard]] std::vector<std::string> endpoints() const;
  // Returns whether it listens on an address that other hosts can reach.
  [[nodiscard]] bool remote() const noexcept { return remote_port() != 0; }
  // The first tcp port that other hosts can reach; 0: none.
  [[nodiscard]] std::uint16_t remote_port() const noexcept;

  // Waits until `deadline` at most, serves connections for about a millisecond, and returns, so that timers get their
  // turn. False: wake() was called.
  [[nodiscard]] bool turn(clock::time_point deadline, owner& to) noexcept;
  // turn() also returns when this descriptor is readable. False: the system watches no more descriptors.
  [[nodiscard]] bool watch(int fd) noexcept;
  // Any thread.
  void wake() noexcept;

  // False: the connection is being closed, because it does not read. True also when the connection does not exist any
  // more.
  bool send(routing to, const std::string& frame) noexcept;
  // True: the kernel has unread bytes of it.
  [[nodiscard]] bool has_unread(routing from) noexcept;
  // Of its network, as the kernel measures it; 0: unknown, or none.
  [[nodiscard]] std::chrono::milliseconds round_trip(routing to) noexcept;

 private:
  struct connection;
  // Connections change their list by splicing, which needs no memory.
  using chain = std::list<connection*>;
  struct connection {
    connection(routing number, peer other_end, detail::unique_fd fd, clock::time_point now)
        : key(number), who(std::move(other_end)), stream(std::move(fd)), since(now) {}
    const routing key;
    const peer who;
    control_connection stream;
    clock::time_point since;  // of the accept; while it is blocked, of the last progress
    chain::iterator at;       // in one of the chains below
    chain* in = nullptr;
    std::string_view why;     // the rule that it broke, when it is closed for that; else empty
    std::size_t counted = 0;  // its part of kept_
    bool opened = false;
    bool participant = false;
    bool deaf = false;            // it takes nothing any more; its earlier messages may still be read
    bool waits_for_room = false;  // until the kernel takes more
  };

  broker_socket(detail::unique_fd events, detail::unique_fd wakened, fair_share::bounds bounds);
  [[nodiscard]] result listen_at(const std::string& endpoint);
  [[nodiscard]] result listen_anew(std::size_t number);

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
  // Closes it in this turn. Drops at once what it has not read.
  void doom(connection& one, std::string_view why = {}) noexcept;
  void close(connection& one, owner& to) noexcept;

  void move(connection& one, chain& to) noexcept;
  [[nodiscard]] connection* find(routing key) noexcept;
  [[nodiscard]] int wait_ms(clock::time_point deadline) const noexcept;

  std::vector<listener> doors_;
  std::optional<gid_t> group_;
  detail::unique_fd events_;
  detail::unique_fd wakened_;
  detail::unique_fd spare_;  // closed for a moment to refuse a connection when no descriptors are left
  fair_share share_;
  std::unordered_map<routing, connection> connections_;
  routing last_key_ = 0;
  std::size_t kept_ = 0;  // bytes kept for all connections
  bool paused_ = false;   // accepts nothing until next_review_
  clock::time_point now_{};
  clock::time_point next_review_{};

  chain greeting_;  // not introduced yet, oldest first
  chain quiet_;     // has nothing unsent
  chain unsent_;    // to send in this turn
  chain blocked_;   // the kernel takes no more; longest without progress first
  chain doomed_;    // to close in this turn
};

}  // namespace orc
