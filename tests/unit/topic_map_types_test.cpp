// What topics and subscriptions say about their types, and what the broker keeps of it.
#include "support/topic_map_fixture.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;
using fixture = topic_map_fixture;

namespace {

const std::string schema = "table State { x:double; }";
const type_description state{"T", "flatbuffer", "flatbuffer", schema};

topic_map::done upload(fixture& f, const std::string& from, const type_description& type, std::size_t part = 10) {
  for (std::size_t at = 0; at < type.schema.size(); at += part) {
    const wire::schema_part next{hash_of(type), static_cast<std::uint32_t>(at), type.schema.substr(at, part)};
    if (auto answer = f.map.add_schema(test::at(from), next, f.now); !answer) return answer;
  }
  return wire::ack{};
}

wire::request_topic request(const std::string& topic, std::uint64_t subscription, const type_description& type) {
  wire::request_topic made{topic, identity(subscription)};
  if (!type.empty()) made.type = reference_to(type);
  return made;
}

wire::error refusal(const topic_map::requested& answer) {
  REQUIRE_FALSE(answer);
  return answer.error();
}

}  // namespace

TEST_CASE("topic map types: a schema is asked for until somebody has sent it") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  CHECK(f.registered("a", typed("t", 10, schema)).lacks_schema);
  auto wanted = f.map.request_topic(at("b"), request("t", 20, state));
  REQUIRE(wanted);
  CHECK(wanted->lacks_schema);
  CHECK_FALSE(f.described("t").lacks_schema);
  REQUIRE(f.taken().empty());
  REQUIRE(upload(f, "b", state));
  CHECK_FALSE(f.registered("a", typed("t", 10, schema)).lacks_schema);
  CHECK(f.taken().empty());  // nothing changed
  const auto kept = f.map.schema({hash_of(state), 0});
  REQUIRE(kept);
  CHECK(kept->bytes == schema);
  CHECK_FALSE(f.registered("a", registration("untyped", 11)).lacks_schema);
}

TEST_CASE("topic map types: both ends are shown with their types") {
  fixture f;
  f.join("a", 1);
  f.registered("a", typed("t", 10, schema));
  REQUIRE(f.map.request_topic(at("a"), request("t", 20, {"Other", "", "json", ""})));
  REQUIRE(f.map.request_topic(at("a"), request("t", 21, {})));
  const auto shown = f.described("t");
  CHECK(shown.publication->type == reference_to(state));
  REQUIRE(shown.subscriptions.size() == 2);
  CHECK(shown.subscriptions[0].type->name == "Other");
  CHECK_FALSE(shown.subscriptions[1].type);
}

TEST_CASE("topic map types: an empty description is none") {
  fixture f;
  f.join("a", 1);
  auto empty = registration("t", 10);
  empty.type.emplace();
  const auto answer = f.registered("a", empty);
  CHECK_FALSE(answer.publication->type);
  CHECK_FALSE(answer.lacks_schema);
}

TEST_CASE("topic map types: a publication that changes its type tells those who requested it") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  f.registered("a", typed("t", 10, schema));
  f.requested("b", "t", 20);
  f.registered("a", typed("t", 10, schema));
  CHECK(f.taken().empty());
  const auto before = f.map.newest_change();
  f.registered("a", typed("t", 10, schema + " "));
  auto events = f.taken();
  REQUIRE(events.size() == 1);
  CHECK(events[0].state.publication->type->schema_size == schema.size() + 1);
  CHECK_FALSE(events[0].state.lacks_schema);
  CHECK(f.map.newest_change() > before);
  CHECK(f.map.types().size() == 1);
  f.registered("a", registration("t", 10));
  CHECK(f.taken().size() == 1);
  CHECK(f.map.types().size() == 0);
}

TEST_CASE("topic map types: a subscription that changes its type is a change") {
  fixture f;
  f.join("a", 1);
  REQUIRE(f.map.request_topic(at("a"), request("t", 20, state)));
  const auto before = f.map.newest_change();
  REQUIRE(f.map.request_topic(at("a"), request("t", 20, state)));
  CHECK(f.map.newest_change() == before);
  REQUIRE(f.map.request_topic(at("a"), request("t", 20, {"Other", "", "json", ""})));
  CHECK(f.map.newest_change() > before);
  CHECK(f.map.types().size() == 1);
  CHECK(f.described("t").subscriptions.at(0).type->name == "Other");
  CHECK(f.map.subscription_count() == 1);
}

TEST_CASE("topic map types: a refused type changes nothing") {
  fixture f;
  f.join("a", 1);
  auto what = typed("t", 10, "");
  what.type->hash ^= 1;
  auto wanted = request("t", 20, {});
  SECTION("a wrong hash") {}
  SECTION("no printable name") {
    what = typed("t", 10, schema);
    what.type->name = "T\n";
  }
  SECTION("another type with the hash of one that it has") {
    f.registered("a", typed("u", 11, schema));
    what = typed("t", 10, schema);
    what.type->name = "Other";
  }
  wanted.type = what.type;
  const auto topics = f.map.topic_count();
  const auto bytes = f.map.description_bytes();
  CHECK(f.register_error("a", what).code == wire::error_code::bad_request);
  CHECK_THAT(f.register_error("a", what).text, contains("topic \"t\": "));
  CHECK(refusal(f.map.request_topic(at("a"), wanted)).code == wire::error_code::bad_request);
  CHECK(f.map.topic_count() == topics);
  CHECK(f.map.subscription_count() == 0);
  CHECK(f.map.description_bytes() == bytes);
  f.registered("a", registration("t", 10));
  REQUIRE(f.map.request_topic(at("a"), request("t", 20, {})));
  CHECK(f.register_error("a", what).code == wire::error_code::bad_request);  // the one before stays
  CHECK(refusal(f.map.request_topic(at("a"), wanted)).code == wire::error_code::bad_request);
  CHECK(f.described("t").publication);
  CHECK(f.map.subscription_count() == 1);
}

TEST_CASE("topic map types: everything of a type goes with its last user") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  f.registered("a", typed("t", 10, schema));
  REQUIRE(f.map.request_topic(at("b"), request("t", 20, state)));
  REQUIRE(upload(f, "a", state));
  const auto gone = [&](const std::string& who) { f.map.goodbye(at(who), f.now); };
  SECTION("goodbye") {
    gone("a");
    CHECK(f.map.schema({hash_of(state), 0}));
    gone("b");
  }
  SECTION("release and unregister") {
    REQUIRE(f.map.release_topic(at("b"), {"t", identity(20)}));
    CHECK(f.map.schema({hash_of(state), 0}));
    REQUIRE(f.map.unregister_topic(at("a"), {"t", identity(10)}, f.now));
  }
  SECTION("the end of the lease") {
    f.now += 3s;
    CHECK(f.map.expire(f.now, 100) == 2);
  }
  CHECK_FALSE(f.map.schema({hash_of(state), 0}));
  CHECK(f.map.description_bytes() == 0);
}

TEST_CASE("topic map types: an interrupted upload is dropped") {
  fixture f;
  f.join("a", 1);
  f.join("b", 2);
  for (const char* who : {"a", "b"}) REQUIRE(f.map.request_topic(at(who), request("t", 20, state)));
  const auto kept = f.map.description_bytes();
  REQUIRE(f.map.add_schema(at("a"), {hash_of(state), 0, schema.substr(0, 5)}, f.now));
  CHECK(f.map.description_bytes() == kept + 5);
  SECTION("the participant leaves") { f.map.retire(identity(1)); }
  SECTION("it sends no more") {
    f.now += 2s;
    REQUIRE(f.map.renew(at("a"), f.now));
    REQUIRE(f.map.renew(at("b"), f.now));
    f.now += 1s;
    CHECK(f.map.expire(f.now, 100) == 0);
  }
  CHECK(f.map.types().uploads() == 0);
  CHECK(f.map.description_bytes() == kept);
  CHECK(upload(f, "b", state));
}

TEST_CASE("topic map types: an upload goes on over a new connection") {
  fixture f;
  f.join("a", 1);
  f.registered("a", typed("t", 10, schema));
  REQUIRE(f.map.add_schema(at("a"), {hash_of(state), 0, schema.substr(0, 5)}, f.now));
  f.map.closed(at("a"));
  f.join("b", 1);
  REQUIRE(f.map.add_schema(at("b"), {hash_of(state), 5, schema.substr(5)}, f.now));
  CHECK(f.map.schema({hash_of(state), 0}));
}

TEST_CASE("topic map types: strangers send no schema") {
  fixture f;
  const auto answer = f.map.add_schema(at("nobody"), {hash_of(state), 0, schema}, f.now);
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == wire::error_code::unknown_participant);
}

TEST_CASE("topic map types: one client has half of the bytes, and types and schemas count once for each") {
  topic_map_limits limits;
  limits.schema_bytes = 10'000;
  fixture f(limits);
  f.join("a", 1, user(1));
  f.join("a2", 2, user(1));
  f.join("b", 3, user(2));
  const type_description large{"T", "flatbuffer", "flatbuffer", std::string(4'000, 's')};
  for (std::uint64_t i = 0; i < 10; ++i) {
    REQUIRE(f.map.request_topic(at("a"), request("t" + std::to_string(i), 100 + i, large)));
    REQUIRE(f.map.request_topic(at("b"), request("t" + std::to_string(i), 200 + i, large)));
  }
  REQUIRE(upload(f, "a", large, 1'000));
  CHECK(f.map.description_bytes() == 4'000 + 21 + type_store::bytes_per_type);

  const type_description more{"U", "flatbuffer", "flatbuffer", std::string(4'000, 'u')};
  REQUIRE(f.map.request_topic(at("a2"), request("u", 300, more)));
  const auto bytes = f.map.description_bytes();
  auto refused = upload(f, "a2", more, 200);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == wire::error_code::limit);
  CHECK_THAT(refused.error().text, contains("user 1 may have") && contains("bytes of types"));
  CHECK(f.map.description_bytes() == bytes);  // what it had sent of it is gone

  // Another client pays for what it uses, whoever sent it.
  f.join("c", 4, user(3));
  REQUIRE(f.map.request_topic(at("c"), request("t", 400, large)));
  const type_description third{"V", "flatbuffer", "flatbuffer", std::string(2'000, 'v')};
  REQUIRE(f.map.request_topic(at("c"), request("u", 401, third)));
  refused = upload(f, "c", third, 200);
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().text, contains("user 3 may have"));
}

TEST_CASE("topic map types: names of types are limited as well") {
  topic_map_limits limits;
  limits.schema_bytes = 4'000;
  fixture f(limits);
  f.join("a", 1);
  std::uint64_t taken = 0;
  for (; taken < 100; ++taken) {
    const type_description type{std::string(200, 'n') + std::to_string(taken), "", "json", ""};
    auto answer = f.map.request_topic(at("a"), request("t", 100 + taken, type));
    if (answer) continue;
    CHECK(answer.error().code == wire::error_code::limit);
    break;
  }
  CHECK(taken == 4);  // of about 460 bytes each, in 2,000
  CHECK(f.map.subscription_count() == 4);
}

TEST_CASE("topic map types: a mismatch is passed on to the publisher, and no other claim") {
  fixture f;
  f.join("publisher", 1);
  f.join("subscriber", 2);
  f.join("stranger", 3);
  f.registered("publisher", typed("t", 10, schema));
  const type_description other{"Other", "", "json", ""};
  REQUIRE(f.map.request_topic(at("subscriber"), request("t", 20, other)));
  REQUIRE(f.map.request_topic(at("subscriber"), request("t", 21, state)));
  REQUIRE(f.map.request_topic(at("subscriber"), request("t", 22, {})));
  REQUIRE(f.map.request_topic(at("subscriber"), request("u", 23, other)));
  const auto report = [&](const std::string& from, const std::string& topic, std::uint64_t subscription) {
    return f.map.report_mismatch(at(from), {topic, identity(subscription), "differs", "a lie", 1}, f.now);
  };
  const auto told = report("subscriber", "t", 20);
  REQUIRE(told);
  REQUIRE(*told);
  CHECK((*told)->to == at("publisher"));
  CHECK((*told)->what.topic == "t");
  CHECK((*told)->what.text == "differs");
  CHECK((*told)->what.participant_name == "program2");
  CHECK((*told)->what.pid == 1'002);
  CHECK((*told)->what.subscription != identity(20));  // its own id is a credential
  const auto is_dropped = [](const topic_map::reported& answer) { return answer && !*answer; };
  CHECK(is_dropped(report("subscriber", "t", 21)));  // the same type
  CHECK(is_dropped(report("subscriber", "t", 22)));  // takes any type
  CHECK(is_dropped(report("subscriber", "u", 23)));  // nobody publishes
  CHECK(is_dropped(report("subscriber", "u", 20)));  // of another topic
  CHECK(is_dropped(report("stranger", "t", 20)));
  CHECK(report("nobody", "t", 20).error().code == wire::error_code::unknown_participant);
}

TEST_CASE("topic map types: a subscriber reports so many mismatches a second at most, and hides nobody else's") {
  fixture f;
  constexpr std::uint64_t others = topic_map::told_at_once / topic_map::reports_at_once;
  f.join("publisher", 1);
  f.registered("publisher", typed("t", 10, schema));
  f.registered("publisher", typed("u", 11, schema));
  const auto name = [](std::uint64_t n) { return "subscriber" + std::to_string(n); };
  for (std::uint64_t n = 0; n <= others; ++n) {
    f.join(name(n), 100 + n);
    REQUIRE(f.map.request_topic(at(name(n)), request("t", 200 + n, {"Other", "", "json", ""})));
    REQUIRE(f.map.request_topic(at(name(n)), request("u", 300 + n, {"Other", "", "json", ""})));
  }
  const auto passed_on = [&](std::uint64_t who) {
    int count = 0;
    for (int n = 0; n < 100; ++n) {
      const bool first = n % 2 == 0;
      const wire::type_mismatch what{first ? "t" : "u", identity((first ? 200U : 300U) + who), "differs", "", 0};
      count += f.map.report_mismatch(at(name(who)), wire::type_mismatch(what), f.now)->has_value() ? 1 : 0;
    }
    return count;
  };
  CHECK(passed_on(0) == topic_map::reports_at_once);
  CHECK(passed_on(0) == 0);
  for (std::uint64_t n = 1; n < others; ++n) CHECK(passed_on(n) == topic_map::reports_at_once);
  CHECK(passed_on(others) == 0);  // the publisher was told of so many in all, whichever topics they are about
  f.now += 100ms;
  CHECK(passed_on(0) == 1);
  f.now += 1h;
  CHECK(passed_on(0) == topic_map::reports_at_once);
}
