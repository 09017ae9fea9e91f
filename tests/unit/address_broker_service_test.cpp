// What the broker does when connections or the machine fail it: driven without sockets, with times made up.
#include "broker/service/broker_service.h"

#include <algorithm>
#include <map>
#include <set>

#include "orc/type_description.h"
#include "support/catch.h"
#include "support/golden_files.h"

using namespace orc;
using namespace std::chrono_literals;

namespace {

wire::hello process(std::uint64_t n, const std::string& host = "there") {
  return {{1, n}, "program" + std::to_string(n), host, static_cast<std::uint32_t>(n), n, "", {5, n}};
}

struct fixture {
  explicit fixture(detail::process_state state = detail::process_state::unknown)
      : service(
            options(state), [this](std::uint64_t to, const std::string& frame) { return take(names.at(to), frame); },
            now) {}

  broker_service_options options(detail::process_state state) {
    broker_service_options made;
    made.host = "here";
    made.check_process = [state](std::uint32_t, std::uint64_t) { return state; };
    made.pid_is_gone = [this](std::uint32_t pid) { return gone.contains(pid); };
    made.unread = [this](std::uint64_t from) { return unread.contains(names.at(from)); };
    made.log = [this](broker_log_level, std::string_view text) { log.emplace_back(text); };
    return made;
  }
  bool take(const std::string& to, const std::string& frame) {
    if (slow.contains(to)) return false;
    auto decoded = wire::decode(std::as_bytes(std::span(frame.data(), frame.size())));
    REQUIRE(decoded);
    sent.emplace_back(to, *std::move(decoded));
    return true;
  }
  // The number of a connection that has a name here.
  std::uint64_t at(const std::string& name) {
    const std::uint64_t number = std::hash<std::string>{}(name);
    if (names.try_emplace(number, name).second) service.opened(number, {});
    return number;
  }
  void say(const std::string& from, std::uint64_t request, wire::body content) {
    const auto frame = wire::encode({request, std::move(content)});
    service.receive(at(from), std::as_bytes(std::span(frame.data(), frame.size())), now);
  }
  wire::body ask(const std::string& from, wire::body content) {
    sent.clear();
    say(from, 1, std::move(content));
    REQUIRE_FALSE(sent.empty());
    CHECK(sent[0].first == from);
    return sent[0].second.content;
  }
  wire::error_code refusal(const std::string& from, wire::body content) {
    const auto answer = ask(from, std::move(content));
    const auto* wrong = std::get_if<wire::error>(&answer);
    return wrong == nullptr ? wire::error_code::none : wrong->code;
  }

  broker_service::time now{1h};
  std::map<std::uint64_t, std::string> names;
  std::set<std::string> slow;
  std::set<std::string> unread;
  std::set<std::uint32_t> gone;
  std::vector<std::pair<std::string, wire::envelope>> sent;
  std::vector<std::string> log;
  broker_service service;
};

wire::register_topic registration(const std::string& topic, std::uint64_t publication) {
  return {topic, {2, publication}, {}, {}};
}

}  // namespace

TEST_CASE("broker service: a participant that lost an event has to introduce itself again") {
  fixture f;
  f.ask("reader", process(1));
  f.ask("reader", wire::request_topic{"t", {3, 1}});
  f.ask("writer", process(2));
  f.slow = {"reader"};
  f.ask("writer", registration("t", 1));
  CHECK(f.service.counted().unsent == 1);
  f.slow.clear();
  CHECK(f.refusal("reader", wire::heartbeat{}) == wire::error_code::unknown_participant);
  CHECK(f.refusal("reader", process(1)) == wire::error_code::none);
  CHECK(f.refusal("reader", wire::heartbeat{}) == wire::error_code::none);
  const auto state = f.ask("reader", wire::request_topic{"t", {3, 1}});
  CHECK(std::get<wire::topic_state>(state).publication);
}

TEST_CASE("broker service: a pause of the broker costs nobody the lease") {
  fixture f;
  f.ask("a", process(1));
  f.now += 1h;
  f.service.held_up(f.now, 1h);
  f.service.tick(f.now);
  CHECK(f.service.map().participant_count() == 1);
  f.now += 3s;
  f.service.tick(f.now);
  CHECK(f.service.map().participant_count() == 0);
}

TEST_CASE("broker service: of processes on this host the tick removes those that are gone, of others none") {
  fixture f;
  f.ask("near", process(1, "here"));
  f.ask("far", process(2, "there"));
  f.gone = {1, 2};
  f.service.tick(f.now);
  CHECK_FALSE(f.service.map().participant_at(f.at("near")));
  CHECK(f.service.map().participant_at(f.at("far")));
}

TEST_CASE("broker service: a process of this host that cannot be checked is probed") {
  fixture f(detail::process_state::unknown);
  f.ask("holder", process(1, "here"));
  f.ask("holder", registration("t", 1));
  f.ask("rival", process(2, "here"));
  f.sent.clear();
  f.say("rival", 7, registration("t", 2));
  REQUIRE(f.sent.size() == 1);
  CHECK(f.sent[0].first == "holder");
  CHECK(std::holds_alternative<wire::probe>(f.sent[0].second.content));
  REQUIRE(f.service.next_deadline() == f.now + 500ms);
  f.now += 499ms;
  f.service.turn(f.now);
  CHECK(f.sent.size() == 1);
  f.now += 1ms;
  f.service.turn(f.now);
  REQUIRE(f.sent.size() == 2);
  CHECK(f.sent[1].first == "rival");
  CHECK(f.sent[1].second.request == 7);
  CHECK_FALSE(f.service.next_deadline());
}

TEST_CASE("broker service: of several that wait for a dead holder the first one wins") {
  fixture f;
  f.ask("holder", process(1));
  f.ask("holder", registration("t", 1));
  f.ask("one", process(2));
  f.ask("two", process(3));
  f.sent.clear();
  f.say("one", 7, registration("t", 2));
  f.say("two", 8, registration("t", 3));
  f.now += 500ms;
  f.service.turn(f.now);
  const auto answer = std::find_if(f.sent.begin(), f.sent.end(),
                                   [](const auto& s) { return s.first == "one" && s.second.request == 7; });
  REQUIRE(answer != f.sent.end());
  CHECK(std::get<wire::topic_state>(answer->second.content).publication->participant_name == "program2");
  // the second one now waits for the first, which says something and keeps the topic
  f.sent.clear();
  f.say("one", 9, wire::heartbeat{});
  REQUIRE(f.sent.size() == 2);
  CHECK(f.sent[1].first == "two");
  CHECK(f.sent[1].second.request == 8);
  CHECK(std::get<wire::error>(f.sent[1].second.content).code == wire::error_code::name_taken);
}

TEST_CASE("broker service: a holder whose answer is not read yet keeps its topic") {
  fixture f;
  f.ask("holder", process(1));
  f.ask("holder", registration("t", 1));
  f.ask("other", process(2));
  f.say("other", 9, registration("t", 2));
  f.unread = {"holder"};
  f.sent.clear();
  f.now += 2s;
  f.service.turn(f.now);
  CHECK(f.sent.empty());
  f.unread.clear();
  f.service.held_up(f.now += 10s, 10s);  // nor is a pause of the broker its fault
  f.service.turn(f.now);
  CHECK(f.sent.empty());
  f.say("holder", 0, wire::alive{});
  REQUIRE(f.sent.size() == 1);
  CHECK(std::get<wire::error>(f.sent[0].second.content).code == wire::error_code::name_taken);
}

TEST_CASE("broker service: many processes that end at once are cleaned up in parts") {
  fixture f;
  for (unsigned n = 1; n <= 4; ++n) {
    const auto name = "program" + std::to_string(n);
    f.ask(name, process(n, "here"));
    for (unsigned i = 0; i < 400; ++i) f.ask(name, wire::request_topic{"t" + std::to_string(i), {n, i}});
    f.gone.insert(n);
  }
  f.service.tick(f.now);
  CHECK(f.service.next_deadline() <= f.now);  // there is more to do
  for (int n = 0; n < 4; ++n) f.service.turn(f.now);
  CHECK_FALSE(f.service.next_deadline());
  CHECK(std::get<wire::topic_list>(f.ask("visitor", wire::list_topics{})).topics.empty());
}

TEST_CASE("broker service: bad messages are logged once per period, whoever sends how many") {
  fixture f;
  for (int i = 0; i < 1'000; ++i) f.service.receive(f.at("x"), std::as_bytes(std::span("garbage")), f.now);
  CHECK(f.log.empty());
  f.service.tick(f.now);
  f.service.tick(f.now);
  CHECK(f.log.size() == 1);
  CHECK(f.service.counted().rejected == 1'000);
}

TEST_CASE("regression: a program name with control characters does not reach anybody's terminal") {
  fixture f;
  auto who = process(1);
  who.name = "evil\x1b[2J\r\n\x7f\xc2\x9b\x9b";
  f.say("a", 1, who);
  f.say("a", 2, wire::register_topic{"t", {9, 9}, {{wire::transport::tcp, "tcp://127.0.0.1:1"}}, std::nullopt});
  const auto answer = f.ask("b", wire::describe_topic{"t"});
  const auto* described = std::get_if<wire::topic_state>(&answer);
  REQUIRE(described != nullptr);
  REQUIRE(described->publication);
  CHECK(described->publication->participant_name == "evil\\x1b[2J\\r\\n\\x7f\\xc2\\x9b\\x9b");
  REQUIRE_FALSE(f.log.empty());
  for (const auto& line : f.log) CHECK(line.find('\x1b') == std::string::npos);
}

TEST_CASE("broker service: a schema comes in parts, and anyone may read it") {
  fixture f;
  const type_description type{"T", "flatbuffer", "flatbuffer", std::string(wire::max_schema_part + 7, 's')};
  const auto hash = hash_of(type);
  auto typed = registration("t", 1);
  typed.type = {type.name, type.schema_encoding, type.message_encoding, hash,
                static_cast<std::uint32_t>(type.schema.size())};
  f.ask("writer", process(1));
  CHECK(std::get<wire::topic_state>(f.ask("writer", typed)).lacks_schema);
  CHECK(f.refusal("visitor", wire::get_schema{hash, 0}) == wire::error_code::unknown_schema);
  const wire::schema_part first{hash, 0, type.schema.substr(0, wire::max_schema_part)};
  const wire::schema_part second{hash, wire::max_schema_part, type.schema.substr(wire::max_schema_part)};
  CHECK(f.refusal("visitor", first) == wire::error_code::unknown_participant);
  CHECK(f.refusal("writer", second) == wire::error_code::bad_request);
  CHECK(std::holds_alternative<wire::ack>(f.ask("writer", first)));
  CHECK(f.refusal("visitor", wire::get_schema{hash, 0}) == wire::error_code::unknown_schema);
  CHECK(std::holds_alternative<wire::ack>(f.ask("writer", second)));
  CHECK(std::get<wire::schema_part>(f.ask("visitor", wire::get_schema{hash, 0})) == first);
  CHECK(std::get<wire::schema_part>(f.ask("visitor", wire::get_schema{hash, wire::max_schema_part})) == second);
  CHECK_FALSE(std::get<wire::topic_state>(f.ask("writer", typed)).lacks_schema);
  CHECK(f.service.counted().rejected == 0);
}

TEST_CASE("broker service: a participant from before typed topics registers its types as untyped") {
  fixture f;
  const std::uint64_t number = std::hash<std::string>{}("old");
  f.names.emplace(number, "old");
  f.service.opened(number, {.way = peer::via::tcp, .uid = 0, .pid = 0, .directory = {}, .address = "192.168.1.10"});
  f.ask("old", process(1));
  auto frame = test::golden_bytes("before_types/register_topic");
  const std::string elsewhere = "ipc:///run/orc/0102030405060701";
  const std::string allowed = "ipc:///a/orc/7/0102030405060702";
  frame.replace(frame.find(elsewhere), elsewhere.size(), allowed);
  f.sent.clear();
  f.service.receive(f.at("old"), test::as_span(frame), f.now);
  REQUIRE_FALSE(f.sent.empty());
  const auto* const answer = std::get_if<wire::topic_state>(&f.sent[0].second.content);
  REQUIRE(answer != nullptr);
  CHECK_FALSE(answer->lacks_schema);
  REQUIRE(answer->publication);
  CHECK_FALSE(answer->publication->type);
  CHECK(f.service.counted().rejected == 0);
}

TEST_CASE("broker service: an upload that stalls is dropped by the tick") {
  fixture f;
  auto typed = registration("t", 1);
  typed.type = {"T", "flatbuffer", "flatbuffer", 17, 100};
  f.ask("writer", process(1));
  f.ask("writer", typed);
  REQUIRE(std::holds_alternative<wire::ack>(f.ask("writer", wire::schema_part{17, 0, "begin"})));
  for (int i = 0; i < 3; ++i) {
    CHECK(f.service.map().types().uploads() == 1);
    f.now += 1s;
    f.say("writer", 9, wire::heartbeat{});
    f.service.tick(f.now);
  }
  CHECK(f.service.map().types().uploads() == 0);
  CHECK(f.service.map().topic_count() == 1);
}
