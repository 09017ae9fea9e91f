// Attacks that pretend to be somebody whom the broker shows.
#include "attacker/attack.h"

namespace orc::test {

namespace {

wire::hello hello_of(const wire::id& participant, const std::string& host, std::uint32_t pid) {
  return {participant, "it is me", host, pid, 0, "none", wire::id::random()};
}

void say_goodbye_for(battlefield& field, const wire::hello& victim) {
  line to = to_broker(field);
  tell(to, 1, victim);
  tell(to, 2, wire::goodbye{});
  while (field.goes_on() && to.hear(std::chrono::milliseconds(20))) {
  }
}

void hijack(battlefield& field) {
  for (const auto& topic : topics_of(field)) {
    if (!field.goes_on()) return;
    if (topic.publication) {
      const auto& of = *topic.publication;
      say_goodbye_for(field, hello_of(of.participant, of.host, of.pid));
    }
    for (const auto& of : topic.subscriptions) {
      if (field.goes_on()) say_goodbye_for(field, hello_of(of.participant, of.host, of.pid));
    }
  }
}

void take_names(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  for (const auto& topic : topics_of(field)) {
    if (!field.goes_on() || !topic.publication) continue;
    const auto& theirs = topic.publication->publication;
    tell(to, 2, wire::unregister_topic{topic.topic, theirs});
    tell(to, 3, wire::register_topic{topic.topic, theirs, topic.publication->endpoints, {}});
    tell(to, 4, wire::register_topic{topic.topic, wire::id::random(), {}, {}});
    for (const auto& each : topic.subscriptions) tell(to, 5, wire::request_topic{topic.topic, each.subscription});
    for (const auto& each : topic.subscriptions) tell(to, 6, wire::release_topic{topic.topic, each.subscription});
  }
  while (field.goes_on() && to.hear()) {
  }
}

void poison_schemas(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  for (const auto& topic : topics_of(field)) {
    if (!topic.publication || !topic.publication->type) continue;
    auto type = *topic.publication->type;
    type.schema = "something else";
    tell(to, 2, wire::register_topic{"poison", wire::id::random(), {}, type});
  }
  while (field.goes_on() && to.hear()) {
  }
}

}  // namespace

const std::vector<attack>& attacks_on_identity() {
  static const std::vector<attack> all{
      {"hijack", hijack}, {"take names", take_names}, {"poison schemas", poison_schemas}};
  return all;
}

}  // namespace orc::test
