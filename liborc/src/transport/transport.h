// The contract of a transport: what it is, the two ends of a link, and each of their calls.
// liborc/doc/design/transports.md goes through the steps to a new one.
//
// Unless a call says otherwise:
//   Locks      Links are not thread-safe. The publication or subscription holds its own lock during each call, except
//              those marked "Any thread". A link may take further locks, but calls nothing of the core under them
//              except doorbell::ring().
//   Blocking   No call blocks, because senders and receivers wait for the lock meanwhile. sleeper::sleep and
//              sleeper::look_out are the exceptions.
//   Errors     No call throws, except that calls without noexcept throw std::bad_alloc. A noexcept call without memory
//              does less, and counts a sample that it lost as dropped.
//   Ownership  A link owns every descriptor and pointer that it returns; the caller never closes one. A sample_buffer
//              is one owner of its bytes: a link share()s what it keeps. Whoever holds a buffer may free it on any
//              thread, also after the link.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "base/network/port_range.h"
#include "base/threads/doorbell.h"
#include "orc/options.h"
#include "orc/result.h"
#include "transport/frame.h"
#include "wire/control.h"
#include "wire/described_type.h"

namespace orc::detail {

class sample_backlog;

// What a transport is. The core decides by this (core/publication/placement.h, core/links/link_selector.h), not by a
// transport's name.
struct capabilities {
  bool needs_broker = true;      // a subscription finds the publication through the broker only
  bool leaves_host = false;      // other hosts can use it
  bool by_default = false;       // also serves topics that name no transport
  bool needs_directory = false;  // listens in publication_spec::directory
  bool may_be_missing = false;   // some systems lack it: advertise() then returns errc::system_error
  // A lost first message is repeated only after seconds, so the core repeats subscribe() meanwhile.
  bool repeats_late = false;
  bool checks_path = false;  // path_answers() of its subscriber link may return false
  bool sees_end = false;     // its subscriber link is lost when the publication ends or its process dies
};

// The order in which a subscription wants its samples.
struct delivery {
  std::uint32_t depth = 0;  // 0: newest wins; else in order, and this many are kept
};

// The parts of a publication that a transport needs.
struct publication_spec {
  std::string topic;
  wire::id id;
  topic_options options;                            // complete; each transport reads the ones that it has
  std::string directory;                            // of its sockets; exists for transports that need one
  bool listen_remote = false;                       // other hosts may connect, else programs of this host only
  port_range ports = {};                            // ports it may listen on
  bool alone = false;                               // no broker announces it
  std::shared_ptr<sample_backlog> lacking = {};     // samples kept for in-order readers that lag
  std::shared_ptr<doorbell> joined = {};            // rung when a reader joins outside of service()
  std::shared_ptr<const described_type> type = {};  // of the samples; nothing: untyped
};

// The parts of a subscription that a transport needs.
struct subscription_spec {
  std::string topic;
  wire::id publication;  // the only one to accept samples from; zero: any (multicast)
  wire::id id;
  std::uint64_t secret = 0;  // for that publication: proves that two connections are the same subscription's
  orc::detail::delivery delivery;
  request_options options = {};  // each transport reads the ones that it has
  bool alone = false;            // no broker is used
  std::uint64_t newest = 0;      // sequence of the newest sample that came over another link
  // With no publication: the one that was followed before, and its endpoints.
  wire::id before = {};
  std::vector<wire::endpoint> before_at = {};
  std::shared_ptr<doorbell> bell;                   // for links without a descriptor: they ring it when samples arrive
  std::shared_ptr<const described_type> type = {};  // that it expects; nothing: any. options.type is empty
  std::string run_directory = {};  // of the broker's users: ipc and shm connect there and in the well-known places only
};

// Long work of a link, cut into slices, so that the lock of the publication or subscription is free meanwhile.
class upkeep {
 public:
  virtual ~upkeep() = default;
  // Does the next slice, about a millisecond of work, or one comparison of types. Any thread; the caller does not hold
  // that lock.
  virtual void step() noexcept = 0;
};

// What publisher_link::service() leaves.
struct unfinished {
  bool behind = false;             // a reader waits to join, for the rest of a sample, or for a newer one
  monotonic::duration pause = {};  // until the next service(), so that senders get the publication's lock
  // Long work, which the caller shares. The caller releases the lock, calls step() once, and calls service() again.
  // fd() is readable until all of it is done. Null: none.
  std::shared_ptr<upkeep> work = {};
};

// The publication's end: all subscribers that reach it over one transport.
class publisher_link {
 public:
  publisher_link() = default;
  // Ends all its connections and frees its endpoint. The caller holds no lock.
  virtual ~publisher_link() = default;
  publisher_link(const publisher_link&) = delete;
  publisher_link& operator=(const publisher_link&) = delete;

  // ---- the endpoint ----
  // The endpoint on which it listens. Constant.
  [[nodiscard]] virtual const wire::endpoint& where() const noexcept = 0;
  // Appends the endpoints to register: one for each of the host's `addresses` that leads here.
  virtual void append_endpoints(std::vector<wire::endpoint>& to, const std::vector<std::string>& addresses) const {
    (void)addresses;
    to.push_back(where());
  }
  // True when a change of the host's addresses or routes made where() unreachable. The caller then closes the link and
  // opens a new one. Makes a few system calls. Housekeeping thread.
  [[nodiscard]] virtual bool is_outdated() const { return false; }

  // ---- sending ----
  // Returns memory that the readers will read, for a sample of this size. The caller owns it: it fills the memory
  // without the lock, and then commits it or destroys it. False: there is none.
  [[nodiscard]] virtual sample_buffer try_loan(std::size_t) noexcept { return {}; }
  // Largest sample that commit takes, in bytes. Constant. Any thread.
  [[nodiscard]] virtual std::size_t max_sample_bytes() const noexcept { return SIZE_MAX; }
  // Hands the sample to every reader that has room. Remembers the others as behind; service() serves them later. The
  // caller keeps `s`, whose sequence is greater than all before. Its bytes may still be in the caller's memory
  // (sample::source), which is valid during the call: a link that shares them calls fill() first. One that copies them
  // into memory of its own may make that the source: its bytes then stay there until the next call of this link.
  // Nothing changes the bytes of a buffer. Never fails: what a reader does not get is dropped(), or reaches it later.
  virtual void commit(sample& s) noexcept = 0;

  // ---- the housekeeping thread ----
  // Lets readers join and catch up. `last`: the publication's newest sample, null if there is none; the caller keeps
  // it. A reader that joins receives it, if topic_options::keep_last is true. Takes about 0.1 ms at most and leaves the
  // rest for the next call. Called once when the link opens, when fd() is readable, and about once a second.
  virtual unfinished service(sample* last) noexcept = 0;
  // Descriptor that is readable while service() has work; -1: never. Constant.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  // ---- counters, any thread ----
  // Number of readers.
  [[nodiscard]] virtual std::size_t readers() const noexcept = 0;
  // Samples that a reader never took, because a newer one replaced them or its queue was full.
  [[nodiscard]] virtual std::uint64_t dropped() const noexcept = 0;
  // Messages of readers that violate the protocol.
  [[nodiscard]] virtual std::uint64_t malformed() const noexcept = 0;
};

// Which sample a receive wants: the newest, or the one after the last that was returned.
enum class pick : std::uint8_t { newest, next };

// How to wait for a link whose publisher is another process, which knows neither a descriptor nor the subscription's
// bell: on a word in memory that both share. One thread at a time arms, sleeps and disarms.
class sleeper {
 public:
  // Prepares to sleep; the caller holds the subscription's lock, also for disarm() and before_look_out(). False: there
  // is something to take, so do not sleep.
  [[nodiscard]] virtual bool arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  // Records the current state for look_out().
  virtual void before_look_out() noexcept = 0;

  // After before_look_out(), without the lock: spins until the deadline at most. True: something changed.
  [[nodiscard]] virtual bool look_out(const deadline& until) noexcept = 0;
  // After arm(), without the lock: sleeps until a sample arrives, wake() is called or the deadline passes. May return
  // early.
  virtual void sleep(const deadline& until) noexcept = 0;

  // Ends a sleep. Any thread.
  virtual void wake() noexcept = 0;

  // Call it once, when the user polls. Some time later alert_fd() is a descriptor that is readable when try_recv may
  // find something; it is -1 until then. The caller holds the subscription's lock.
  virtual void want_alerts() noexcept = 0;
  [[nodiscard]] virtual int alert_fd() const noexcept = 0;

 protected:
  ~sleeper() = default;
};

enum class link_state : std::uint8_t {
  connecting,
  connected,  // the publication proved its identity through the link, and sends
  refused,    // another publication answered, or this one has no room
  lost        // the other end does not answer, or left
};

// Why a link ended or was refused, as far as the subscription's end knows.
struct link_end {
  enum class cause : std::uint8_t {
    unknown,
    network,            // see `error`
    closed,             // the other end closed it
    no_room,            // the publication has its maximum of subscribers
    other_publication,  // another one answered
    not_orc,            // the other end does not speak ORC's protocol
    unusable            // this process cannot use what the publication offers
  };
  cause why = cause::unknown;
  int error = 0;  // errno
};

// The subscription's end of a link to one publication.
//
// It reports that try_recv may find something in one of three ways, and core/subscription/wait_point waits for all of
// them: by a descriptor (fd), by a word in shared memory (sleeper), or by ringing subscription_spec::bell.
class subscriber_link {
 public:
  subscriber_link() = default;
  virtual ~subscriber_link() = default;
  subscriber_link(const subscriber_link&) = delete;
  subscriber_link& operator=(const subscriber_link&) = delete;

  // Moves the next sample to `out`: with newest wins, the newest that arrived and was not returned yet; in order, the
  // one after the last. False: none. With newest wins it also takes everything older out of the transport, so that no
  // old sample stays there and a second call finds nothing. `which` matters only to links that keep their samples.
  [[nodiscard]] virtual bool try_recv(sample& out, pick which = pick::newest) noexcept = 0;
  // After try_recv: true when more is there than fd() may show.
  [[nodiscard]] virtual bool has_more() const noexcept = 0;

  // Descriptor that is readable when try_recv may find something or the link is lost; -1: the link has none. Constant.
  // Any thread.
  [[nodiscard]] virtual int fd() const noexcept = 0;
  // The word to sleep on; null: the link has none, or is not connected. Owned by the link. A link without fd() and
  // without sleeper() rings the bell.
  [[nodiscard]] virtual detail::sleeper* sleeper() noexcept { return nullptr; }

  // True when samples stay in the link until they are taken, and the newest is always there, so that no thread has to
  // empty the link. Samples that are taken occupy the publisher's memory.
  [[nodiscard]] virtual bool keeps_samples() const noexcept { return false; }
  // After a try_recv that found nothing: a sample is there, but the user holds as many messages as allowed.
  [[nodiscard]] virtual bool exhausted() const noexcept { return false; }
  // Announces that the link ends soon: try_recv may use what it reserves for the last sample.
  virtual void drain() noexcept {}
  // Descriptor that is readable when service() has work, which is seldom; -1: never. The housekeeping polls it.
  [[nodiscard]] virtual int control_fd() const noexcept { return -1; }
  virtual void service() noexcept {}
  // The host's addresses or routes changed. Housekeeping thread.
  virtual void network_changed() noexcept {}
  // After service(): long work, which the caller shares. The caller releases the lock, calls step() once, and calls
  // service() again. Housekeeping thread. Null: none.
  [[nodiscard]] virtual std::shared_ptr<upkeep> work() noexcept { return nullptr; }

  // Sequence of the first sample for this end: the newest when it joined, or the next one when the publication keeps no
  // last sample; 0: there was none. Known once connected.
  [[nodiscard]] virtual std::uint64_t newest_at_join() const noexcept = 0;

  // For links without a publication: what came of this one, which sends from there.
  struct heard {
    std::uint64_t newest = 0;  // sequence of the newest sample; 0: none
    std::uint64_t lost = 0;    // samples before it that did not come, and are not missing in the numbers of this link
  };
  [[nodiscard]] virtual heard heard_of(const wire::id&, const std::vector<wire::endpoint>&) const { return {}; }

  // Checks the path: asks the publisher's host when nothing has come for a while. False: the host does not answer any
  // more; the link itself may notice that much later. Called about twice a second if capabilities::checks_path.
  [[nodiscard]] virtual bool path_answers(monotonic::time_point) noexcept { return true; }

  // Why samples of some sender are dropped although the link may be up: errc::type_mismatch with the sentence. Nothing:
  // none are. It changes in try_recv() and service().
  [[nodiscard]] virtual std::optional<error> type_problem() const { return std::nullopt; }

  // A note about this link for people; empty: none.
  [[nodiscard]] virtual std::string remark() const { return {}; }

  // Current state. Any thread.
  [[nodiscard]] virtual link_state state() const noexcept = 0;
  // True when it sent its hello, which ends an older connection of the same subscription.
  [[nodiscard]] virtual bool is_introduced() const noexcept { return false; }
  // While connecting: true when the publication answered and prepares for this end. The caller then tries no other way.
  [[nodiscard]] virtual bool is_expected() const noexcept { return false; }
  // While connecting: true when the other host accepted the connection. May make a system call.
  [[nodiscard]] virtual bool is_reached() const noexcept { return false; }
  // Why it is lost or refused.
  [[nodiscard]] virtual link_end why_ended() const noexcept { return {}; }
  // Counts messages of the publisher that violate the protocol. Any thread.
  [[nodiscard]] virtual std::uint64_t malformed() const noexcept = 0;
};

template <typename Link>
using link_or_error = expected<std::unique_ptr<Link>>;

// A transport of one participant. Constant, except for the inproc_registry that inproc shares. Any thread.
class transport_kind {
 public:
  virtual ~transport_kind() = default;
  [[nodiscard]] virtual wire::transport name() const noexcept = 0;
  // Constant.
  [[nodiscard]] virtual capabilities can() const noexcept = 0;
  // Opens the publication's end, which the caller owns. The caller holds no lock, so it may take milliseconds, e.g. to
  // reserve memory. The error says what was tried and what failed. errc::system_error of a transport that
  // may_be_missing means that this system lacks it: the caller then offers a topic with other transports without this
  // one, and tries again only after one of them was outdated. In all other cases the caller tries again later.
  [[nodiscard]] virtual link_or_error<publisher_link> advertise(const publication_spec& spec) const = 0;
  // Begins to open the subscription's end towards `address`, which another program chose; the caller owns the link. The
  // caller holds the subscription's lock. subscriber_link::state() shows the outcome. The error says why `address`
  // cannot be reached this way; errc::timed_out means that a later attempt may succeed.
  [[nodiscard]] virtual link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                                 const wire::endpoint& address) const = 0;
};

// Best first.
using transport_list = std::vector<std::unique_ptr<transport_kind>>;

}  // namespace orc::detail
