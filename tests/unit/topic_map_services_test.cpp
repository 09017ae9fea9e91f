// The topics of a service are for the program that serves it.
#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;

namespace {

const std::string service = "arm/move";
const std::string reply = service + "/.reply/0123456789abcdef";
const std::string records = service + "/.calls";

}  // namespace

TEST_CASE("topic map: only the program that serves answers the calls", "[unit]") {
  topic_map_fixture f;
  f.join("server", 1);
  f.join("other", 2);
  CHECK(f.register_error("other", registration(reply, 10)).code == wire::error_code::name_taken);
  f.registered("server", registration(service, 20));
  f.registered("server", registration(reply, 21));
  f.registered("server", registration(records, 22));
  for (const auto& topic : {service + "/.reply/1", reply, records}) {
    auto result = f.map.register_topic(at("other"), registration(topic, 11), f.now);
    const auto* const held = std::get_if<topic_map::held>(&result);  // it depends on whether the server lives
    REQUIRE(held != nullptr);
    CHECK(held->participant == identity(1));
  }
  f.registered("other", registration(service + "/.call/0123456789abcdef", 12));  // any program may call
}

TEST_CASE("topic map: after the server, the next one answers", "[unit]") {
  topic_map_fixture f;
  f.join("server", 1);
  f.join("next", 2);
  f.registered("server", registration(service, 20));
  f.registered("server", registration(reply, 21));
  f.map.remove(identity(1), f.now);
  f.registered("next", registration(records, 32));  // records may come first, as when they are played
  f.registered("next", registration(service, 30));
  f.registered("next", registration(reply, 31));
}
