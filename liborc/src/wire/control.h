// Control-plane messages as plain structs. This is the only code that turns bytes into them. Wire format:
// schemas/orc_protocol.fbs, schemas/PROTOCOL.md. The broker, participants and the tools use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/expected.h"

namespace orc::wire {

inline constexpr std::uint16_t protocol_version = 1;
inline constexpr std::size_t max_control_bytes = 64 * 1024;
inline constexpr std::size_t max_topic_name = 255;
inline constexpr std::size_t max_schema_part = 32 * 1024;  // bytes per SchemaPart
inline constexpr std::size_t max_text = 255;               // of names, host identities, encodings, reasons, endpoints
inline constexpr std::size_t max_error_text = 1023;        // an Error quotes names that may be 255 bytes each
inline constexpr std::size_t max_endpoints = 16;
inline constexpr std::size_t max_tcp_endpoints = 8;  // of those: addresses of one host
inline constexpr std::size_t max_counters = 256;     // per Heartbeat and kind; a participant with more sends several
inline constexpr std::size_t max_patterns = 16;      // per Watch
inline constexpr std::size_t max_publishers = 64;    // of a shared topic
inline constexpr std::size_t max_peers = 64;         // of a broker
inline constexpr std::size_t max_displaced = 64;     // publications, per state

// Random 128-bit identity. All zero: none.
struct id {
  std::uint64_t hi = 0;
  std::uint64_t lo = 0;
  auto operator<=>(const id&) const = default;
  explicit operator bool() const noexcept { return (hi | lo) != 0; }
  [[nodiscard]] std::string hex() const;  // 32 digits
  [[nodiscard]] static id random();       // from getrandom(2)
};

enum class transport : std::uint8_t { none = 0, inproc = 1, ipc = 2, tcp = 3, shm = 4, multicast = 5 };
[[nodiscard]] std::string_view name_of(transport t) noexcept;
[[nodiscard]] std::optional<transport> transport_named(std::string_view name) noexcept;

enum class error_code : std::uint8_t {
  none = 0,
  bad_request = 1,
  version = 2,
  unknown_participant = 3,
  name_taken = 4,
  unknown_topic = 5,
  limit = 6,
  id_taken = 7,
  unknown_schema = 8
};

struct endpoint {
  wire::transport transport = wire::transport::none;
  std::string address;
  bool operator==(const endpoint&) const = default;
};

// A type description without the bytes of its schema.
struct type_reference {
  std::string name;
  std::string schema_encoding;
  std::string message_encoding;
  std::uint64_t hash = 0;  // orc::hash_of the description
  std::uint32_t schema_size = 0;
  bool operator==(const type_reference&) const = default;
};

struct hello {
  id participant;
  std::string name;
  std::string host;
  std::uint32_t pid = 0;
  std::uint64_t start_time = 0;
  std::string library;
  id secret = {};  // none: the session cannot be moved to another connection
  bool operator==(const hello&) const = default;
};
struct register_topic {
  std::string topic;
  id publication;
  std::vector<endpoint> endpoints;
  std::optional<type_reference> type;
  bool keep_last = true;
  bool shared = false;
  bool operator==(const register_topic&) const = default;
};
struct unregister_topic {
  std::string topic;
  id publication;
  bool operator==(const unregister_topic&) const = default;
};
struct request_topic {
  std::string topic;
  id subscription;
  std::uint32_t max_age_ms = 0;             // 0: any age
  std::optional<type_reference> type = {};  // that it expects; nothing: any
  bool knows_shared = true;                 // false: an older participant
  bool operator==(const request_topic&) const = default;
};
struct release_topic {
  std::string topic;
  id subscription;
  bool operator==(const release_topic&) const = default;
};
struct publication_counters {
  id publication;
  std::uint64_t sampled_ns = 0;
  std::uint64_t sent = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;
  std::uint32_t readers = 0;
  std::uint64_t last_sent_ns = 0;
  std::int64_t jitter_ns = -1;
  bool operator==(const publication_counters&) const = default;
};
struct prediction {
  std::uint64_t period_ns = 0;
  std::uint64_t hits = 0;
  std::uint64_t early = 0;
  std::uint64_t misses = 0;
  std::uint64_t watched_ns = 0;
  bool operator==(const prediction&) const = default;
};
struct subscription_counters {
  id subscription;
  std::uint64_t sampled_ns = 0;
  std::uint64_t received = 0;
  std::uint64_t bytes = 0;
  std::uint64_t missed = 0;
  std::uint64_t malformed = 0;
  std::int64_t age_ns = -1;
  wire::transport transport = wire::transport::none;
  std::string reason;
  std::uint64_t stale = 0;
  std::optional<wire::prediction> prediction = {};
  bool operator==(const subscription_counters&) const = default;
};
struct heartbeat {
  std::vector<publication_counters> publications;
  std::vector<subscription_counters> subscriptions;
  bool operator==(const heartbeat&) const = default;
};
struct goodbye {
  bool operator==(const goodbye&) const = default;
};
struct alive {
  bool operator==(const alive&) const = default;
};
struct list_topics {
  std::string after;
  std::uint32_t limit = 0;
  bool operator==(const list_topics&) const = default;
};
struct describe_topic {
  std::string topic;
  id after = {};  // the last subscription of the previous page; none: the first page
  bool operator==(const describe_topic&) const = default;
};
// How far the broker has reported to a watcher, copied from its last answer. All 0: nothing yet.
struct watch_position {
  std::uint64_t epoch = 0;
  std::uint64_t snapshot = 0;  // revision at which the full report began
  std::uint64_t until = 0;     // revision up to which it reported
  bool operator==(const watch_position&) const = default;
};
struct watch {
  std::vector<std::string> topics;  // patterns: name_pattern.h
  bool participants = false;
  watch_position position;
  std::uint32_t wait_ms = 0;
  bool own = false;  // of a peer broker
  bool operator==(const watch&) const = default;
};

// A part of the schema of a type.
struct schema_part {
  std::uint64_t hash = 0;    // of the type
  std::uint32_t offset = 0;  // of `bytes` in the schema
  std::string bytes;         // at most max_schema_part
  bool operator==(const schema_part&) const = default;
};
struct get_schema {
  std::uint64_t hash = 0;
  std::uint32_t offset = 0;
  bool operator==(const get_schema&) const = default;
};

// Of a subscription, to the broker; and from the broker to the publisher.
struct type_mismatch {
  std::string topic;
  id subscription;
  std::string text;  // the difference, as the subscriber sees it; at most max_error_text
  std::string participant_name;
  std::uint32_t pid = 0;
  id publication = {};  // of a shared topic: whose type it is
  bool operator==(const type_mismatch&) const = default;
};

struct welcome {
  std::uint64_t epoch = 0;
  std::uint32_t lease_ms = 0;
  std::uint32_t heartbeat_ms = 0;
  bool remote = false;
  std::string version;
  bool operator==(const welcome&) const = default;
};
struct ack {
  bool operator==(const ack&) const = default;
};
struct error {
  error_code code = error_code::none;
  std::string text;
  bool operator==(const error&) const = default;
};
// Participants and subscriptions have ids that the broker makes up, because their own ids are credentials.
struct publication_info {
  id publication;
  id participant;
  std::string participant_name;
  std::string host;
  std::uint32_t pid = 0;
  std::vector<endpoint> endpoints;
  std::optional<type_reference> type;
  std::optional<publication_counters> counters;
  std::uint32_t received_ago_ms = 0;
  bool keep_last = true;
  std::string host_name = {};  // of a peer broker's host; empty: this broker's own
  bool stale = false;          // the peer broker does not answer
  std::uint64_t age_ms = 0;    // to a peer broker
  std::string client = {};     // whose share it counts for at its broker, which sees this and the next
  std::uint32_t client_pid = 0;
  bool operator==(const publication_info&) const = default;
};
struct subscription_info {
  id subscription;
  id participant;
  std::string participant_name;
  std::string host;
  std::uint32_t pid = 0;
  std::optional<subscription_counters> counters;
  std::uint32_t received_ago_ms = 0;
  std::uint32_t max_age_ms = 0;
  std::optional<type_reference> type = {};
  bool operator==(const subscription_info&) const = default;
};
struct topic_state {
  std::string topic;
  std::optional<publication_info> publication;
  std::vector<subscription_info> subscriptions;
  std::uint32_t subscription_count = 0;
  bool more = false;          // ask again with describe_topic::after
  bool lacks_schema = false;  // of the type that the question declared: send it
  bool shared = false;
  std::vector<publication_info> publications = {};  // of a shared topic, which has no `publication`
  std::vector<id> displaced = {};                   // to a peer broker: publications that lose the name to this one
  bool operator==(const topic_state&) const = default;
};
struct topic_list {
  std::vector<topic_state> topics;
  bool more = false;
  std::uint32_t participants = 0;
  std::uint64_t epoch = 0;
  std::uint64_t uptime_ms = 0;
  std::uint64_t rejected = 0;
  bool operator==(const topic_list&) const = default;
};
struct probe {
  bool operator==(const probe&) const = default;
};
struct participant_info {
  id participant;
  bool gone = false;
  std::string name;
  std::string host;
  std::uint32_t pid = 0;
  std::string library;
  bool operator==(const participant_info&) const = default;
};
struct changes {
  watch_position position;
  bool reset = false;
  bool more = false;
  std::vector<topic_state> topics;
  std::vector<participant_info> participants;
  std::string host_name = {};  // to a peer broker: of this host
  bool operator==(const changes&) const = default;
};

struct list_peers {
  bool operator==(const list_peers&) const = default;
};
enum class peer_state : std::uint8_t { connecting = 0, up = 1, stale = 2, lost = 3, refused = 4 };
struct peer_info {
  std::string endpoint;
  std::string host_name;
  peer_state state = peer_state::connecting;
  std::uint32_t topics = 0;
  std::uint32_t silent_ms = 0;
  std::string reason;
  bool operator==(const peer_info&) const = default;
};
struct peer_list {
  std::string host_name;
  std::uint32_t topics = 0;
  std::vector<peer_info> peers;
  bool operator==(const peer_list&) const = default;
};

// Same order as union Body of the schema.
using body = std::variant<hello, register_topic, unregister_topic, request_topic, release_topic, heartbeat, goodbye,
                          alive, list_topics, describe_topic, welcome, ack, error, topic_state, topic_list, probe,
                          watch, changes, schema_part, get_schema, type_mismatch, list_peers, peer_list>;

struct envelope {
  std::uint64_t request = 0;
  body content;
  bool operator==(const envelope&) const = default;
};

// Returns the bytes of one frame. Never fails for contents within the limits above.
[[nodiscard]] std::string encode(const envelope& message);

// The most bytes that a state takes in a `changes` frame. encode() leaves none out while their sum stays within
// room_for_changes.
[[nodiscard]] std::size_t largest_size(const topic_state& of) noexcept;
[[nodiscard]] std::size_t largest_size(const participant_info& of) noexcept;
[[nodiscard]] std::size_t largest_size(const publication_info& of) noexcept;
inline constexpr std::size_t room_for_changes = max_control_bytes - 1024;
// For the publications of one shared topic. The rest of a frame is for its subscriptions.
inline constexpr std::size_t room_for_publications = 48 * 1024;

// The problem of a frame, as a sentence for the peer or the log.
struct malformed {
  error_code code = error_code::bad_request;
  std::uint64_t request = 0;  // for the answer, if it could be read; else 0
  std::string text;
};

// Decodes bytes of a stranger. Checks size, identifier, FlatBuffers structure (own depth and table limits), version,
// required fields, lengths, ranges, topic names. Any alignment. Never throws on bad bytes and never reads outside
// `bytes`.
[[nodiscard]] detail::expected<envelope, malformed> decode(std::span<const std::byte> bytes);

// Checks for 1-255 bytes of [A-Za-z0-9_./-]. The error is errc::bad_name.
[[nodiscard]] result check_topic_name(std::string_view name);

}  // namespace orc::wire
