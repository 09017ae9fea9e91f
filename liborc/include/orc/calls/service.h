// The serving end of calls.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "orc/calls/call_context.h"
#include "orc/calls/call_error.h"
#include "orc/options.h"
#include "orc/result.h"
#include "orc/version.h"

namespace orc {

// For participant::serve.
struct service_options {
  // Threads that run the handler, at most 256. 0: the thread that received the request runs it, which is fastest; calls
  // of all clients then run one after the other.
  std::size_t threads = 0;
  // How many requests may wait, of all clients together: 1 to 65536. When they are that many, a client's newer
  // request ends as call_errc::busy; but if another program has more that wait, its newest ends so instead.
  std::size_t queue = 64;
  // How many bytes they may have together, at least 1; shared in the same way. A request of any size may wait alone.
  std::size_t queue_bytes = std::size_t{64} << 20;
  // True: a client's newer call replaces its waiting one, which ends as call_errc::replaced. For set-points.
  bool replace_waiting = false;
  // Clients at a time, 1 to 1024; each takes a thread and two topics. So that no program takes all places, the clients
  // of one program have at most half of those that others leave, and at least one of the rest. A program is a process
  // that the broker sees over ipc; over tcp it is what it says, and all of an address have seven eighths together. The
  // calls of more clients end as call_errc::refused.
  std::size_t max_clients = 128;
  // Names of the interfaces that the service implements, for find_services: at most 32, of 1 to 255 bytes each.
  std::vector<std::string> interfaces = {};
  // True: publishes a record of each call that ends on the topic NAME/.calls, for recordings and `orc service echo`
  // (orc/calls/call_record.h). The service does not wait for subscribers: one that is too slow misses records. Making
  // and sending a record is part of the client's thread or the pool's, about as long as sending the bytes again. The
  // topic has the service's transports. It is withdrawn when the handlers that run have ended; until then another
  // program that serves the name with `recorded` gets name_taken. A call whose handler withdraws its own service is not
  // recorded. Without a subscriber, a call costs two looks at the clock and at the subscribers. False: nothing.
  bool recorded = false;
  // Transports of the replies, and those over which requests may come. Empty: the participant's. Multicast is a
  // bad_argument.
  transport_set transports = {};
};

// What a service did since it was made.
struct service_figures {
  std::size_t clients = 0;    // connected now
  std::size_t waiting = 0;    // requests that wait now
  std::uint64_t calls = 0;    // handlers that ran to their end
  std::uint64_t failed = 0;   // of these: ended by an exception or fail()
  std::uint64_t refused = 0;  // requests that never ran: busy, replaced, cancelled, lost, too late, of another type
  std::uint64_t dropped = 0;  // messages that violate the protocol, and requests whose id came before

  // Whether all fields are equal.
  bool operator==(const service_figures&) const = default;
};

class service;

namespace detail {

class service_core;

// Where the bytes of a reply go.
class reply_writer {
 public:
  virtual ~reply_writer() = default;
  // Returns memory for the reply, to be filled before the handler returns. Null: no memory.
  [[nodiscard]] virtual std::byte* reserve(std::size_t size) = 0;
  // Whether reserve() was called.
  [[nodiscard]] virtual bool reserved() const noexcept = 0;
  // Ends the call with an error. What the handler reserved is then dropped. Of several calls the last counts.
  virtual void reject(call_error why) = 0;
};

using raw_handler = std::function<void(std::span<const std::byte>, call_context&, reply_writer&)>;

// Withdraws the service, and waits for its handlers until then. False: one still runs, so call it again. Any thread,
// while the participant lives.
[[nodiscard]] ORC_API bool withdraw(service& of, std::chrono::steady_clock::time_point until) noexcept;
// Leaves the service to its participant, whose end withdraws it. Never waits.
ORC_API void leave_to_participant(service&& of) noexcept;

}  // namespace detail

// A service that a program offers. The destructor withdraws it. Move-only. One thread at a time.
class ORC_API service {
 public:
  // No service.
  service() noexcept;
  // For ORC itself: participant::serve makes services.
  service(std::shared_ptr<detail::service_core> core, orc::result made) noexcept;
  // Withdraws the service: waiting calls end as server_died, running handlers see cancelled(). Waits until they have
  // returned, except the one that makes this call.
  ~service();
  service(service&&) noexcept;
  service& operator=(service&&) noexcept;

  // True when the service is offered. That is also so when result() is no_broker: a broker that answers later learns of
  // it.
  explicit operator bool() const noexcept { return core_ != nullptr; }
  // What participant::register_topic returned for the service's name, or bad_argument: an option is out of range.
  [[nodiscard]] const orc::result& result() const noexcept { return made_; }
  // Same as result().error().
  [[nodiscard]] const orc::error& error() const noexcept { return made_.error(); }
  // What it did. Zeros after fork().
  [[nodiscard]] service_figures figures() const;

 private:
  friend bool detail::withdraw(service& of, std::chrono::steady_clock::time_point until) noexcept;
  friend void detail::leave_to_participant(service&& of) noexcept;
  void withdraw() noexcept;

  std::shared_ptr<detail::service_core> core_;
  orc::result made_ = errc::not_registered;
};

}  // namespace orc
