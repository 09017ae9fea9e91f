#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <limits>

#include "orc_protocol_generated.h"
#include "wire/control.h"

namespace orc::wire {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// A generous bound for the envelope, the fields of the body itself and all virtual tables.
constexpr std::size_t overhead = 1024;

// Upper bounds of the encoded size, to decide which entries fit before they are written.
std::size_t bound(const std::string& text) { return text.size() + 12; }

std::size_t bound(const type_reference& of) {
  return 56 + bound(of.name) + bound(of.schema_encoding) + bound(of.message_encoding);
}

std::size_t bound(const publication_info& of) {
  std::size_t bytes = 280 + bound(of.participant_name) + bound(of.host) + bound(of.host_name) + bound(of.client);
  for (const auto& one : of.endpoints) bytes += 24 + bound(one.address);
  if (of.type) bytes += bound(*of.type);
  return bytes;
}

std::size_t bound(const subscription_info& of) {
  const std::size_t prediction = of.counters && of.counters->prediction ? 80 : 0;
  return 220 + bound(of.participant_name) + bound(of.host) + (of.counters ? bound(of.counters->reason) : 0) +
         prediction + (of.type ? bound(*of.type) : 0);
}

std::size_t bound_without_subscriptions(const topic_state& of) {
  std::size_t bytes = 64 + bound(of.topic) + (of.publication ? bound(*of.publication) : 0);
  bytes += 16 * of.displaced.size();
  for (const auto& one : of.publications) bytes += 4 + bound(one);
  return bytes;
}

class writer {
 public:
  explicit writer(std::size_t reason_limit) : reason_limit_(reason_limit) {}

  std::string bytes_of(const envelope& message) {
    const auto [kind, content] =
        std::visit([this](const auto& plain) { return member(this->put(plain)); }, message.content);
    fb::FinishEnvelopeBuffer(out_, fb::CreateEnvelope(out_, protocol_version, message.request, kind, content));
    return {reinterpret_cast<const char*>(out_.GetBufferPointer()), out_.GetSize()};
  }

 private:
  template <class Table>
  static std::pair<fb::Body, Offset<void>> member(Offset<Table> table) {
    constexpr auto kind = fb::BodyTraits<Table>::enum_value;  // a copy, because the member has no definition
    return {kind, table.Union()};
  }

  static fb::Id put(const id& from) { return {from.hi, from.lo}; }
  static fb::Transport put(transport from) { return static_cast<fb::Transport>(from); }

  // Cuts free text to the limit, between two UTF-8 characters and before a NUL.
  Offset<flatbuffers::String> always(const std::string& text, std::size_t limit = max_text) {
    std::size_t size = std::min(text.size(), text.find('\0'));
    if (size > limit) {
      size = limit;
      while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
    }
    return out_.CreateString(text.data(), size);
  }
  Offset<flatbuffers::String> text(const std::string& from, std::size_t limit = max_text) {
    return from.empty() || limit == 0 ? Offset<flatbuffers::String>() : always(from, limit);
  }
  Offset<flatbuffers::String> exact(const std::string& from) { return out_.CreateString(from); }

  template <class Plain>
  auto all(const std::vector<Plain>& from, std::size_t count = std::numeric_limits<std::size_t>::max()) {
    std::vector<decltype(put(from.front()))> offsets;
    count = std::min(count, from.size());
    for (std::size_t i = 0; i < count; ++i) offsets.push_back(put(from[i]));
    using vector = decltype(out_.CreateVector(offsets));
    return offsets.empty() ? vector() : out_.CreateVector(offsets);
  }

  template <class Plain>
  auto optional(const std::optional<Plain>& from) {
    return from ? put(*from) : decltype(put(*from))();
  }

  Offset<fb::Endpoint> put(const endpoint& from) {
    return fb::CreateEndpoint(out_, put(from.transport), exact(from.address));
  }

  Offset<fb::Type> put(const type_reference& from) {
    const auto name = text(from.name);
    const auto schema_encoding = text(from.schema_encoding);
    const auto message_encoding = text(from.message_encoding);
    return fb::CreateType(out_, name, schema_encoding, message_encoding, from.hash, from.schema_size);
  }

  Offset<fb::SchemaPart> put(const schema_part& from) {
    const auto bytes = out_.CreateVector(reinterpret_cast<const std::uint8_t*>(from.bytes.data()), from.bytes.size());
    return fb::CreateSchemaPart(out_, from.hash, from.offset, bytes);
  }

  Offset<fb::GetSchema> put(const get_schema& from) { return fb::CreateGetSchema(out_, from.hash, from.offset); }

  Offset<fb::TypeMismatch> put(const type_mismatch& from) {
    const auto topic = exact(from.topic);
    const auto subscription = put(from.subscription);
    const auto difference = always(from.text, max_error_text);
    const auto name = text(from.participant_name);
    const auto publication = put(from.publication);
    return fb::CreateTypeMismatch(out_, topic, &subscription, difference, name, from.pid,
                                  from.publication ? &publication : nullptr);
  }

  Offset<fb::Hello> put(const hello& from) {
    const auto participant = put(from.participant);
    const auto name = text(from.name);
    const auto host = always(from.host);
    const auto library = text(from.library);
    const auto secret = put(from.secret);
    return fb::CreateHello(out_, &participant, name, host, from.pid, from.start_time, library,
                           from.secret ? &secret : nullptr);
  }

  Offset<fb::RegisterTopic> put(const register_topic& from) {
    const auto publication = put(from.publication);
    const auto topic = exact(from.topic);
    const auto endpoints = all(from.endpoints);
    const auto type = optional(from.type);
    return fb::CreateRegisterTopic(out_, topic, &publication, endpoints, from.keep_last, type, from.shared);
  }

  Offset<fb::UnregisterTopic> put(const unregister_topic& from) {
    const auto publication = put(from.publication);
    return fb::CreateUnregisterTopic(out_, exact(from.topic), &publication);
  }

  Offset<fb::RequestTopic> put(const request_topic& from) {
    const auto subscription = put(from.subscription);
    const auto topic = exact(from.topic);
    const auto type = optional(from.type);
    return fb::CreateRequestTopic(out_, topic, &subscription, from.max_age_ms, type, from.knows_shared);
  }

  Offset<fb::ReleaseTopic> put(const release_topic& from) {
    const auto subscription = put(from.subscription);
    return fb::CreateReleaseTopic(out_, exact(from.topic), &subscription);
  }

  Offset<fb::PublicationCounters> put(const publication_counters& from) {
    const auto publication = put(from.publication);
    return fb::CreatePublicationCounters(out_, &publication, from.sampled_ns, from.sent, from.bytes, from.dropped,
                                         from.readers, from.last_sent_ns, from.jitter_ns);
  }

  Offset<fb::Prediction> put(const prediction& from) {
    return fb::CreatePrediction(out_, from.period_ns, from.hits, from.early, from.misses, from.watched_ns);
  }

  Offset<fb::SubscriptionCounters> put(const subscription_counters& from) {
    const auto subscription = put(from.subscription);
    const auto prediction = optional(from.prediction);
    const auto reason = text(from.reason, reason_limit_);
    return fb::CreateSubscriptionCounters(out_, &subscription, from.sampled_ns, from.received, from.bytes, from.missed,
                                          from.malformed, from.age_ns, put(from.transport), reason, from.stale,
                                          prediction);
  }

  Offset<fb::Heartbeat> put(const heartbeat& from) {
    const auto publications = all(from.publications);
    const auto subscriptions = all(from.subscriptions);
    return fb::CreateHeartbeat(out_, publications, subscriptions);
  }

  Offset<fb::Goodbye> put(const goodbye&) { return fb::CreateGoodbye(out_); }
  Offset<fb::Alive> put(const alive&) { return fb::CreateAlive(out_); }
  Offset<fb::Ack> put(const ack&) { return fb::CreateAck(out_); }
  Offset<fb::Probe> put(const probe&) { return fb::CreateProbe(out_); }

  Offset<fb::ListTopics> put(const list_topics& from) {
    return fb::CreateListTopics(out_, text(from.after), from.limit);
  }

  Offset<fb::DescribeTopic> put(const describe_topic& from) {
    const auto after = put(from.after);
    return fb::CreateDescribeTopic(out_, exact(from.topic), from.after ? &after : nullptr);
  }

  Offset<fb::Welcome> put(const welcome& from) {
    return fb::CreateWelcome(out_, from.epoch, from.lease_ms, from.heartbeat_ms, from.remote, text(from.version));
  }

  Offset<fb::Error> put(const error& from) {
    return fb::CreateError(out_, static_cast<fb::ErrorCode>(from.code), always(from.text, max_error_text));
  }

  Offset<fb::Publication> put(const publication_info& from) {
    const auto publication = put(from.publication);
    const auto participant = put(from.participant);
    const auto name = text(from.participant_name);
    const auto host = text(from.host);
    const auto endpoints = all(from.endpoints);
    const auto type = optional(from.type);
    const auto counters = optional(from.counters);
    const auto host_name = text(from.host_name);
    const auto client = text(from.client);
    return fb::CreatePublication(out_, &publication, &participant, name, host, from.pid, endpoints, counters,
                                 from.received_ago_ms, from.keep_last, type, host_name, from.stale, from.age_ms, client,
                                 from.client_pid);
  }

  Offset<fb::Subscription> put(const subscription_info& from) {
    const auto subscription = put(from.subscription);
    const auto participant = put(from.participant);
    const auto name = text(from.participant_name);
    const auto host = text(from.host);
    const auto counters = optional(from.counters);
    const auto type = optional(from.type);
    return fb::CreateSubscription(out_, &subscription, &participant, name, host, from.pid, counters,
                                  from.received_ago_ms, from.max_age_ms, type);
  }

  Offset<flatbuffers::String> put(const std::string& from) { return exact(from); }

  Offset<fb::Watch> put(const watch& from) {
    const auto& [epoch, snapshot, until] = from.position;
    return fb::CreateWatch(out_, all(from.topics), from.participants, epoch, snapshot, until, from.wait_ms, from.own);
  }

  Offset<fb::Participant> put(const participant_info& from) {
    const auto participant = put(from.participant);
    const auto name = text(from.name);
    const auto host = text(from.host);
    const auto library = text(from.library);
    return fb::CreateParticipant(out_, &participant, from.gone, name, host, from.pid, library);
  }

  Offset<fb::Changes> put(const changes& from) {
    const auto topics = all(from.topics);
    const auto participants = all(from.participants);
    const auto& [epoch, snapshot, until] = from.position;
    const auto host_name = text(from.host_name);
    return fb::CreateChanges(out_, epoch, snapshot, until, from.reset, from.more, topics, participants, host_name);
  }

  Offset<fb::ListPeers> put(const list_peers&) { return fb::CreateListPeers(out_); }

  Offset<fb::Peer> put(const peer_info& from) {
    const auto endpoint = always(from.endpoint);
    const auto host_name = text(from.host_name);
    const auto reason = text(from.reason);
    return fb::CreatePeer(out_, endpoint, host_name, static_cast<fb::PeerState>(from.state), from.topics,
                          from.silent_ms, reason);
  }

  Offset<fb::PeerList> put(const peer_list& from) {
    const auto peers = all(from.peers);
    return fb::CreatePeerList(out_, text(from.host_name), from.topics, peers);
  }

  Offset<flatbuffers::Vector<const fb::Id*>> ids(const std::vector<id>& from) {
    if (from.empty()) return 0;
    std::vector<fb::Id> all;
    all.reserve(from.size());
    for (const auto& each : from) all.emplace_back(each.hi, each.lo);
    return out_.CreateVectorOfStructs(all);
  }

  [[nodiscard]] std::size_t room() const {
    const std::size_t used = out_.GetSize() + overhead;
    return used < max_control_bytes ? max_control_bytes - used : 0;
  }

  // Subscriptions that do not fit go to the next page. subscription_count has their number.
  Offset<fb::TopicState> put(const topic_state& from) {
    std::size_t needed = bound_without_subscriptions(from);
    std::size_t fit = 0;
    for (const auto& one : from.subscriptions) {
      needed += bound(one);
      if (needed > room()) break;
      ++fit;
    }
    const auto topic = exact(from.topic);
    const auto publication = optional(from.publication);
    const auto publications = all(from.publications);
    const auto subscriptions = all(from.subscriptions, fit);
    const auto displaced = ids(from.displaced);
    const bool more = from.more || fit < from.subscriptions.size();
    return fb::CreateTopicState(out_, topic, publication, subscriptions, from.subscription_count, more,
                                from.lacks_schema, from.shared, publications, displaced);
  }

  // The first topic always goes in, the others only whole. The next page has the rest.
  Offset<fb::TopicList> put(const topic_list& from) {
    std::vector<Offset<fb::TopicState>> topics;
    for (const auto& one : from.topics) {
      std::size_t needed = bound_without_subscriptions(one);
      for (const auto& subscription : one.subscriptions) needed += bound(subscription);
      // 4: its offset in the vector, which is written at the end.
      if (!topics.empty() && needed + 4 * (topics.size() + 1) > room()) break;
      topics.push_back(put(one));
    }
    const bool more = from.more || topics.size() < from.topics.size();
    const auto vector = out_.CreateVector(topics);
    return fb::CreateTopicList(out_, vector, more, from.participants, from.epoch, from.uptime_ms, from.rejected);
  }

  FlatBufferBuilder out_;
  const std::size_t reason_limit_;
};

}  // namespace

static_assert(room_for_changes + overhead == max_control_bytes);
constexpr std::size_t in_vector = sizeof(flatbuffers::uoffset_t);

std::size_t largest_size(const topic_state& of) noexcept {
  std::size_t bytes = in_vector + bound_without_subscriptions(of);
  for (const auto& each : of.subscriptions) bytes += bound(each);
  return bytes;
}

std::size_t largest_size(const participant_info& of) noexcept {
  return in_vector + 64 + bound(of.name) + bound(of.host) + bound(of.library);
}

std::size_t largest_size(const publication_info& of) noexcept { return in_vector + bound(of); }

std::string encode(const envelope& message) {
  // 256 subscriptions with a full reason each exceed a frame. Counters matter more than reasons.
  std::string bytes;
  for (const std::size_t reason_limit : {max_text, std::size_t{64}, std::size_t{0}}) {
    bytes = writer(reason_limit).bytes_of(message);
    if (bytes.size() <= max_control_bytes) break;
  }
  return bytes;
}

}  // namespace orc::wire
