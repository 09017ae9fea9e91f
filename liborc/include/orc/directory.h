// Lists, describes and watches the topics, participants and hosts that the address broker knows. It registers nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orc/options.h"
#include "orc/prediction.h"
#include "orc/result.h"
#include "orc/timeout.h"
#include "orc/version.h"

namespace orc {

namespace detail {
class directory;
class directory_watcher;
}  // namespace detail

// Whether a topic is ORC's own: a part of its name, between slashes, begins with a dot. Services and parameters have
// such topics. Programs do not register them, and lists leave them out unless asked.
[[nodiscard]] constexpr bool is_reserved(std::string_view topic) noexcept {
  return topic.starts_with('.') || topic.find("/.") != std::string_view::npos;
}

// A program's session with ORC, as other programs see it.
struct participant_state {
  std::string id = {};       // 32 hexadecimal digits; the broker makes it up, and another one after it restarts
  std::string name = {};     // for people
  std::string host = {};     // equal for programs on the same host and in the same pid namespace
  std::uint32_t pid = 0;     // in its own pid namespace
  std::string library = {};  // "liborc 0.1.0"; empty in the states of topics
  // In the states of publications: whom its broker saw, whatever the program says of itself.
  std::string client = {};       // "user 1000", "address 192.0.2.1"; empty: the broker is older
  std::uint32_t client_pid = 0;  // 0: the broker does not see the process

  // Whether all fields are equal.
  bool operator==(const participant_state&) const = default;
};

// A host on which participants run.
struct host_state {
  std::string id = {};           // participant_state::host
  std::size_t participants = 0;  // that run on it

  // Whether all fields are equal.
  bool operator==(const host_state&) const = default;
};

// An address at which a publication listens.
struct endpoint {
  orc::transport transport = {};  // that connects to it
  std::string address = {};       // as the publication registered it: tcp://10.0.0.2:40000, ipc:///run/…

  // Whether all fields are equal.
  bool operator==(const endpoint&) const = default;
};

// The counters of a publication since it was made. Participants report them once a second.
struct publication_counters {
  std::int64_t sampled_ns = 0;         // the publisher's monotonic clock when it reported
  std::chrono::milliseconds age = {};  // time since the broker received the report
  std::uint64_t sent = 0;              // samples
  std::uint64_t bytes = 0;             // of these samples
  std::uint64_t dropped = 0;           // samples that a newer one replaced before a reader took them
  std::uint32_t readers = 0;           // links up
  // The publisher's monotonic clock when it sent its newest sample. Its age is sampled_ns - last_sent_ns + age.
  // Nothing: it sent none, or its library is older than this counter.
  std::optional<std::int64_t> last_sent_ns = {};
  // Standard deviation of the intervals between the samples since the report before. While there are fewer than two
  // intervals, they count for the next report. Nothing: fewer than two, the publisher's clock was set meanwhile, or its
  // library is older than this counter.
  std::optional<std::int64_t> jitter_ns = {};

  // Whether all fields are equal.
  bool operator==(const publication_counters&) const = default;
};

// The type of a topic, without the bytes of its schema: directory::find_type has them.
struct topic_type {
  std::string name = {};              // type_description::name
  std::string schema_encoding = {};   // type_description::schema_encoding
  std::string message_encoding = {};  // type_description::message_encoding
  std::uint64_t hash = 0;             // orc::hash_of the description
  std::size_t schema_size = 0;        // bytes

  // Whether all fields are equal.
  bool operator==(const topic_type&) const = default;
};

// The sending end of a topic.
struct publication_state {
  std::string id = {};                   // 32 hexadecimal digits; a new one each time the topic is registered
  participant_state participant = {};    // the publisher
  std::vector<endpoint> endpoints = {};  // addresses at which subscribers reach it
  std::optional<topic_type> type = {};   // nothing: untyped
  bool keep_last = true;                 // topic_options::keep_last
  // Nothing: not reported yet, or from a watch, or the publisher is a participant of a peer broker.
  std::optional<publication_counters> counters = {};
  // Of the host whose broker reported it; empty: a participant of the broker that answers published it.
  std::string host_name = {};
  bool stale = false;  // that broker did not answer when this was asked; the publisher may still send

  // Whether all fields are equal.
  bool operator==(const publication_state&) const = default;
};

// The counters of a subscription since it was made.
struct subscription_counters {
  std::chrono::milliseconds age = {};              // time since the broker received the report
  std::uint64_t received = 0;                      // samples
  std::uint64_t bytes = 0;                         // of these samples
  std::uint64_t missed = 0;                        // samples that it never received: subscriber::missed()
  std::uint64_t malformed = 0;                     // messages of the publisher that violate the protocol
  std::uint64_t stale = 0;                         // dropped because they were older than max_age
  std::optional<std::int64_t> sample_age_ns = {};  // of the newest sample when it arrived
  std::optional<orc::transport> transport = {};    // of the link in use
  std::string reason = {};                         // why this transport: link_info::reason
  std::int64_t sampled_ns = 0;                     // the subscriber's monotonic clock when it reported
  std::optional<prediction_info> prediction = {};  // nothing: it does not wait predictively (request_options::wait)

  // Whether all fields are equal.
  bool operator==(const subscription_counters&) const = default;
};

// A receiving end of a topic.
struct subscription_state {
  std::string id = {};                                 // 32 hexadecimal digits
  participant_state participant = {};                  // the subscriber
  std::uint32_t max_age_ms = 0;                        // request_options::max_age, rounded up; 0: any age
  std::optional<topic_type> type = {};                 // that it expects; nothing: any
  std::optional<subscription_counters> counters = {};  // nothing: not reported yet

  // Whether all fields are equal.
  bool operator==(const subscription_state&) const = default;
};

// A topic that is published, requested, or both.
struct topic_state {
  std::string name = {};                               // of the topic
  std::optional<publication_state> publication = {};   // nothing: no participant publishes it; shared: the first of all
  std::size_t subscription_count = 0;                  // all of them
  std::vector<subscription_state> subscriptions = {};  // from describe all, from topics at most 16, from a watch none
  bool shared = false;                                 // topic_options::shared
  std::vector<publication_state> others = {};          // of a shared topic: the other publications, by their ids

  // Whether all fields are equal.
  bool operator==(const topic_state&) const = default;
};

// The address broker that answers.
struct broker_state {
  std::string endpoint = {};              // at which it answered, as a numeric address
  std::string version = {};               // "orc-broker 0.1.0"
  std::uint64_t epoch = 0;                // random per run of the broker
  std::chrono::milliseconds uptime = {};  // since it started
  std::size_t participants = 0;           // connected now
  std::uint64_t rejected = 0;             // malformed messages dropped

  // Whether all fields are equal.
  bool operator==(const broker_state&) const = default;
};

// The broker of another host, which reports its topics to the one that answers.
struct peer_broker_state {
  // Whether it answers.
  enum class kind : std::uint8_t {
    connecting,  // it has not answered yet
    up,          // it answers
    stale,       // it does not answer, and its topics are kept
    lost,        // it does not answer, and its topics are gone
    refused      // its answers break a rule, or it is the broker that answers
  };
  std::string endpoint = {};              // as orc-broker --peer names it
  std::string host_name = {};             // as it calls itself; empty: it never answered
  kind state = kind::connecting;          // whether it answers
  std::size_t topics = 0;                 // publications that it reported
  std::chrono::milliseconds silent = {};  // since its last answer; 0: it never answered
  std::string reason = {};                // why it is not up

  // Whether all fields are equal.
  bool operator==(const peer_broker_state&) const = default;
};

// The name of a state: "connecting", "up", ….
[[nodiscard]] ORC_API std::string_view to_string(peer_broker_state::kind state) noexcept;

// The broker that answers, as the brokers of other hosts see it, and these brokers.
struct federation_state {
  std::string host_name = {};                 // of the broker's host
  std::size_t topics = 0;                     // that its own participants publish
  std::vector<peer_broker_state> peers = {};  // in the order of the broker's configuration

  // Whether all fields are equal.
  bool operator==(const federation_state&) const = default;
};

// How to reach the address broker.
struct directory_options {
  // As participant_options::broker. "none" is a bad_argument, because only a broker has a directory.
  std::string broker = {};
  // A question waits so long for the broker's answer, and longer as participant_options::broker_timeout does. 0: not at
  // all; orc::forever: without limit.
  std::chrono::nanoseconds broker_timeout = std::chrono::seconds(2);
  // Waiting calls return errc::closed once this descriptor is readable (an eventfd, a signalfd). -1: none.
  int stop_fd = -1;
};

// What a watch reports.
struct watch_options {
  // At most 16 patterns of topic names. `*` stands for any characters but `/`, `**` for any characters; both also stand
  // for none. "arm/*" matches arm/position; "arm/**" also matches arm/left/position. Empty: no topics.
  std::vector<std::string> topics = {"**"};
  bool participants = false;  // reports participants that come and go
  bool hosts = false;         // reports hosts that come, change and go
};

// One change. It carries the new state, not a difference.
struct directory_change {
  // What changed.
  enum class kind : std::uint8_t {
    topic,             // came, or its publication, endpoints, type or number of subscriptions changed
    topic_gone,        // no participant publishes or requests it any more; only topic.name is set
    participant,       // came
    participant_gone,  // ended, or its lease did
    host,              // its first participant came, or the number of its participants changed
    host_gone,         // its last participant is gone
    complete,          // everything that exists has been reported; comes again each time the broker is back
    broker_lost        // the broker does not answer; earlier changes may be out of date until `complete`
  };
  kind what = kind::complete;          // decides which of the next three is set
  topic_state topic = {};              // for topic and topic_gone
  participant_state participant = {};  // for participant and participant_gone
  host_state host = {};                // for host and host_gone
};

// A stream of changes: first everything that exists, then `complete`, then each change.
//
// A watch always learns the last state, however slowly the program reads, and across restarts of the broker. What
// changes several times between two reads is reported once, in its last state. What comes and goes between two reads
// may be left out. The broker keeps no queue for a watch.
//
// Any thread may call; calls on one watch wait for each other.
class ORC_API directory_watch {
 public:
  // For directory::watch().
  explicit directory_watch(std::unique_ptr<detail::directory_watcher> made) noexcept;
  ~directory_watch();
  directory_watch(const directory_watch&) = delete;
  directory_watch& operator=(const directory_watch&) = delete;
  // Moves the watch; the old one returns errc::closed.
  directory_watch(directory_watch&&) noexcept;
  // Ends this watch, and moves the other one here.
  directory_watch& operator=(directory_watch&&) noexcept;

  // Returns the next change in `change`. Waits for it at most as long as the timeout (0: not at all, orc::forever:
  // without limit). Signals do not end the wait. `change` is untouched unless the result is ok.
  // - nothing_new (timeout 0), timed_out: no change. The message says so if no broker answers.
  // - refused: the broker is too old to be watched, or too many programs watch it. The watch asks again within seconds.
  // - bad_argument: the watch's or the directory's options, or a negative timeout.
  // - closed: directory_options::stop_fd is readable, or the watch was moved from.
  // - forked, no_memory, no_descriptors.
  [[nodiscard]] result next_change(directory_change& change, std::chrono::nanoseconds timeout);
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] result next_change(directory_change& change, int timeout_ms) {
    return next_change(change, detail::timeout_of(timeout_ms));
  }

  // Returns a descriptor for poll, epoll or asyncio that is readable when next_change(0) may return a change. When it
  // is, call next_change(0) until it returns nothing_new. It belongs to the watch: do not read, write or close it. -1:
  // next_change has an error to return, or the watch was inherited by fork().
  [[nodiscard]] int fd() const noexcept;

 private:
  std::unique_ptr<detail::directory_watcher> watcher_;
};

// Names and patterns are full names, with the namespaces of their participants: participant::resolve() makes them. A
// slash at the beginning is left out.
//
// Asks the address broker. Any thread may call; calls on one directory wait for each other. It is no participant, so
// other programs do not see it. A child of fork() must make its own.
//
// Each call waits for the broker's answers, for each one at most broker_timeout. It asks again when a broker
// restarts meanwhile. `found` is untouched unless the result is ok.
// - no_broker: no broker answered. The message names each endpoint that was tried.
// - bad_argument: the options or the pattern.
// - refused: by the broker; the message has its reason.
// - closed: stop_fd is readable, or the directory was moved from.
// - forked, no_memory, no_descriptors.
class ORC_API directory {
 public:
  // Neither waits for a broker nor fails without one.
  directory();
  explicit directory(directory_options options);
  ~directory();
  directory(const directory&) = delete;
  directory& operator=(const directory&) = delete;
  // Moves the connection; the old directory returns errc::closed.
  directory(directory&&) noexcept;
  // Ends this directory, and moves the other one here.
  directory& operator=(directory&&) noexcept;

  // Returns the broker that answers.
  [[nodiscard]] result broker(broker_state& found);

  // Returns the topics whose names match `pattern` (as in watch_options::topics), in the order of their names.
  [[nodiscard]] result topics(std::string_view pattern, std::vector<topic_state>& found);

  // Returns one topic with its counters and all subscriptions.
  // - unknown_topic: no participant publishes or requested it.
  // - bad_name: this cannot be the name of a topic.
  [[nodiscard]] result describe(std::string_view topic, topic_state& found);

  // Returns the description of a type with its schema.
  // - unknown_type: the broker does not have the schema: no participant sent it yet, or no topic has the type any more.
  // - bad_argument: `which.schema_size` is above max_schema_bytes.
  // - refused: the broker refused, or sent something else than the next part of this schema.
  [[nodiscard]] result find_type(const topic_type& which, type_description& found);

  // Returns them in the order in which they came. refused: the broker is older than this call.
  [[nodiscard]] result participants(std::vector<participant_state>& found);

  // Returns them in the order of their ids. Fails as participants() does.
  [[nodiscard]] result hosts(std::vector<host_state>& found);

  // Returns the brokers of other hosts. refused: the broker is older than this call.
  [[nodiscard]] result federation(federation_state& found);

  // Returns a watch with a connection of its own, which may outlive the directory. Its first next_change() returns the
  // problem of the options, if there is one.
  [[nodiscard]] directory_watch watch(watch_options options = {}) const;

 private:
  std::unique_ptr<detail::directory> directory_;
};

}  // namespace orc
