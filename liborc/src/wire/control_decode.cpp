#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <memory>

#include "orc/type_description.h"
#include "orc_protocol_generated.h"
#include "wire/control.h"
#include "wire/name_pattern.h"

namespace orc::wire {
namespace {

// Envelope, TopicList, TopicState, Publication, Endpoint: five deep. No table is recursive.
constexpr flatbuffers::uoffset_t max_depth = 8;

// The smallest honest table and the offset to it take 12 bytes. A frame with more tables than that shares them, which
// would turn 64 KiB into gigabytes of structs.
flatbuffers::uoffset_t max_tables(std::size_t bytes) { return static_cast<flatbuffers::uoffset_t>(8 + bytes / 12); }

// Turns verified tables into structs, and remembers the first problem of their contents.
class reader {
 public:
  [[nodiscard]] const std::string& problem() const { return problem_; }

  void read(const fb::Hello& from, hello& to) {
    read(from.participant(), to.participant, "participant");
    read(from.name(), to.name, "name");
    read(from.host(), to.host, "host");
    if (to.host.empty()) fail("host is empty");
    to.pid = from.pid();
    to.start_time = from.start_time();
    read(from.library(), to.library, "library");
    optional(from.secret(), to.secret);
  }

  void read(const fb::RegisterTopic& from, register_topic& to) {
    topic(from.topic(), to.topic);
    read(from.publication(), to.publication, "publication");
    endpoints(from.endpoints(), to.endpoints);
    optional(from.type(), to.type);
    to.keep_last = from.keep_last();
    to.shared = from.shared();
  }

  void read(const fb::UnregisterTopic& from, unregister_topic& to) {
    topic(from.topic(), to.topic);
    read(from.publication(), to.publication, "publication");
  }

  void read(const fb::RequestTopic& from, request_topic& to) {
    topic(from.topic(), to.topic);
    read(from.subscription(), to.subscription, "subscription");
    to.max_age_ms = from.max_age_ms();
    optional(from.type(), to.type);
    to.knows_shared = from.knows_shared();
  }

  void read(const fb::ReleaseTopic& from, release_topic& to) {
    topic(from.topic(), to.topic);
    read(from.subscription(), to.subscription, "subscription");
  }

  void read(const fb::Heartbeat& from, heartbeat& to) {
    if (too_many(from.publications(), max_counters, "publications") ||
        too_many(from.subscriptions(), max_counters, "subscriptions")) {
      return;
    }
    all(from.publications(), to.publications);
    all(from.subscriptions(), to.subscriptions);
  }

  void read(const fb::Goodbye&, goodbye&) {}
  void read(const fb::Alive&, alive&) {}
  void read(const fb::Ack&, ack&) {}
  void read(const fb::Probe&, probe&) {}
  void read(const fb::ListPeers&, list_peers&) {}

  void read(const fb::ListTopics& from, list_topics& to) {
    read(from.after(), to.after, "after");
    to.limit = from.limit();
  }

  void read(const fb::DescribeTopic& from, describe_topic& to) {
    topic(from.topic(), to.topic);
    optional(from.after(), to.after);
  }

  void read(const fb::Watch& from, watch& to) {
    to.participants = from.participants();
    to.position = {from.epoch(), from.snapshot(), from.until()};
    to.wait_ms = from.wait_ms();
    to.own = from.own();
    if (from.topics() == nullptr || too_many(from.topics(), max_patterns, "patterns")) return;
    for (const flatbuffers::String* one : *from.topics()) {
      read(one, to.topics.emplace_back(), "pattern");
      if (auto checked = check_name_pattern(to.topics.back()); !checked) fail(checked.error().message());
    }
  }

  void read(const fb::Welcome& from, welcome& to) {
    to.epoch = from.epoch();
    to.lease_ms = from.lease_ms();
    to.heartbeat_ms = from.heartbeat_ms();
    to.remote = from.remote();
    read(from.version(), to.version, "version");
  }

  void read(const fb::Error& from, error& to) {
    range(from.code(), fb::ErrorCode::MAX, to.code, "code");
    read(from.text(), to.text, "text", max_error_text);
  }

  void read(const fb::TopicState& from, topic_state& to) {
    topic(from.topic(), to.topic);
    optional(from.publication(), to.publication);
    all(from.subscriptions(), to.subscriptions);
    to.subscription_count = from.subscription_count();
    to.more = from.more();
    to.lacks_schema = from.lacks_schema();
    to.shared = from.shared();
    if (!too_many(from.publications(), max_publishers, "publications")) all(from.publications(), to.publications);
    if (from.displaced() == nullptr || too_many(from.displaced(), max_displaced, "displaced publications")) return;
    for (const fb::Id* each : *from.displaced()) read(each, to.displaced.emplace_back(), "displaced");
  }

  void read(const fb::SchemaPart& from, schema_part& to) {
    to.hash = from.hash();
    to.offset = from.offset();
    if (from.bytes() == nullptr || !affordable(from.bytes()->size(), max_schema_part, "part of a schema")) return;
    to.bytes.assign(reinterpret_cast<const char*>(from.bytes()->data()), from.bytes()->size());
  }

  void read(const fb::GetSchema& from, get_schema& to) {
    to.hash = from.hash();
    to.offset = from.offset();
  }

  void read(const fb::TypeMismatch& from, type_mismatch& to) {
    topic(from.topic(), to.topic);
    read(from.subscription(), to.subscription, "subscription");
    read(from.text(), to.text, "text", max_error_text);
    read(from.participant_name(), to.participant_name, "name");
    to.pid = from.pid();
    optional(from.publication(), to.publication);
  }

  void read(const fb::TopicList& from, topic_list& to) {
    all(from.topics(), to.topics);
    to.more = from.more();
    to.participants = from.participants();
    to.epoch = from.epoch();
    to.uptime_ms = from.uptime_ms();
    to.rejected = from.rejected();
  }

  void read(const fb::Changes& from, changes& to) {
    to.position = {from.epoch(), from.snapshot(), from.until()};
    to.reset = from.reset();
    to.more = from.more();
    all(from.topics(), to.topics);
    all(from.participants(), to.participants);
    read(from.host_name(), to.host_name, "host_name");
  }

  void read(const fb::PeerList& from, peer_list& to) {
    read(from.host_name(), to.host_name, "host_name");
    to.topics = from.topics();
    if (!too_many(from.peers(), max_peers, "peers")) all(from.peers(), to.peers);
  }

 private:
  void read(const fb::Participant& from, participant_info& to) {
    read(from.participant(), to.participant, "participant");
    to.gone = from.gone();
    read(from.name(), to.name, "name");
    read(from.host(), to.host, "host");
    to.pid = from.pid();
    read(from.library(), to.library, "library");
  }

  void read(const fb::Peer& from, peer_info& to) {
    read(from.endpoint(), to.endpoint, "endpoint");
    read(from.host_name(), to.host_name, "host_name");
    range(from.state(), fb::PeerState::MAX, to.state, "state");
    to.topics = from.topics();
    to.silent_ms = from.silent_ms();
    read(from.reason(), to.reason, "reason");
  }

  void read(const fb::Endpoint& from, endpoint& to) {
    range(from.transport(), fb::Transport::MAX, to.transport, "transport");
    if (to.transport == transport::none) fail("an endpoint has no transport");
    read(from.address(), to.address, "address");
    if (to.address.empty()) fail("an endpoint has an empty address");
  }

  void read(const fb::Type& from, type_reference& to) {
    read(from.name(), to.name, "type name");
    read(from.schema_encoding(), to.schema_encoding, "schema encoding");
    read(from.message_encoding(), to.message_encoding, "message encoding");
    to.hash = from.hash();
    to.schema_size = from.schema_size();
    if (to.schema_size > max_schema_bytes)
      fail("a schema has " + std::to_string(to.schema_size) + " bytes, the limit is " +
           std::to_string(max_schema_bytes));
  }

  void read(const fb::PublicationCounters& from, publication_counters& to) {
    read(from.publication(), to.publication, "publication");
    to.sampled_ns = from.sampled_ns();
    to.sent = from.sent();
    to.bytes = from.bytes();
    to.dropped = from.dropped();
    to.readers = from.readers();
    to.last_sent_ns = from.last_sent_ns();
    to.jitter_ns = from.jitter_ns();
  }

  void read(const fb::Prediction& from, prediction& to) {
    to = {from.period_ns(), from.hits(), from.early(), from.misses(), from.watched_ns()};
  }

  void read(const fb::SubscriptionCounters& from, subscription_counters& to) {
    read(from.subscription(), to.subscription, "subscription");
    to.sampled_ns = from.sampled_ns();
    to.received = from.received();
    to.bytes = from.bytes();
    to.missed = from.missed();
    to.malformed = from.malformed();
    to.age_ns = from.age_ns();
    range(from.transport(), fb::Transport::MAX, to.transport, "transport");
    read(from.reason(), to.reason, "reason");
    to.stale = from.stale();
    optional(from.prediction(), to.prediction);
  }

  void read(const fb::Publication& from, publication_info& to) {
    read(from.publication(), to.publication, "publication");
    read(from.participant(), to.participant, "participant");
    read(from.participant_name(), to.participant_name, "participant_name");
    read(from.host(), to.host, "host");
    to.pid = from.pid();
    endpoints(from.endpoints(), to.endpoints);
    optional(from.type(), to.type);
    optional(from.counters(), to.counters);
    to.received_ago_ms = from.received_ago_ms();
    to.keep_last = from.keep_last();
    read(from.host_name(), to.host_name, "host_name");
    to.stale = from.stale();
    to.age_ms = from.age_ms();
    read(from.client(), to.client, "client");
    to.client_pid = from.client_pid();
  }

  void read(const fb::Subscription& from, subscription_info& to) {
    read(from.subscription(), to.subscription, "subscription");
    read(from.participant(), to.participant, "participant");
    read(from.participant_name(), to.participant_name, "participant_name");
    read(from.host(), to.host, "host");
    to.pid = from.pid();
    optional(from.counters(), to.counters);
    to.received_ago_ms = from.received_ago_ms();
    to.max_age_ms = from.max_age_ms();
    optional(from.type(), to.type);
  }

  void read(const fb::Id* from, id& to, const char* field) {
    optional(from, to);
    if (!to) fail(std::string(field) + " is the zero id");
  }

  // The Verifier of libflatbuffers does not look where a struct begins.
  static void optional(const fb::Id* from, id& to) {
    if (from == nullptr) return;
    fb::Id aligned;
    std::memcpy(static_cast<void*>(&aligned), static_cast<const void*>(from), sizeof aligned);
    to = {aligned.hi(), aligned.lo()};
  }

  void read(const flatbuffers::String* from, std::string& to, const char* field, std::size_t limit = max_text) {
    if (from == nullptr || !affordable(from->size(), limit, field)) return;
    if (std::memchr(from->data(), 0, from->size()) != nullptr) return fail(std::string(field) + " has a NUL inside");
    to.assign(from->data(), from->size());
  }

  void topic(const flatbuffers::String* from, std::string& to) {
    if (from == nullptr) return fail("the topic name is missing");
    const std::string_view name(from->data(), from->size());
    if (auto checked = check_topic_name(name); !checked) return fail(checked.error().message());
    if (affordable(name.size(), max_topic_name, "topic")) to = name;
  }

  void endpoints(const flatbuffers::Vector<flatbuffers::Offset<fb::Endpoint>>* from, std::vector<endpoint>& to) {
    if (!too_many(from, max_endpoints, "endpoints")) all(from, to);
  }

  template <class Table, class Plain>
  void optional(const Table* from, std::optional<Plain>& to) {
    if (from != nullptr) read(*from, to.emplace());
  }

  template <class Table, class Plain>
  void all(const flatbuffers::Vector<flatbuffers::Offset<Table>>* from, std::vector<Plain>& to) {
    if (from == nullptr) return;
    to.reserve(from->size());
    for (const Table* one : *from) {
      if (!problem_.empty()) return;
      read(*one, to.emplace_back());
    }
  }

  template <class Wire, class Plain>
  void range(Wire from, Wire last, Plain& to, const char* field) {
    if (from > last)
      return fail(std::string(field) + " is " + std::to_string(static_cast<unsigned>(from)) +
                  ", the last one known is " + std::to_string(static_cast<unsigned>(last)));
    to = static_cast<Plain>(from);
  }

  template <class Vector>
  bool too_many(const Vector* vector, std::size_t limit, const char* field) {
    if (vector == nullptr || vector->size() <= limit) return false;
    fail(std::string(field) + " has " + std::to_string(vector->size()) + " entries, the limit is " +
         std::to_string(limit));
    return true;
  }

  // Offsets may share one string a thousand times. So all copied text together has the limit of a message.
  bool affordable(std::size_t bytes, std::size_t limit, const char* field) {
    if (bytes > limit) {
      fail(std::string(field) + " has " + std::to_string(bytes) + " bytes, the limit is " + std::to_string(limit));
    } else if (copied_ + bytes > max_control_bytes) {
      fail("the texts together exceed " + std::to_string(max_control_bytes) + " bytes");
    } else {
      copied_ += bytes;
    }
    return problem_.empty();
  }

  void fail(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  std::string problem_;
  std::size_t copied_ = 0;
};

template <class Table, class Plain>
body converted(reader& in, const fb::Envelope& message) {
  Plain plain;
  in.read(*static_cast<const Table*>(message.body()), plain);
  return plain;
}

std::optional<body> content_of(reader& in, const fb::Envelope& message) {
  switch (message.body_type()) {
    case fb::Body::Hello: return converted<fb::Hello, hello>(in, message);
    case fb::Body::RegisterTopic: return converted<fb::RegisterTopic, register_topic>(in, message);
    case fb::Body::UnregisterTopic: return converted<fb::UnregisterTopic, unregister_topic>(in, message);
    case fb::Body::RequestTopic: return converted<fb::RequestTopic, request_topic>(in, message);
    case fb::Body::ReleaseTopic: return converted<fb::ReleaseTopic, release_topic>(in, message);
    case fb::Body::Heartbeat: return converted<fb::Heartbeat, heartbeat>(in, message);
    case fb::Body::Goodbye: return converted<fb::Goodbye, goodbye>(in, message);
    case fb::Body::Alive: return converted<fb::Alive, alive>(in, message);
    case fb::Body::ListTopics: return converted<fb::ListTopics, list_topics>(in, message);
    case fb::Body::DescribeTopic: return converted<fb::DescribeTopic, describe_topic>(in, message);
    case fb::Body::Welcome: return converted<fb::Welcome, welcome>(in, message);
    case fb::Body::Ack: return converted<fb::Ack, ack>(in, message);
    case fb::Body::Error: return converted<fb::Error, error>(in, message);
    case fb::Body::TopicState: return converted<fb::TopicState, topic_state>(in, message);
    case fb::Body::TopicList: return converted<fb::TopicList, topic_list>(in, message);
    case fb::Body::Probe: return converted<fb::Probe, probe>(in, message);
    case fb::Body::Watch: return converted<fb::Watch, watch>(in, message);
    case fb::Body::Changes: return converted<fb::Changes, changes>(in, message);
    case fb::Body::SchemaPart: return converted<fb::SchemaPart, schema_part>(in, message);
    case fb::Body::GetSchema: return converted<fb::GetSchema, get_schema>(in, message);
    case fb::Body::TypeMismatch: return converted<fb::TypeMismatch, type_mismatch>(in, message);
    case fb::Body::ListPeers: return converted<fb::ListPeers, list_peers>(in, message);
    case fb::Body::PeerList: return converted<fb::PeerList, peer_list>(in, message);
    case fb::Body::NONE: break;
  }
  return std::nullopt;  // a kind that this version does not know: the verifier lets it pass
}

struct header {
  std::uint16_t version = 0;
  std::uint64_t request = 0;
};

// Decodes only version and request id, to answer a frame of another version or with a broken body.
std::optional<header> read_header(const std::uint8_t* bytes, std::size_t size) {
  flatbuffers::Verifier verifier(bytes, size, max_depth, max_tables(size));
  const auto root = verifier.VerifyOffset(0);
  if (root == 0) return std::nullopt;
  const auto* table = reinterpret_cast<const flatbuffers::Table*>(bytes + root);
  if (!verifier.VerifyTableStart(bytes + root)) return std::nullopt;
  if (!table->VerifyField<std::uint16_t>(verifier, fb::Envelope::VT_VERSION, alignof(std::uint16_t)) ||
      !table->VerifyField<std::uint64_t>(verifier, fb::Envelope::VT_REQUEST, alignof(std::uint64_t))) {
    return std::nullopt;
  }
  return header{table->GetField<std::uint16_t>(fb::Envelope::VT_VERSION, 0),
                table->GetField<std::uint64_t>(fb::Envelope::VT_REQUEST, 0)};
}

malformed bad(std::uint64_t request, std::string text) { return {error_code::bad_request, request, std::move(text)}; }

}  // namespace

detail::expected<envelope, malformed> decode(std::span<const std::byte> bytes) {
  constexpr std::size_t smallest = sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength;
  if (bytes.size() < smallest) return bad(0, "the message has " + std::to_string(bytes.size()) + " bytes: too short");
  if (bytes.size() > max_control_bytes) {
    return bad(0, "the message has " + std::to_string(bytes.size()) + " bytes, the limit is " +
                      std::to_string(max_control_bytes));
  }
  const auto words = std::make_unique<std::uint64_t[]>(bytes.size() / sizeof(std::uint64_t) + 1);
  std::memcpy(words.get(), bytes.data(), bytes.size());
  const auto* aligned = reinterpret_cast<const std::uint8_t*>(words.get());

  if (!fb::EnvelopeBufferHasIdentifier(aligned)) return bad(0, "the file identifier is not ORC1");
  const auto head = read_header(aligned, bytes.size());
  if (!head) return bad(0, "not a FlatBuffers envelope: offsets lead outside the message");
  if (head->version != protocol_version) {
    return malformed{error_code::version, head->request,
                     "protocol version " + std::to_string(head->version) + " is not spoken here, version " +
                         std::to_string(protocol_version) + " is"};
  }
  flatbuffers::Verifier verifier(aligned, bytes.size(), max_depth, max_tables(bytes.size()));
  if (!fb::VerifyEnvelopeBuffer(verifier)) {
    return bad(head->request, "FlatBuffers verification failed: a required field is missing or an offset is wrong");
  }
  const fb::Envelope& message = *fb::GetEnvelope(aligned);
  reader in;
  auto content = content_of(in, message);
  if (!content) {
    return bad(head->request,
               "message kind " + std::to_string(static_cast<unsigned>(message.body_type())) + " is not known");
  }
  if (!in.problem().empty()) return bad(head->request, in.problem());
  return envelope{head->request, std::move(*content)};
}

}  // namespace orc::wire
