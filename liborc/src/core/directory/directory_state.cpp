#include "core/directory/directory_state.h"

#include <utility>

namespace orc::detail {

namespace {

[[nodiscard]] publication_counters state_of(const wire::publication_counters& from, std::uint32_t ago_ms) {
  publication_counters to{static_cast<std::int64_t>(from.sampled_ns),
                          std::chrono::milliseconds(ago_ms),
                          from.sent,
                          from.bytes,
                          from.dropped,
                          from.readers,
                          {},
                          {}};
  if (from.last_sent_ns != 0) to.last_sent_ns = static_cast<std::int64_t>(from.last_sent_ns);
  if (from.jitter_ns >= 0) to.jitter_ns = from.jitter_ns;
  return to;
}

[[nodiscard]] subscription_counters state_of(wire::subscription_counters from, std::uint32_t ago_ms) {
  subscription_counters to{std::chrono::milliseconds(ago_ms),
                           from.received,
                           from.bytes,
                           from.missed,
                           from.malformed,
                           from.stale,
                           {},
                           {},
                           std::move(from.reason),
                           static_cast<std::int64_t>(from.sampled_ns)};
  if (from.age_ns >= 0) to.sample_age_ns = from.age_ns;
  if (from.transport != wire::transport::none) to.transport = static_cast<transport>(from.transport);
  if (const auto& of = from.prediction)
    to.prediction = {static_cast<std::int64_t>(of->period_ns), of->hits, of->early, of->misses, of->watched_ns};
  return to;
}

[[nodiscard]] std::optional<topic_type> state_of(std::optional<wire::type_reference> from) {
  if (!from) return std::nullopt;
  return topic_type{std::move(from->name), std::move(from->schema_encoding), std::move(from->message_encoding),
                    from->hash, from->schema_size};
}

[[nodiscard]] publication_state state_of(wire::publication_info from) {
  publication_state to{from.publication.hex(),
                       {from.participant.hex(), std::move(from.participant_name), std::move(from.host), from.pid},
                       {},
                       state_of(std::move(from.type)),
                       from.keep_last,
                       {}};
  to.participant.client = std::move(from.client);
  to.participant.client_pid = from.client_pid;
  for (auto& each : from.endpoints)
    to.endpoints.push_back({static_cast<transport>(each.transport), std::move(each.address)});
  if (from.counters) to.counters = state_of(*from.counters, from.received_ago_ms);
  to.host_name = std::move(from.host_name);
  to.stale = from.stale;
  return to;
}

[[nodiscard]] subscription_state state_of(wire::subscription_info from) {
  subscription_state to{from.subscription.hex(),
                        {from.participant.hex(), std::move(from.participant_name), std::move(from.host), from.pid},
                        from.max_age_ms,
                        state_of(std::move(from.type)),
                        {}};
  if (from.counters) to.counters = state_of(*std::move(from.counters), from.received_ago_ms);
  return to;
}

}  // namespace

topic_state state_of(wire::topic_state from) {
  topic_state to{.name = std::move(from.topic), .subscription_count = from.subscription_count};
  if (from.publication) to.publication = state_of(*std::move(from.publication));
  to.shared = from.shared;
  for (auto& each : from.publications) {
    auto one = state_of(std::move(each));
    if (to.publication)
      to.others.push_back(std::move(one));
    else
      to.publication = std::move(one);
  }
  for (auto& each : from.subscriptions) to.subscriptions.push_back(state_of(std::move(each)));
  return to;
}

participant_state state_of(wire::participant_info from) {
  return {from.participant.hex(), std::move(from.name), std::move(from.host), from.pid, std::move(from.library)};
}

federation_state state_of(wire::peer_list from) {
  federation_state to{std::move(from.host_name), from.topics, {}};
  for (auto& each : from.peers) {
    to.peers.push_back({std::move(each.endpoint), std::move(each.host_name),
                        static_cast<peer_broker_state::kind>(each.state), each.topics,
                        std::chrono::milliseconds(each.silent_ms), std::move(each.reason)});
  }
  return to;
}

}  // namespace orc::detail
