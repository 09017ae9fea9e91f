// What the broker does when connections or the machine fail it: driven without sockets, with times made up.
#include "broker/broker_service.h"

#include <algorithm>
#include <map>
#include <set>

#include "support/catch.h"

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
  f.service.held_up(f.now);
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
  f.service.held_up(f.now += 10s);  // nor is a pause of the broker its fault
  f.service.turn(f.now);
  CHECK(f.sent.empty());
  f.say("holder", 0, wire::alive{});
  REQUIRE(f.sent.size() == 1);
  CHECK(std::get<wire::error>(f.sent[0].second.content).code == wire::error_code::name_taken);
}

TEST_CASE("broker service: registrations with large schemas that waited are taken up in parts") {
  fixture f;
  f.ask("holder", process(1));
  f.ask("other", process(2));
  for (unsigned n = 0; n < 20; ++n) f.ask("holder", registration("t" + std::to_string(n), n));
  for (unsigned n = 0; n < 20; ++n) {
    auto topic = registration("t" + std::to_string(n), n);
    topic.type = wire::type_description{"type", "", 0, std::string(32'000, static_cast<char>('a' + n))};
    topic.publication = {7, n};
    f.say("other", n, topic);
  }
  f.sent.clear();
  f.say("holder", 1, wire::goodbye{});
  const auto answered = [&] {
    return std::count_if(f.sent.begin(), f.sent.end(), [](const auto& each) { return each.first == "other"; });
  };
  CHECK(answered() >= 1);
  CHECK(answered() <= 4);
  CHECK(f.service.next_deadline() <= f.now);
  for (int n = 0; n < 20; ++n) f.service.turn(f.now);
  CHECK(answered() == 20);
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
