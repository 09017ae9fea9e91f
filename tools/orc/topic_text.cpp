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

void put_counters(json_writer& json, const wire::publication_counters& counters, std::uint32_t ago_ms) {
  json.begin_object()
      .member("sent", counters.sent)
      .member("bytes", counters.bytes)
      .member("dropped", counters.dropped)
      .member("readers", counters.readers)
      .member("sampled_ns", counters.sampled_ns)
      .member("received_ago_ms", ago_ms)
      .end_object();
}

void put_publication(json_writer& json, const wire::publication_info& publication) {
  json.begin_object()
      .member("id", publication.publication.hex())
      .member("program", publication.participant_name)
      .member("pid", publication.pid)
      .member("host", publication.host)
      .member("keep_last", publication.keep_last);
  json.key("endpoints").begin_array();
  for (const wire::endpoint& endpoint : publication.endpoints) {
    json.begin_object()
        .member("transport", wire::name_of(endpoint.transport))
        .member("address", endpoint.address)
        .end_object();
  }
  json.end_array().key("type");
  if (publication.type) {
    json.begin_object()
        .member("name", publication.type->name)
        .member("encoding", publication.type->encoding)
        .member("hash", hash_text(publication.type->hash));
    // The broker tells the schema only where it was asked for one topic.
    if (const auto size = publication.type->schema.size(); size != 0) json.member("schema_bytes", std::uint64_t{size});
    json.end_object();
  } else {
    json.null();
  }
  json.key("counters");
  if (publication.counters) {
    put_counters(json, *publication.counters, publication.received_ago_ms);
  } else {
    json.null();
  }
  json.end_object();
}

void put_subscription(json_writer& json, const wire::subscription_info& subscription) {
  json.begin_object()
      .member("id", subscription.subscription.hex())
      .member("program", subscription.participant_name)
      .member("pid", subscription.pid)
      .member("host", subscription.host)
      .member("max_age_ms", subscription.max_age_ms);
  if (const auto& counters = subscription.counters) {
    const bool linked = counters->transport != wire::transport::none;
    json.key("transport");
    if (linked) {
      json.value(wire::name_of(counters->transport));
    } else {
      json.null();
    }
    json.member("reason", counters->reason).key("counters").begin_object();
    json.member("received", counters->received)
        .member("bytes", counters->bytes)
        .member("missed", counters->missed)
        .member("malformed", counters->malformed)
        .member("stale", counters->stale)
        .key("age_ns");
    if (counters->age_ns >= 0) {
      json.value(counters->age_ns);
    } else {
      json.null();
    }
    json.member("received_ago_ms", subscription.received_ago_ms).end_object();
  } else {
    json.key("transport").null().key("reason").null().key("counters").null();
  }
  json.end_object();
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

void put_topic(json_writer& json, const wire::topic_state& state) {
  json.begin_object().member("topic", state.topic).key("publisher");
  if (state.publication) {
    put_publication(json, *state.publication);
  } else {
    json.null();
  }
  json.member("subscriber_count", state.subscription_count).key("subscribers").begin_array();
  for (const wire::subscription_info& subscription : state.subscriptions) put_subscription(json, subscription);
  json.end_array().end_object();
}

}  // namespace orc::cli
