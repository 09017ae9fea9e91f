// The connections from this broker to its peers. Each is made again whenever it ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/ip_address.h"
#include "base/network/name_lookup.h"
#include "broker/connections/control_connection.h"

namespace orc {

// Not thread-safe. No call blocks, except the destructor, which waits for one answer of the resolver.
class peer_links {
 public:
  using clock = std::chrono::steady_clock;
  using key = std::size_t;  // the place of a peer in the list; the caller's from then on

  static constexpr std::chrono::milliseconds pause{500};  // at least, between the starts of two attempts
  // For the connection, and then for the greetings; more over a slow network. Every `long_attempt`th attempt takes
  // `long_patience`: usual ones are short, because TCP repeats what an outage took after pauses that grow.
  static constexpr std::chrono::milliseconds patience{1'000};
  static constexpr std::chrono::milliseconds long_patience{2'500};
  static constexpr unsigned long_attempt = 3;

  // turn() calls it; peer_ready() and peer_received() may call send() and close().
  class owner {
   public:
    virtual void peer_ready(key which, bool same_host) noexcept = 0;
    virtual void peer_received(key which, std::span<const std::byte> frame) noexcept = 0;
    // It ended, or an attempt failed. Not called after close().
    virtual void peer_ended(key which, std::string_view why) noexcept = 0;

   protected:
    ~owner() = default;
  };

  // Endpoints: tcp://ADDRESS:PORT or tcp://NAME:PORT.
  [[nodiscard]] static detail::expected<std::unique_ptr<peer_links>> open(const std::vector<std::string>& endpoints);
  peer_links(const peer_links&) = delete;
  peer_links& operator=(const peer_links&) = delete;
  ~peer_links() = default;

  // Checks the form of an endpoint. The error is one line.
  [[nodiscard]] static result check(const std::string& endpoint);

  // Readable when turn() has something to do.
  [[nodiscard]] int fd() const noexcept { return events_.get(); }
  // Serves all of them for about a millisecond, and connects where it is time to.
  void turn(clock::time_point now, owner& to) noexcept;
  [[nodiscard]] clock::time_point next_deadline() const noexcept;

  // False: the connection is not ready, or takes no more and ends.
  bool send(key which, const std::string& frame) noexcept;
  // One more peer, with the next key or that of one that was removed. The endpoint is one that check() accepts.
  void add(key which, const std::string& endpoint);
  // Ends the connection for good.
  void remove(key which) noexcept;
  void close(key which, std::chrono::milliseconds again) noexcept;
  // This host's addresses may have changed: makes the connections anew that begin at an address that is gone.
  void follow_addresses(clock::time_point now, owner& to) noexcept;

 private:
  enum class state { idle, looking, connecting, greeting, ready };
  struct link {
    std::string endpoint;  // empty: removed
    state at = state::idle;
    detail::name_lookup names;
    std::vector<std::string> addresses;  // of the name, numeric endpoints not tried yet
    detail::ip_port address;
    std::unique_ptr<control_connection> stream;
    unsigned attempts = 0;      // since it was ready
    clock::time_point began{};  // the last attempt
    clock::time_point due{};    // of the next attempt, or the end of this one's patience
  };

  explicit peer_links(detail::unique_fd events) noexcept : events_(std::move(events)) {}
  void serve(key which, std::uint32_t happened, clock::time_point now, owner& to);
  void receive(key which, clock::time_point now, owner& to);
  void on_time(key which, clock::time_point now, owner& to);
  void connect(key which, clock::time_point now, owner& to);
  void fail(key which, std::string_view why, clock::time_point now, owner& to) noexcept;
  void end(link& one) noexcept;
  void want(key which, bool room) noexcept;
  void flush(key which) noexcept;

  detail::unique_fd events_;
  std::vector<std::unique_ptr<link>> links_;
};

}  // namespace orc
