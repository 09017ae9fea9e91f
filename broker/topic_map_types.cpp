// The types that publications and subscriptions declare, and the schemas that participants send.
#include "table_room.h"
#include "topic_map.h"

namespace orc {

const wire::type_reference* topic_map::declared(const std::optional<wire::type_reference>& type) {
  const bool empty = !type || *type == wire::type_reference{};
  return empty ? nullptr : &*type;
}

topic_map::done topic_map::check_type(const wire::type_reference* type, const participant& self, std::size_t text,
                                      std::size_t replaced) const {
  type_store::cost more;
  if (type != nullptr) {
    if (auto checked = type_store::check(*type); !checked) return checked;
    more = types_.cost_of(*type, self.types);
  }
  const auto without_replaced = [&](std::size_t bytes) { return bytes > replaced ? bytes - replaced : 0; };
  return room_for_bytes(without_replaced(more.total + text), without_replaced(more.of_client + text), self);
}

topic_map::done topic_map::room_for_bytes(std::size_t total, std::size_t of_client, const participant& self) const {
  if (total == 0 && of_client == 0) return wire::ack{};
  const auto [used, limit] = open_to(self, description_bytes(), limits_.schema_bytes, &client::description_bytes);
  const std::size_t all = used + (self.by->discovered ? of_client : total);
  const std::size_t own = self.by->description_bytes + of_client;
  // room() covers one more; this covers all of it.
  return room("bytes of types, schemas and endpoints", all == 0 ? 0 : all - 1, limit, *self.by, own == 0 ? 0 : own - 1);
}

topic_map::done topic_map::add_schema(routing from, const wire::schema_part& part, time now) {
  participant* const self = find(from);
  if (self == nullptr) return no_participant();
  if (auto answer = types_.look_at(part, self->types)) return std::move(*answer);
  const std::size_t more = part.bytes.size();
  if (auto space = room_for_bytes(more, more, *self); !space) {
    types_.drop_upload(self->types);
    return space;
  }
  return types_.add(part, self->types, now);
}

wire::error topic_map::in_topic(const std::string& topic, wire::error why) {
  if (why.code == wire::error_code::bad_request) why.text = "topic \"" + topic + "\": " + why.text;
  return why;
}

wire::error topic_map::no_participant() {
  return {wire::error_code::unknown_participant, "this connection has not said Hello, or its lease ran out"};
}

}  // namespace orc
