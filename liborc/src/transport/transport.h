// What a transport offers. Two ends of a link, and the contract of each call.
//
// Links are not thread-safe: publication and subscription serialise all calls except those marked "any thread".
// Nothing here blocks. Nothing here throws, but for what is not noexcept: std::bad_alloc.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/doorbell.h"
#include "core/frame.h"
#include "core/unique_fd.h"
#include "orc/options.h"
#include "orc/result.h"
#include "wire/control.h"
#include "wire/port_range.h"

namespace orc::detail {

class sample_backlog;
class process;

struct capabilities {
  bool zero_copy = false;  // the subscriber reads the bytes where the publisher put them
  bool cross_host = false;
  bool lossy = false;                   // a sample may get lost without either end going away
  std::size_t max_borrowed = SIZE_MAX;  // messages of one subscription that may be alive at a time
};

// How a subscription wants its samples.
struct delivery {
  std::uint32_t depth = 0;  // 0: newest wins; else in order, this many kept
};

// What a publication tells a transport.
struct publication_spec {
  std::string topic;
  wire::id id;
  std::string directory;          // for sockets; exists
  bool listen_remote = false;     // tcp: on all interfaces; else on the loopback only
  std::size_t expected_size = 0;  // shm, as the next two: orc::topic_options
  std::size_t history = 1;
  shared_memory_options memory = {};
  std::string multicast = {};                    // URL
  bool alone = false;                            // no broker tells of it
  bool keep_last = true;                         // readers that join get the last sample
  std::shared_ptr<sample_backlog> lacking = {};  // by in-order readers of links that keep samples for them
  orc::priority priority = orc::priority::normal;
  wire::port_range ports = {};  // to listen at
};

// What a subscription tells a transport.
struct subscription_spec {
  std::string topic;
  wire::id publication;  // the only one to accept samples from; none: any (multicast)
  wire::id id;
  std::uint64_t secret = 0;  // for that publication: proves that another connection is this subscription's as well
  orc::detail::delivery delivery;
  std::size_t max_messages = 8;    // that the user may hold at a time, where they occupy the publisher's memory
  std::string multicast = {};      // URL of this program's own network
  bool alone = false;              // there is no broker
  std::uint64_t newest = 0;        // sequence of the newest sample of this publication that came over another link
  std::shared_ptr<doorbell> bell;  // rung when samples arrive, by links without a descriptor
  std::string run_directory = {};  // of the broker's users: Unix sockets are used there and in the well-known places
};

// Work of a publisher link that takes long, cut into slices, so that it need not hold the publication's lock.
class upkeep {
 public:
  virtual ~upkeep() = default;
  // Does the next slice, about a millisecond of work. Any thread, without the publication's lock.
  virtual void step() noexcept = 0;
};

// The publication's end: all subscribers that reach it over one transport.
class publisher_link {
 public:
  publisher_link() = default;
  virtual ~publisher_link() = default;
  publisher_link(const publisher_link&) = delete;
  publisher_link& operator=(const publisher_link&) = delete;

  // Where subscribers find it.
  [[nodiscard]] virtual const wire::endpoint& where() const noexcept = 0;
  // The same as it is registered: more than one where several of the host's `addresses` lead there.
  virtual void append_endpoints(std::vector<wire::endpoint>& to, const std::vector<std::string>& addresses) const {
    (void)addresses;
    to.push_back(where());
  }
  // After a change of the host's addresses or routes: it cannot be reached at where(), and has to be opened anew.
  [[nodiscard]] virtual bool is_outdated() const { return false; }
  // Any thread.
  [[nodiscard]] virtual std::size_t readers() const noexcept = 0;

  // Memory in which the readers will read the next sample, to be filled and given to commit; dropping it discards it.
  // False: there is none, a frame serves as well.
  [[nodiscard]] virtual sample_buffer try_loan(std::size_t) noexcept { return {}; }
  // Nobody would get what is committed now, and nobody will ask for it but through service().
  [[nodiscard]] virtual bool idle() const noexcept { return readers() == 0; }
  // Does in one step what try_loan, filling and commit do. False: this link cannot, or not now.
  [[nodiscard]] virtual bool try_send(const void*, std::size_t, const wire::sample_header&) noexcept { return false; }
  // After it: the newest sample, kept by the link itself. False: no memory.
  [[nodiscard]] virtual bool newest(sample&) noexcept { return false; }

  // Bytes that a sample may have at most. Any thread.
  [[nodiscard]] virtual std::size_t largest_sample() const noexcept { return SIZE_MAX; }
  // Hands the sample to every reader that has room. For those that have none it remembers that they are behind, and
  // service() gives them what they wait for. `s` stays the caller's; its bytes are shared, not changed.
  virtual void commit(sample& s) noexcept = 0;

  // Lets readers join (they get `last`, if there is one and publication_spec::keep_last) and catch up; takes about a
  // tenth of a millisecond at most, and leaves the rest for the next time. Called by the housekeeping: when fd() is
  // readable, and about once a second.
  virtual void service(sample* last) noexcept = 0;
  // After service(): how long it should be left alone, so that those who wait for the publication's lock get it.
  [[nodiscard]] virtual monotonic::duration rest() const noexcept { return monotonic::duration::zero(); }
  // Readable while service() has work. Constant. -1: never any.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  // A reader waits to join, for a part of a sample, or for a newer one than it has.
  [[nodiscard]] virtual bool behind() const noexcept = 0;
  // After service(): work for which the caller releases the lock, calls step() once, and comes back to service(). fd()
  // is readable until all of it is done. Null: none.
  [[nodiscard]] virtual std::shared_ptr<upkeep> work() noexcept { return nullptr; }

  // Any thread. Samples that were replaced by a newer one, or dropped from a full queue, before a reader took them;
  // and messages from readers that made no sense.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t malformed() const noexcept = 0;
};

// What a receive wants: the newest sample, or the one after the last that was returned.
enum class pick : std::uint8_t { newest, next };

// For links whose publisher is another process that knows neither a descriptor nor the subscription's bell: waiting on
// a word in memory that both share. One thread at a time arms, sleeps and disarms.
class sleeper {
 public:
  // With the subscription's lock. False: there is something to take, do not sleep.
  [[nodiscard]] virtual bool arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  // Remembers how things are now, for look_out.
  virtual void before_look_out() noexcept = 0;

  // Without the lock. After before_look_out(): looks, without sleeping, for at most `time`. True: something changed.
  [[nodiscard]] virtual bool look_out(std::chrono::microseconds time, const deadline& until) noexcept = 0;
  // After arm(): until a sample arrives, wake() is called, a deadline, or for no reason.
  virtual void sleep(const deadline& until) noexcept = 0;

  // Any thread.
  virtual void wake() noexcept = 0;

 protected:
  ~sleeper() = default;
};

enum class link_state : std::uint8_t {
  connecting,
  connected,  // the publication's identity was checked through the link, and it sends
  refused,    // somebody else answered, or the publication has no room for us
  lost        // nobody is there, or not any more
};

// Why a link ended, or was refused, as far as the subscription's end can tell.
struct link_end {
  enum class cause : std::uint8_t {
    unknown,
    network,            // `error` says how
    closed,             // by the other end
    no_room,            // the publication has as many subscribers as it takes
    other_publication,  // another one answered
    not_orc,            // what came was not ORC's protocol
    unusable            // this process cannot use what the publication offers
  };
  cause why = cause::unknown;
  int error = 0;  // errno
};

// The subscription's end.
class subscriber_link {
 public:
  subscriber_link() = default;
  virtual ~subscriber_link() = default;
  subscriber_link(const subscriber_link&) = delete;
  subscriber_link& operator=(const subscriber_link&) = delete;

  // The newest sample that arrived and was not returned yet; with an in-order delivery the next one. False: none.
  // When the newest wins everything older is taken out of the transport as well, so that nothing stale waits there
  // and a second call finds nothing. pick::next matters to links that keep what they have not returned.
  [[nodiscard]] virtual bool try_recv(sample& out, pick which = pick::newest) noexcept = 0;
  // After a try_recv: it left something for the next one that the descriptor may not show.
  [[nodiscard]] virtual bool has_more() const noexcept = 0;

  // Readable when try_recv may find something (or that the link is lost). -1: the subscription's bell is rung instead,
  // or sleeper() is not null. Any thread, constant.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  // Samples stay in the link until they are taken, and the newest is always there: nobody has to empty it. Those that
  // are taken occupy the publisher's memory.
  [[nodiscard]] virtual bool keeps_samples() const noexcept { return false; }
  // After a try_recv that found nothing: there is something, but the user holds as many messages as he may.
  [[nodiscard]] virtual bool exhausted() const noexcept { return false; }
  // The link is about to go: what it keeps back for the last sample may be used now.
  virtual void drain() noexcept {}
  [[nodiscard]] virtual detail::sleeper* sleeper() noexcept { return nullptr; }
  // For links that do not show fd(): readable when service() has something to do, which is seldom. -1: never.
  [[nodiscard]] virtual int control_fd() const noexcept { return -1; }
  virtual void service() noexcept {}
  // The user wants a descriptor: some time later alert_fd() is one that is readable when try_recv may find something.
  virtual void want_alerts() noexcept {}
  [[nodiscard]] virtual int alert_fd() const noexcept { return -1; }

  // Sequence of the first sample to arrive: the newest when this end joined, or the next one when the publication keeps
  // no last sample; 0: there was none. Known once connected.
  [[nodiscard]] virtual std::uint64_t newest_at_join() const noexcept = 0;

  // Looks after the path, about twice a second: asks when nothing has come for a while. False: the publisher's host
  // does not answer any more, which the link itself may notice much later.
  [[nodiscard]] virtual bool path_answers(monotonic::time_point) noexcept { return true; }

  // What a person should know about this way; empty: nothing.
  [[nodiscard]] virtual std::string remark() const { return {}; }

  // Any thread.
  [[nodiscard]] virtual link_state state() const noexcept = 0;
  // It told the publication who it is, which ends an older connection of the same subscription.
  [[nodiscard]] virtual bool is_introduced() const noexcept { return false; }
  // While connecting: the publication answered, and makes room for this end. Other ways need not be tried.
  [[nodiscard]] virtual bool is_expected() const noexcept { return false; }
  // While connecting: the other end's host took the connection. May ask the kernel.
  [[nodiscard]] virtual bool is_reached() const noexcept { return false; }
  // Once it is lost or refused.
  [[nodiscard]] virtual link_end why_ended() const noexcept { return {}; }
  [[nodiscard]] virtual std::uint64_t malformed() const noexcept = 0;
};

template <typename Link>
using link_or_error = std::variant<std::unique_ptr<Link>, error>;

// One way to move samples. Stateless but for what `process` holds.
class transport_kind {
 public:
  virtual ~transport_kind() = default;
  [[nodiscard]] virtual wire::transport name() const noexcept = 0;
  [[nodiscard]] virtual capabilities can() const noexcept = 0;
  // Opens the publication's end.
  [[nodiscard]] virtual link_or_error<publisher_link> advertise(const publication_spec& spec) const = 0;
  // Opens the subscription's end towards `address`. An error means: cannot be reached this way, and why;
  // errc::timed_out: not at this moment.
  [[nodiscard]] virtual link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                                 const wire::endpoint& address) const = 0;
};

// All transports, best first. The one place that lists them.
[[nodiscard]] std::vector<std::unique_ptr<transport_kind>> make_transports(const std::shared_ptr<process>& process);

}  // namespace orc::detail
