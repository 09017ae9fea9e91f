// Attacks that pretend to be somebody whom the broker shows.
#include <algorithm>

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

// Other bytes under the hash of each type that is in use, by somebody with this type and by somebody with another one.
void poison_schemas(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  std::uint32_t n = 0;
  for (const auto& topic : topics_of(field)) {
    if (!field.goes_on() || !topic.publication || !topic.publication->type) continue;
    auto type = *topic.publication->type;
    const auto size = type.schema_size;
    if (field.below(2) == 0) type.name += "_";
    if (field.below(4) == 0) type.schema_size = 1;
    tell(to, 2, wire::register_topic{"poison/" + std::to_string(++n), wire::id::random(), {}, type});
    tell(to, 2, wire::request_topic{topic.topic, wire::id::random(), 0, type});
    for (std::uint32_t at = 0; at < size; at += wire::max_schema_part) {
      const auto bytes = std::min<std::size_t>(wire::max_schema_part, size - at);
      tell(to, 3, wire::schema_part{type.hash, at, std::string(bytes, 'x')});
    }
    tell(to, 3, wire::schema_part{type.hash, 0, "unfinished"});
    tell(to, 4, wire::get_schema{type.hash, static_cast<std::uint32_t>(field.below(size + 2))});
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
