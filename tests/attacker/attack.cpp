#include "attacker/attack.h"

#include <span>
#include <variant>

namespace orc::test {

line to_broker(battlefield& field, std::string_view identity) {
  line to(field.broker());
  to.introduce(identity);
  return to;
}

bool tell(line& to, std::uint64_t request, wire::body what) {
  return to.say_frame(wire::encode({request, std::move(what)}));
}

std::optional<wire::body> ask(line& to, wire::body what) {
  if (!tell(to, 99, std::move(what))) return std::nullopt;
  while (const auto frame = to.hear()) {
    auto message = wire::decode(std::as_bytes(std::span(*frame)));
    if (message && message->request == 99) return std::move(message->content);
  }
  return std::nullopt;
}

wire::hello made_up_hello(battlefield& field) {
  const bool odd = field.below(4) == 0;
  return {wire::id::random(),
          odd ? "evil\xc2\x9b\x1b[2Jname" : "visitor",
          odd ? "elsewhere:1" : "6f1d2c3b-4a59-4687-9786-a5b4c3d2e1f0:4026531836",
          static_cast<std::uint32_t>(field.below(65536)),
          field.random(),
          "none",
          {}};
}

std::vector<wire::topic_state> topics_of(battlefield& field) {
  line to = to_broker(field);
  auto answer = ask(to, wire::list_topics{"honest", 0});
  auto* const list = answer ? std::get_if<wire::topic_list>(&*answer) : nullptr;
  return list != nullptr ? std::move(list->topics) : std::vector<wire::topic_state>();
}

}  // namespace orc::test
