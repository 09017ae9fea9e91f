#include "topic_text.h"

#include <cstdio>

#include "base/process_identity.h"
#include "text.h"

namespace orc::cli {

namespace {

// A string: JSON numbers are exact only up to 2^53.
std::string hash_text(std::uint64_t hash) {
  char text[19];
  std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(hash));
  return text;
}

json_value json_of(const wire::publication_counters& counters, std::uint32_t ago_ms) {
  return {{"sent", counters.sent},       {"bytes", counters.bytes},           {"dropped", counters.dropped},
          {"readers", counters.readers}, {"sampled_ns", counters.sampled_ns}, {"received_ago_ms", ago_ms}};
}

json_value json_of(const wire::subscription_counters& counters, std::uint32_t ago_ms) {
  return {
      {"received", counters.received}, {"bytes", counters.bytes},
      {"missed", counters.missed},     {"malformed", counters.malformed},
      {"stale", counters.stale},       {"age_ns", counters.age_ns >= 0 ? json_value(counters.age_ns) : json_value()},
      {"received_ago_ms", ago_ms}};
}

json_value json_of(const wire::type_description& type) {
  json_value json = {{"name", type.name}, {"encoding", type.encoding}, {"hash", hash_text(type.hash)}};
  // The broker tells the schema only where it was asked for one topic.
  if (const auto size = type.schema.size(); size != 0) json["schema_bytes"] = size;
  return json;
}

json_value json_of(const wire::publication_info& publication) {
  json_value endpoints = json_value::array();
  for (const wire::endpoint& endpoint : publication.endpoints)
    endpoints.push_back({{"transport", wire::name_of(endpoint.transport)}, {"address", endpoint.address}});
  const auto& counters = publication.counters;
  return {{"id", publication.publication.hex()},
          {"program", publication.participant_name},
          {"pid", publication.pid},
          {"host", publication.host},
          {"keep_last", publication.keep_last},
          {"endpoints", std::move(endpoints)},
          {"type", publication.type ? json_of(*publication.type) : json_value()},
          {"counters", counters ? json_of(*counters, publication.received_ago_ms) : json_value()}};
}

json_value json_of(const wire::subscription_info& subscription) {
  const auto& counters = subscription.counters;
  const bool linked = counters && counters->transport != wire::transport::none;
  return {{"id", subscription.subscription.hex()},
          {"program", subscription.participant_name},
          {"pid", subscription.pid},
          {"host", subscription.host},
          {"max_age_ms", subscription.max_age_ms},
          {"transport", linked ? json_value(wire::name_of(counters->transport)) : json_value()},
          {"reason", counters ? json_value(counters->reason) : json_value()},
          {"counters", counters ? json_of(*counters, subscription.received_ago_ms) : json_value()}};
}

}  // namespace

std::string short_host(const std::string& host) { return escaped(host.substr(0, 8)); }

std::string participant_text(const std::string& name, std::uint32_t pid, const std::string& host) {
  static const std::string here = detail::host_identity();
  std::string text = (name.empty() ? "?" : escaped(name)) + " (" + std::to_string(pid);
  if (host.empty() || host != here) text += "@" + short_host(host);
  return text + ")";
}

std::string transports_text(const wire::publication_info& publication) {
  std::string text;
  wire::transport last = wire::transport::none;
  for (const wire::endpoint& endpoint : publication.endpoints) {
    if (endpoint.transport == last) continue;
    last = endpoint.transport;
    if (!text.empty()) text += ',';
    text += wire::name_of(endpoint.transport);
  }
  return text.empty() ? "-" : text;
}

std::string link_text(const wire::subscription_info& subscription) {
  if (!subscription.counters) return "?";
  const wire::transport used = subscription.counters->transport;
  return used == wire::transport::none ? "no link" : std::string(wire::name_of(used));
}

std::string type_text(const wire::publication_info& publication) {
  if (!publication.type) return "not described";
  const wire::type_description& type = *publication.type;
  std::string text = type.name.empty() ? "unnamed" : escaped(type.name);
  text += " (" + (type.encoding.empty() ? "unknown encoding" : escaped(type.encoding));
  if (type.hash != 0) text += ", hash " + hash_text(type.hash);
  return text + ")";
}

json_value json_of(const wire::topic_state& state) {
  json_value subscribers = json_value::array();
  for (const wire::subscription_info& subscription : state.subscriptions) subscribers.push_back(json_of(subscription));
  return {{"topic", state.topic},
          {"publisher", state.publication ? json_of(*state.publication) : json_value()},
          {"subscriber_count", state.subscription_count},
          {"subscribers", std::move(subscribers)}};
}

}  // namespace orc::cli
