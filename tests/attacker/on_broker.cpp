// Attacks that exhaust or confuse the broker itself.
#include <cstring>

#include "attacker/attack.h"

namespace orc::test {

namespace {

constexpr auto moment = std::chrono::milliseconds(50);

// libzmq numbers nameless peers: who claims the next number first makes it stumble.
void claim_routing_ids(battlefield& field) {
  std::vector<line> claimed;
  while (field.goes_on() && claimed.size() < 64) {
    const auto number =
        static_cast<std::uint32_t>(field.below(8) == 0 ? field.random() : 0x6b8b4567 + field.below(1000));
    std::string identity(5, '\0');
    for (std::size_t n = 0; n < 4; ++n) identity[1 + n] = static_cast<char>(number >> (24 - 8 * n));
    claimed.push_back(to_broker(field, identity));
    claimed.back().say_frame("");
  }
}

void endless_message(battlefield& field) {
  line to = to_broker(field);
  const std::string part(60'000, 'x');
  while (field.goes_on() && to.say_frame(part, true)) {
  }
}

void never_read(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  const std::string question = frame_of(wire::encode({7, wire::list_topics{}}));
  for (int n = 0; field.goes_on() && n < 20'000; ++n) {
    if (!to.say(question, moment)) return;
  }
}

void many_silent(battlefield& field) {
  std::vector<line> silent;
  while (field.goes_on() && silent.size() < 300) {
    silent.emplace_back(field.broker());
    if (!silent.back().is_up()) break;
  }
  // Held until they are cut off, or the moment is over.
  while (field.goes_on() && !silent.empty()) {
    if (silent.back().hear(moment)) return;
    silent.pop_back();
  }
}

void slow_greeting(battlefield& field) {
  line to(field.broker());
  const std::string greeting("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
  for (const char each : greeting) {
    if (!field.goes_on() || !to.say({&each, 1})) return;
  }
}

// Participants without end, with topics and requests, that leave without a word.
void crowd(battlefield& field) {
  std::vector<line> all;
  while (field.goes_on() && all.size() < 200) {
    line each = to_broker(field);
    if (!each.is_up() || !tell(each, 1, made_up_hello(field))) break;
    for (int n = 0; n < 20; ++n) {
      const std::string topic = "crowd/" + std::to_string(field.below(100'000));
      tell(each, 2, wire::register_topic{topic, wire::id::random(), {}, {}});
      tell(each, 3, wire::request_topic{topic, wire::id::random()});
    }
    all.push_back(std::move(each));
  }
}

void many_subscriptions(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  const std::string topic = field.below(2) == 0 ? "crowd/one" : "honest/1";
  for (int n = 0; field.goes_on() && n < 20'000; ++n) {
    if (!tell(to, 2, wire::request_topic{topic, wire::id::random()})) return;
    if (n % 100 == 0) tell(to, 3, wire::describe_topic{topic});
    while (to.hear(std::chrono::milliseconds(0))) {
    }
  }
}

void big_routing_id(battlefield& field) {
  line to = to_broker(field, std::string(60'000, 'i'));
  tell(to, 1, made_up_hello(field));
  for (int n = 0; field.goes_on() && n < 200; ++n) tell(to, 2, wire::request_topic{"honest/1", wire::id::random()});
}

void garbage(battlefield& field) {
  line to = to_broker(field);
  while (field.goes_on()) {
    std::string frame = wire::encode({field.random(), made_up_hello(field)});
    for (int n = 0; n < 8; ++n) frame[field.below(frame.size())] = static_cast<char>(field.random());
    if (!to.say_frame(frame)) return;
    while (to.hear(std::chrono::milliseconds(0))) {
    }
  }
}

void broken_frames(battlefield& field) {
  line to = to_broker(field);
  std::string bytes(4096, '\0');
  for (char& each : bytes) each = static_cast<char>(field.random());
  while (field.goes_on() && to.say(bytes, moment)) {
  }
}

void ping(battlefield& field) {
  line to = to_broker(field);
  const std::string one = frame_of(std::string("\4PING\0\0", 7), 4);
  std::string many;
  while (many.size() < 60'000) many += one;
  while (field.goes_on() && to.say(many, moment)) {
  }
}

void move_without_end(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  const auto mine = wire::id::random();
  for (std::uint16_t port = 1; field.goes_on(); ++port) {
    const std::string address = "tcp://127.0.0.1:" + std::to_string(1 + port % 60'000);
    if (!tell(to, 2, wire::register_topic{"bait", mine, {{wire::transport::tcp, address}}, {}})) return;
    while (to.hear(std::chrono::milliseconds(0))) {
    }
  }
}

void foreign_endpoints(battlefield& field) {
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  for (const char* address : {"ipc:///run/docker.sock", "ipc:///run/dbus/system_bus_socket", "ipc:///../etc/passwd"}) {
    tell(to, 2, wire::register_topic{"bait", wire::id::random(), {{wire::transport::ipc, address}}, {}});
  }
  for (const char* address : {"tcp://192.0.2.1:22", "tcp://127.0.0.1:22", "tcp://[::1]:1", "tcp://example.org:80"}) {
    tell(to, 3, wire::register_topic{"bait", wire::id::random(), {{wire::transport::tcp, address}}, {}});
  }
  while (field.goes_on() && to.hear()) {
  }
}

}  // namespace

const std::vector<attack>& attacks_on_broker() {
  static const std::vector<attack> all{{"claim routing ids", claim_routing_ids},
                                       {"endless message", endless_message},
                                       {"never read", never_read},
                                       {"many silent", many_silent},
                                       {"slow greeting", slow_greeting},
                                       {"crowd", crowd},
                                       {"many subscriptions", many_subscriptions},
                                       {"big routing id", big_routing_id},
                                       {"garbage", garbage},
                                       {"broken frames", broken_frames},
                                       {"ping", ping},
                                       {"move without end", move_without_end},
                                       {"foreign endpoints", foreign_endpoints}};
  return all;
}

}  // namespace orc::test
