#include "tools/orc/topic/topic_text.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/process/process_identity.h"
#include "tools/orc/text.h"

namespace orc::cli {

// A string: JSON numbers are exact only up to 2^53.
std::string hash_text(std::uint64_t hash) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(hash));
  return text;
}

json_value json_of(const topic_type& type) {
  return {{"name", type.name},
          {"schema_encoding", type.schema_encoding},
          {"message_encoding", type.message_encoding},
          {"hash", hash_text(type.hash)},
          {"schema_bytes", type.schema_size}};
}

json_value json_of(const participant_state& who) {
  return {{"program", who.name}, {"pid", who.pid}, {"host", who.host}};
}

namespace {

json_value json_of(const publication_counters& counters) {
  const auto number = [](const std::optional<std::int64_t>& known) {
    return known ? json_value(*known) : json_value();
  };
  return {{"sent", counters.sent},
          {"bytes", counters.bytes},
          {"dropped", counters.dropped},
          {"readers", counters.readers},
          {"sampled_ns", counters.sampled_ns},
          {"received_ago_ms", counters.age.count()},
          {"last_sent_ns", number(counters.last_sent_ns)},
          {"jitter_ns", number(counters.jitter_ns)}};
}

json_value json_of(const std::optional<prediction_info>& prediction) {
  if (!prediction) return {};
  return {{"period_ns", prediction->period_ns},
          {"hits", prediction->hits},
          {"early", prediction->early},
          {"misses", prediction->misses},
          {"watched_ns", prediction->watched_ns}};
}

json_value json_of(const subscription_counters& counters) {
  const auto& age = counters.sample_age_ns;
  return {{"received", counters.received},
          {"bytes", counters.bytes},
          {"missed", counters.missed},
          {"malformed", counters.malformed},
          {"stale", counters.stale},
          {"age_ns", age ? json_value(*age) : json_value()},
          {"received_ago_ms", counters.age.count()},
          {"prediction", json_of(counters.prediction)}};
}

json_value json_of(const publication_state& publication) {
  json_value endpoints = json_value::array();
  for (const endpoint& each : publication.endpoints)
    endpoints.push_back({{"transport", to_string(each.transport)}, {"address", each.address}});
  return {{"id", publication.id},
          {"program", publication.participant.name},
          {"pid", publication.participant.pid},
          {"host", publication.participant.host},
          {"host_name", publication.host_name},
          {"stale", publication.stale},
          {"keep_last", publication.keep_last},
          {"endpoints", std::move(endpoints)},
          {"type", publication.type ? cli::json_of(*publication.type) : json_value()},
          {"counters", publication.counters ? json_of(*publication.counters) : json_value()}};
}

json_value json_of(const subscription_state& subscription) {
  const auto& counters = subscription.counters;
  const bool linked = counters && counters->transport;
  return {{"id", subscription.id},
          {"program", subscription.participant.name},
          {"pid", subscription.participant.pid},
          {"host", subscription.participant.host},
          {"max_age_ms", subscription.max_age_ms},
          {"type", subscription.type ? cli::json_of(*subscription.type) : json_value()},
          {"transport", linked ? json_value(to_string(*counters->transport)) : json_value()},
          {"reason", counters ? json_value(counters->reason) : json_value()},
          {"counters", counters ? json_of(*counters) : json_value()}};
}

}  // namespace

std::string short_host(const std::string& host) { return escaped(host.substr(0, 8)); }

std::string participant_text(const participant_state& who) {
  static const std::string here = detail::host_identity();
  std::string text = (who.name.empty() ? "?" : escaped(who.name)) + " (" + std::to_string(who.pid);
  if (who.host.empty() || who.host != here) text += "@" + short_host(who.host);
  return text + ")";
}

std::string publisher_text(const publication_state& publication) {
  return publisher_text(publication.participant, publication.host_name, publication.stale);
}

std::string publisher_text(const participant_state& who, const std::string& host_name, bool stale) {
  if (host_name.empty()) return participant_text(who);
  return (who.name.empty() ? "?" : escaped(who.name)) + " (" + std::to_string(who.pid) + "@" + escaped(host_name) +
         (stale ? ", stale)" : ")");
}

std::string transports_text(const publication_state& publication) {
  std::string text;
  std::optional<transport> last;
  for (const endpoint& each : publication.endpoints) {
    if (each.transport == last) continue;
    last = each.transport;
    if (!text.empty()) text += ',';
    text += to_string(each.transport);
  }
  return text.empty() ? "-" : text;
}

std::string link_text(const subscription_state& subscription) {
  if (!subscription.counters) return "?";
  const auto used = subscription.counters->transport;
  return used ? std::string(to_string(*used)) : "no link";
}

std::string type_text(const topic_type& type) {
  const std::string encoding = type.message_encoding.empty() ? "unknown encoding" : escaped(type.message_encoding);
  return (type.name.empty() ? "unnamed" : escaped(type.name)) + " (" + encoding + ", hash " + hash_text(type.hash) +
         ")";
}

json_value json_of(const topic_state& state) {
  json_value subscribers = json_value::array();
  for (const subscription_state& subscription : state.subscriptions) subscribers.push_back(json_of(subscription));
  json_value publishers = json_value::array();
  if (state.shared && state.publication) publishers.push_back(json_of(*state.publication));
  for (const publication_state& publication : state.others) publishers.push_back(json_of(publication));
  return {{"topic", state.name},
          {"publisher", state.publication ? json_of(*state.publication) : json_value()},
          {"shared", state.shared},
          {"publishers", std::move(publishers)},
          {"subscriber_count", state.subscription_count},
          {"subscribers", std::move(subscribers)}};
}

}  // namespace orc::cli
