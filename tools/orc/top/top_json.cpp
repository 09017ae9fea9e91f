// The JSON of `orc top`.
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/orc/top/top_columns.h"
#include "tools/orc/top/top_print.h"
#include "tools/orc/top/top_text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

template <class Number>
json_value known(const std::optional<Number>& number) {
  return number ? json_value(*number) : json_value();
}

json_value known(const std::optional<std::chrono::nanoseconds>& span) {
  return span ? json_value(span->count()) : json_value();
}

json_value object_of(const participant_state& who) {
  return {{"id", who.id}, {"program", who.name}, {"pid", who.pid}, {"host", who.host}};
}

json_value object_of(const view::subscription_figures& subscription) {
  json_value made = {
      {"id", subscription.id},
      {"subscriber", object_of(subscription.subscriber)},
      {"transport", subscription.transport ? json_value(to_string(*subscription.transport)) : json_value()},
      {"reason", subscription.reason},
      {"rate_hz", known(subscription.rate_hz)},
      {"bytes_per_s", known(subscription.bytes_per_s)},
      {"received", subscription.received},
      {"missed", subscription.missed},
      {"missed_per_s", known(subscription.missed_per_s)},
      {"malformed", subscription.malformed},
      {"stale", subscription.stale},
      {"sample_age_ns", known(subscription.sample_age)}};
  return made;
}

json_value object_of(const view::publication_figures& publication) {
  return {{"id", publication.id},
          {"publisher", object_of(publication.publisher)},
          {"host_name", publication.host_name},
          {"stale", publication.stale},
          {"type", publication.type ? json_of(*publication.type) : json_value()},
          {"rate_hz", known(publication.rate_hz)},
          {"jitter_ns", known(publication.jitter)},
          {"bytes_per_s", known(publication.bytes_per_s)},
          {"age_ns", known(publication.age)},
          {"sent", publication.sent},
          {"bytes", publication.bytes},
          {"dropped", publication.dropped},
          {"dropped_per_s", known(publication.dropped_per_s)},
          {"readers", publication.readers}};
}

json_value object_of(const view::topic_figures& topic) {
  json_value shared_by = json_value::array();
  for (const auto& each : topic.shared_by) shared_by.push_back(object_of(each));
  json_value subscriptions = json_value::array();
  for (const auto& each : topic.subscriptions) subscriptions.push_back(object_of(each));
  json_value offered = json_value::array();
  for (const orc::transport each : topic.offered) offered.push_back(to_string(each));
  return {{"topic", topic.name},
          {"publisher", topic.publisher ? object_of(*topic.publisher) : json_value()},
          {"host_name", topic.host_name},
          {"stale", topic.stale},
          {"type", topic.type ? json_of(*topic.type) : json_value()},
          {"offered", std::move(offered)},
          {"rate_hz", known(topic.rate_hz)},
          {"jitter_ns", known(topic.jitter)},
          {"bytes_per_s", known(topic.bytes_per_s)},
          {"age_ns", known(topic.age)},
          {"sent", topic.sent},
          {"bytes", topic.bytes},
          {"dropped", topic.dropped},
          {"dropped_per_s", known(topic.dropped_per_s)},
          {"missed", topic.missed},
          {"missed_per_s", known(topic.missed_per_s)},
          {"readers", topic.readers},
          {"shared_by", std::move(shared_by)},
          {"subscriber_count", topic.subscribers},
          {"subscriptions", std::move(subscriptions)}};
}

void add_sums(json_value& to, const view::traffic& sum) {
  to["sent_hz"] = sum.sent_hz;
  to["sent_bytes_per_s"] = sum.sent_bytes_per_s;
  to["received_hz"] = sum.received_hz;
  to["received_bytes_per_s"] = sum.received_bytes_per_s;
  to["missed"] = sum.missed;
  to["missed_per_s"] = sum.missed_per_s;
  to["dropped"] = sum.dropped;
  to["dropped_per_s"] = sum.dropped_per_s;
}

json_value object_of(const view::participant_figures& participant) {
  json_value made = object_of(participant.participant);
  made["library"] = participant.participant.library;
  made["published"] = participant.published;
  made["subscribed"] = participant.subscribed;
  add_sums(made, participant.sum);
  return made;
}

json_value object_of(const view::host_figures& host) {
  json_value made = {{"id", host.id},
                     {"participants", host.participants},
                     {"published", host.published},
                     {"subscribed", host.subscribed}};
  add_sums(made, host.sum);
  return made;
}

template <class Row>
json_value list_of(const std::vector<Row>& rows, const std::string& filter) {
  json_value list = json_value::array();
  for (const Row& each : rows)
    if (matches_filter(search_text(each), filter)) list.push_back(object_of(each));
  return list;
}

}  // namespace

std::string top_json(const view::system_figures& figures, const std::string& filter) {
  const broker_state& broker = figures.broker;
  return to_text({{"broker",
                   {{"endpoint", broker.endpoint},
                    {"version", broker.version},
                    {"uptime_ms", broker.uptime.count()},
                    {"participants", broker.participants},
                    {"rejected", broker.rejected}}},
                  {"topics", list_of(figures.topics, filter)},
                  {"participants", list_of(figures.participants, filter)},
                  {"hosts", list_of(figures.hosts, filter)}}) +
         "\n";
}

}  // namespace orc::cli
