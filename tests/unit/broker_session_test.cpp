// The session with a broker, over a connection that is real, at a time that is made up.
#include "core/broker/broker_session.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/run_dir.h"
#include "support/catch.h"
#include "support/fake_broker.h"
#include "support/fake_transport.h"
#include "support/wait_until.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

constexpr auto lease = 3000ms;
constexpr auto heartbeat = 1000ms;

struct fixture {
  explicit fixture(const std::string& endpoint = {}) : session(context, options(endpoint)) {}

  orc::participant_options options(const std::string& endpoint) {
    orc::participant_options chosen;
    chosen.broker = endpoint.empty() ? broker.endpoint() : endpoint;
    chosen.name = "tested";
    chosen.log = [this](orc::log_level, std::string_view text) { log += std::string(text) + "\n"; };
    return chosen;
  }
  // A publication that is open, and has no links.
  std::shared_ptr<publication> publish(const std::string& topic) {
    auto made = std::make_shared<publication>(topic, orc::topic_options(), std::make_shared<const transport_list>());
    REQUIRE(made->open({}));
    topics.add(made);
    return made;
  }
  std::shared_ptr<subscription> subscribe(const std::string& topic) {
    auto made = std::make_shared<subscription>(topic, orc::request_options(), orc::transport_set(), transports.list(),
                                               std::make_shared<doorbell>(), "", false, false);
    topics.add(made);
    return made;
  }
  void step() {
    session.step(now, topics);
    broker.serve();
  }
  // Lets both ends talk until the condition holds, without time passing.
  template <class Condition>
  bool talk(Condition condition) {
    return wait_until([&] {
      step();
      return condition();
    });
  }
  // All that is on its way has arrived: a probe goes there and back after it.
  void settle() {
    const auto before = broker.all<wire::alive>().size();
    broker.say(99, wire::probe{});
    REQUIRE(talk([&] { return broker.all<wire::alive>().size() > before; }));
  }
  void join() {
    REQUIRE(talk([&] { return static_cast<bool>(session.availability()); }));
    settle();
  }
  template <class Topic>
  static errc outcome(const std::shared_ptr<Topic>& of) {
    return of->announcement().wait(deadline(0)).code();
  }
  template <class Message>
  [[nodiscard]] std::size_t heard() const {
    return broker.all<Message>().size();
  }

  fake_broker broker;
  fake_transports transports;
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  zmq::context_t context;
  std::string log;
  topic_lists topics;
  monotonic::time_point now = monotonic::time_point() + 1h;
  broker_session session;
};

}  // namespace

TEST_CASE("broker session: it says hello, and declares each topic once", "[unit][threads]") {
  fixture f;
  CHECK(f.session.availability().code() == errc::no_broker);
  CHECK_FALSE(f.session.scope());
  const auto p = f.publish("sent");
  const auto s = f.subscribe("wanted");
  f.join();
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok && f.outcome(s) == errc::ok; }));
  f.settle();
  CHECK(f.broker.all<wire::hello>().front().name == "tested");
  REQUIRE(f.heard<wire::register_topic>() == 1);
  CHECK(f.broker.all<wire::register_topic>().front().publication == p->id());
  REQUIRE(f.heard<wire::request_topic>() == 1);
  CHECK(f.broker.all<wire::request_topic>().front().topic == "wanted");
  REQUIRE(f.session.scope());
  CHECK_FALSE(f.session.scope()->directory.empty());
  CHECK(f.session.endpoint() == f.broker.endpoint());
}

TEST_CASE("broker session: a lost answer makes it ask again", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (std::holds_alternative<wire::register_topic>(message.content) && f.heard<wire::register_topic>() < 3)
      return std::nullopt;
    return f.broker.usual_answer(message);
  };
  f.join();
  REQUIRE(f.talk([&] { return f.heard<wire::register_topic>() == 1; }));
  f.settle();
  CHECK(f.heard<wire::register_topic>() == 1);
  f.now += announcement::retry_after;
  REQUIRE(f.talk([&] { return f.heard<wire::register_topic>() == 2; }));
  CHECK(f.outcome(p) == errc::timed_out);
  f.now += 2 * announcement::retry_after;
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok; }));
}

TEST_CASE("broker session: another run of the broker gets everything again", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("sent");
  const auto s = f.subscribe("wanted");
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok && f.outcome(s) == errc::ok; }));
  const auto hellos = f.heard<wire::hello>();
  f.broker.welcome.epoch = 8;
  f.broker.say(0, f.broker.welcome);
  CHECK(f.talk([&] { return f.heard<wire::register_topic>() == 2 && f.heard<wire::request_topic>() == 2; }));
  CHECK(f.heard<wire::hello>() == hellos + 1);
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok && f.outcome(s) == errc::ok; }));
}

TEST_CASE("broker session: a broker that is silent for a lease is lost, and asked again when it speaks",
          "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok; }));
  f.broker.silent = true;
  f.now += lease;
  f.step();
  CHECK(f.session.availability());
  f.now += 1ms;
  f.step();
  CHECK(f.session.availability().code() == errc::no_broker);
  CHECK_THAT(f.log, contains("does not answer any more"));
  f.broker.silent = false;
  CHECK(f.talk([&] {
    if (!f.session.availability()) f.now += 10ms;  // afterwards, a lease could pass while this machine stands still
    return f.session.availability() && f.heard<wire::register_topic>() == 2;
  }));
}

TEST_CASE("broker session: what is wrong with a silent broker is part of the error", "[unit][threads]") {
  const private_endpoint nothing;
  fixture f(nothing.endpoint());
  CHECK(wait_until([&] {
    f.now += 10ms;
    f.session.step(f.now, f.topics);
    return f.session.availability().error().message().find("nothing there") != std::string::npos;
  }));
  CHECK_THAT(f.session.availability().error().message(), contains(nothing.endpoint()));
}

TEST_CASE("broker session: a refused hello holds the topics up, and is said again a second later", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  bool is_full = true;
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (is_full) return wire::error{wire::error_code::limit, "too many participants"};
    return f.broker.usual_answer(message);
  };
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::refused; }));
  CHECK_THAT(p->announcement().wait(deadline(0)).error().message(), contains("too many participants"));
  CHECK_THAT(f.log, contains("too many participants"));
  CHECK(f.session.next_step(f.now, f.topics) == f.now + 1s);
  is_full = false;
  f.now += 1s;
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok; }));
}

TEST_CASE("broker session: an id that is taken is replaced, with its secret", "[unit][threads]") {
  fixture f;
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    const auto* const hello = std::get_if<wire::hello>(&message.content);
    if (hello != nullptr && hello->participant == f.broker.all<wire::hello>().front().participant)
      return wire::error{wire::error_code::id_taken, "taken"};
    return f.broker.usual_answer(message);
  };
  f.join();
  const auto said = f.broker.all<wire::hello>();
  CHECK(said.front().participant != said.back().participant);
  CHECK(said.front().secret != said.back().secret);
}

TEST_CASE("broker session: a refused topic has the broker's reason, and the others do not", "[unit][threads]") {
  fixture f;
  const auto taken = f.publish("taken");
  const auto free = f.publish("free");
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    const auto* const topic = std::get_if<wire::register_topic>(&message.content);
    if (topic != nullptr && topic->topic == "taken") return wire::error{wire::error_code::name_taken, "by robot"};
    return f.broker.usual_answer(message);
  };
  f.join();
  CHECK(f.talk([&] { return f.outcome(taken) == errc::name_taken && f.outcome(free) == errc::ok; }));
  CHECK(taken->announcement().wait(deadline(0)).error().message() == "by robot");
  CHECK_THAT(f.log, contains("the broker refused topic taken: by robot"));
  f.now += heartbeat;
  f.settle();
  CHECK(f.heard<wire::register_topic>() == 2);  // a refused one is not repeated
}

TEST_CASE("broker session: a name that another participant has is asked for until it is free", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("pose");
  bool taken = false;
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (taken && std::holds_alternative<wire::register_topic>(message.content))
      return wire::error{wire::error_code::name_taken, "by robot"};
    return f.broker.usual_answer(message);
  };
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok; }));
  taken = true;
  f.broker.say(2, wire::error{wire::error_code::unknown_participant, "say hello first"});
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::name_taken; }));
  REQUIRE(f.heard<wire::register_topic>() == 2);
  f.now += announcement::ask_again_after - 1ms;
  f.settle();
  CHECK(f.heard<wire::register_topic>() == 2);
  f.now += 1ms;
  REQUIRE(f.talk([&] { return f.heard<wire::register_topic>() == 3; }));
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::name_taken; }));
  CHECK(f.log.find("by robot") == f.log.rfind("by robot"));  // the same reason is logged once
  taken = false;
  f.now += announcement::ask_again_after;
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok; }));
}

TEST_CASE("broker session: a topic that a full broker does not take back is asked for again", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("pose");
  bool is_full = false;
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (is_full && std::holds_alternative<wire::register_topic>(message.content))
      return wire::error{wire::error_code::limit, "no more than 2 topics"};
    return f.broker.usual_answer(message);
  };
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok; }));
  is_full = true;
  f.broker.say(2, wire::error{wire::error_code::unknown_participant, "say hello first"});
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::refused; }));
  is_full = false;
  f.now += announcement::ask_again_after;
  CHECK(f.talk([&] { return f.outcome(p) == errc::ok; }));
}

TEST_CASE("broker session: a session that the broker ended is begun anew", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok; }));
  const auto hellos = f.heard<wire::hello>();
  f.broker.say(2, wire::error{wire::error_code::unknown_participant, "say hello first"});
  CHECK(f.talk([&] { return f.heard<wire::register_topic>() == 2; }));
  CHECK(f.heard<wire::hello>() == hellos + 1);
  CHECK_THAT(f.log, contains("ended the session"));
}

TEST_CASE("broker session: the state of a topic reaches its subscription", "[unit][threads]") {
  fixture f;
  const auto s = f.subscribe("t");
  const auto other = f.subscribe("other");
  f.join();
  wire::topic_state state;
  state.topic = "t";
  state.publication.emplace();
  state.publication->publication = wire::id::random();
  state.publication->participant = wire::id::random();
  state.publication->participant_name = "robot";
  state.publication->endpoints = {{wire::transport::ipc, "ipc:///run/orc/1"}};
  f.broker.say(0, state);
  const bool is_linked = f.talk([&] {
    s->step(f.now);
    return s->connected();
  });
  INFO(f.log);
  REQUIRE(is_linked);
  other->step(f.now);
  CHECK_FALSE(other->connected());
  CHECK(f.ipc->asked.front().publication == state.publication->publication);
}

TEST_CASE("broker session: a topic that ended is withdrawn before anything new is declared", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  f.join();
  REQUIRE(f.talk([&] { return f.outcome(p) == errc::ok; }));
  f.broker.heard.clear();
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (std::holds_alternative<wire::unregister_topic>(message.content) && f.heard<wire::unregister_topic>() == 1)
      return std::nullopt;
    return f.broker.usual_answer(message);
  };
  f.topics.remove(*p);
  const auto told = std::make_shared<announcement>();
  std::vector<broker_session::ending> ended;
  ended.push_back({wire::unregister_topic{"t", p->id()}, {p, &p->announcement()}, told});
  f.session.withdraw(ended);
  CHECK(ended.empty());
  const auto again = f.publish("t");
  CHECK(f.talk([&] { return f.outcome(again) == errc::ok; }));
  REQUIRE_FALSE(f.broker.heard.empty());
  CHECK(std::holds_alternative<wire::unregister_topic>(f.broker.heard.front().content));
  CHECK(told->wait(deadline(0)).code() == errc::timed_out);
  CHECK(f.session.next_step(f.now, f.topics) <= f.now + withdrawals::repeat_after);
  f.now += withdrawals::repeat_after;
  CHECK(f.talk([&] { return static_cast<bool>(told->wait(deadline(0))); }));
}

TEST_CASE("broker session: a topic that no broker heard of is not withdrawn", "[unit][threads]") {
  fixture f;
  const auto p = f.publish("t");
  f.topics.remove(*p);
  const auto told = std::make_shared<announcement>();
  std::vector<broker_session::ending> ended;
  ended.push_back({wire::unregister_topic{"t", p->id()}, {p, &p->announcement()}, told});
  f.session.withdraw(ended);
  CHECK(told->wait(deadline(0)));
  f.join();
  CHECK(f.heard<wire::unregister_topic>() == 0);
}

TEST_CASE("broker session: a heartbeat has the counters of each topic, in messages within the limits",
          "[unit][threads]") {
  fixture f;
  for (int n = 0; n < 150; ++n) static_cast<void>(f.subscribe("t" + std::to_string(n)));
  static_cast<void>(f.publish("p"));
  f.join();
  CHECK(f.talk([&] {
    std::size_t counters = 0;
    for (const auto& each : f.broker.all<wire::heartbeat>()) counters += each.subscriptions.size();
    return counters >= 150;
  }));
  f.settle();
  f.broker.heard.clear();
  f.now += heartbeat - 1ms;
  f.settle();
  CHECK(f.heard<wire::heartbeat>() == 0);
  f.now += 1ms;
  f.settle();
  f.settle();  // the first answer may have gone before the heartbeat
  std::size_t publications = 0;
  std::size_t subscriptions = 0;
  for (const auto& each : f.broker.all<wire::heartbeat>()) {
    publications += each.publications.size();
    subscriptions += each.subscriptions.size();
    CHECK(each.subscriptions.size() <= wire::max_counters);
  }
  CHECK(publications == 1);
  CHECK(subscriptions == 150);
}

TEST_CASE("broker session: bytes that are no message are logged, and change nothing", "[unit][threads]") {
  fixture f;
  f.join();
  f.broker.say("nonsense");
  CHECK(f.talk([&] { return f.log.find("something else than a message") != std::string::npos; }));
  f.settle();
  CHECK(f.session.availability());
}

TEST_CASE("broker session: it says goodbye, and only to a broker that knows it", "[unit][threads]") {
  fixture f;
  f.session.leave();
  f.broker.serve();
  CHECK(f.heard<wire::goodbye>() == 0);
  f.join();
  f.session.leave();
  CHECK(wait_until([&] {
    f.broker.serve();
    return f.heard<wire::goodbye>() == 1;
  }));
}

TEST_CASE("broker session: it goes back to the first broker once that accepts it", "[unit][threads]") {
  fake_broker first;
  fake_broker second;
  first.welcome.epoch = 1;
  second.welcome.epoch = 2;
  bool runs = false;
  bool full = true;
  first.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (full) return wire::error{wire::error_code::limit, "full"};
    return first.usual_answer(message);
  };
  fixture f(first.endpoint() + "," + second.endpoint());
  // Lets them talk while time passes, and the second broker be heard.
  const auto talk = [&](const auto& condition) {
    return wait_until([&] {
      f.now += 10ms;
      if (second.has_peer()) second.say(99, wire::probe{});
      f.session.step(f.now, f.topics);
      if (runs) first.serve();
      second.serve();
      return condition();
    });
  };
  const auto p = f.publish("t");
  const auto is_at_second = [&] { return f.session.availability() && f.session.endpoint() == second.endpoint(); };
  REQUIRE(talk([&] { return is_at_second() && f.outcome(p) == errc::ok; }));
  // The first one refuses the Hello: the session stays, and asks again after a while.
  runs = true;
  auto until = f.now + 1s;
  REQUIRE(talk([&] { return f.now > until && !first.all<wire::hello>().empty(); }));
  const auto asked = first.all<wire::hello>().size();
  until = f.now + 3s;
  REQUIRE(talk([&] { return f.now > until; }));
  CHECK(first.all<wire::hello>().size() == asked);
  CHECK(is_at_second());

  full = false;
  REQUIRE(talk([&] { return !first.all<wire::register_topic>().empty(); }));
  CHECK(f.session.endpoint() == first.endpoint());
  CHECK(first.all<wire::register_topic>().front().publication == p->id());
  CHECK(second.all<wire::goodbye>().empty());  // the name is never free
  CHECK(talk([&] { return second.all<wire::goodbye>().size() == 1; }));
}

TEST_CASE("broker session: without a broker every topic is confirmed that can work", "[unit][threads]") {
  fixture f{std::string(without_broker)};
  CHECK(f.session.availability());
  REQUIRE(f.session.scope());
  CHECK(f.session.scope()->alone);
  const auto p = f.publish("sent");
  const auto s = f.subscribe("wanted");
  f.session.step(f.now, f.topics);
  CHECK(f.outcome(p) == errc::ok);
  CHECK(f.outcome(s) == errc::ok);
  CHECK(f.session.next_step(f.now, f.topics) == monotonic::time_point::max());
}
