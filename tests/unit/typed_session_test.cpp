// Types in the session with a broker: schemas that it lacks, schemas that it has, and what becomes of the links.
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/broker/broker_session.h"
#include "support/catch.h"
#include "support/fake_broker.h"
#include "support/fake_transport.h"
#include "support/struct_types.h"
#include "support/wait_until.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
using orc::type_description;
namespace wire = orc::wire;

namespace {

const std::string sentence = "topic t: " + mismatch_of_structs("arm (4711)");

struct fixture {
  fixture() : session(context, options()) {
    broker.answer = [this](const wire::envelope& message) { return answer(message); };
  }
  orc::participant_options options() {
    orc::participant_options chosen;
    chosen.broker = broker.endpoint();
    chosen.name = "tested";
    chosen.log = [this](orc::log_level, std::string_view text) { log += std::string(text) + "\n"; };
    return chosen;
  }
  // A broker that has `known`, and lacks the schema of what is declared if `lacks`.
  std::optional<wire::body> answer(const wire::envelope& message) {
    if (const auto* const question = std::get_if<wire::get_schema>(&message.content)) {
      if (!known || hash_of(*known) != question->hash)
        return wire::error{wire::error_code::unknown_schema, "the broker does not have it"};
      return wire::schema_part{question->hash, question->offset,
                               known->schema.substr(question->offset, wire::max_schema_part)};
    }
    auto usual = broker.usual_answer(message);
    if (usual && std::holds_alternative<wire::topic_state>(*usual))
      std::get<wire::topic_state>(*usual).lacks_schema = lacks;
    if (usual && std::holds_alternative<wire::request_topic>(message.content) && published)
      std::get<wire::topic_state>(*usual).publication = published;
    return usual;
  }
  std::shared_ptr<subscription> subscribe(const type_description& type) {
    orc::request_options wanted;
    wanted.type = type;
    auto made = std::make_shared<subscription>("t", wanted, orc::transport_set(), transports.list(),
                                               std::make_shared<doorbell>(), "", false, false);
    topics.add(made);
    return made;
  }
  std::shared_ptr<publication> publish(const type_description& type) {
    orc::topic_options offered;
    offered.type = type;
    auto made = std::make_shared<publication>("p", offered, std::make_shared<const transport_list>());
    REQUIRE(made->open({}));
    topics.add(made);
    return made;
  }
  static wire::publication_info publication_of(const type_description& type, std::uint32_t pid = 4711) {
    wire::publication_info one;
    one.publication = wire::id::random();
    one.participant = wire::id::random();
    one.participant_name = "arm";
    one.pid = pid;
    one.endpoints = {{wire::transport::ipc, "ipc:///run/orc/1"}};
    if (const auto described = describe(type)) one.type = described->reference;
    return one;
  }
  void push(std::optional<wire::publication_info> publication) {
    wire::topic_state state;
    state.topic = "t";
    state.publication = std::move(publication);
    broker.say(0, state);
  }
  void step() {
    session.step(now, topics);
    for (const auto& each : topics.subscriptions) {
      each->step(now);
      topics.typed.insert(each.get());
    }
    broker.serve();
  }
  template <class Condition>
  bool talk(Condition condition) {
    return wait_until([&] {
      step();
      return condition();
    });
  }
  void settle() {
    const auto before = broker.all<wire::alive>().size();
    broker.say(99, wire::probe{});
    REQUIRE(talk([&] { return broker.all<wire::alive>().size() > before; }));
  }
  void join() {
    REQUIRE(talk([&] { return static_cast<bool>(session.availability()); }));
    settle();
  }
  template <class Message>
  [[nodiscard]] std::size_t heard() const {
    return broker.all<Message>().size();
  }

  fake_broker broker;
  std::optional<type_description> known;
  std::optional<wire::publication_info> published;
  bool lacks = false;
  fake_transports transports;
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  zmq::context_t context;
  std::string log;
  topic_lists topics;
  monotonic::time_point now = monotonic::time_point() + 1h;
  broker_session session;
};

const auto here = struct_type("float64");
const auto there = struct_type("float32");

}  // namespace

TEST_CASE("typed session: a mismatch is known when the request is confirmed", "[unit][threads]") {
  fixture f;
  f.known = there;
  f.published = fixture::publication_of(there);
  const auto s = f.subscribe(here);
  f.join();
  CHECK(f.talk([&] { return s->wait_checked(deadline(0)).code() == errc::type_mismatch; }));
  CHECK(s->wait_connected(0ms).error().message() == sentence);
  CHECK(s->link().reason == sentence);
  CHECK(s->counters().reason == sentence);
  CHECK(f.ipc->asked.empty());
  CHECK(f.log.find(sentence) != std::string::npos);
  f.log.clear();
  for (int n = 0; n < 3; ++n) {
    f.push(f.published);
    f.settle();
  }
  CHECK(f.log.empty());
  CHECK(f.heard<wire::get_schema>() == 1);
}

TEST_CASE("typed session: equal hashes link without a question", "[unit][threads]") {
  fixture f;
  f.published = fixture::publication_of(here);
  const auto s = f.subscribe(here);
  f.join();
  CHECK(f.talk([&] { return s->connected(); }));
  CHECK(f.heard<wire::get_schema>() == 0);
}

TEST_CASE("typed session: while the broker lacks the schema it waits, says so, and asks again", "[unit][threads]") {
  fixture f;
  const auto compatible = large_struct_type("float64", wire::max_schema_part + 1);
  f.published = fixture::publication_of(compatible);
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return f.heard<wire::get_schema>() == 1; }));
  f.settle();
  CHECK(s->link().reason == "waits for the schema of robot.State");
  CHECK(s->counters().reason == "waits for the schema of robot.State");
  CHECK(s->wait_checked(deadline(0)));
  CHECK(s->wait_connected(0ms).code() == errc::timed_out);
  CHECK(f.session.next_step(f.now, f.topics) <= f.now + 100ms);
  f.known = compatible;
  f.now += 100ms;
  CHECK(f.talk([&] { return s->connected(); }));
  CHECK(f.heard<wire::get_schema>() == 3);
}

TEST_CASE("typed session: types are compared without waiting for the next event", "[unit][threads]") {
  fixture f;
  const auto s = f.subscribe(here);
  f.join();
  f.known = there;
  f.push(fixture::publication_of(there));
  // As the housekeeping does: it sleeps until the next step or until the broker says something.
  CHECK(wait_until([&] {
    while (f.session.next_step(f.now, f.topics) <= f.now) {
      f.session.step(f.now, f.topics);
      f.broker.serve();
    }
    if (readable(f.session.fds()[0], 1)) f.session.step(f.now, f.topics);
    f.broker.serve();
    return s->wait_connected(0ms).code() == errc::type_mismatch;
  }));
}

TEST_CASE("typed session: a mismatch ends when a publisher with the right type comes, and begins again",
          "[unit][threads]") {
  fixture f;
  f.known = there;
  const auto s = f.subscribe(here);
  f.join();
  f.push(fixture::publication_of(there));
  CHECK(f.talk([&] { return s->wait_connected(0ms).code() == errc::type_mismatch; }));
  f.push(std::nullopt);
  CHECK(f.talk([&] { return s->link().reason == "no publisher"; }));
  CHECK(s->wait_connected(0ms).code() == errc::timed_out);
  f.push(fixture::publication_of(here, 4712));
  CHECK(f.talk([&] { return s->connected(); }));
  f.now += subscription::between_news;
  f.settle();
  CHECK_THAT(f.log, contains("topic t: the type of publisher `arm (4712)` matches now"));
  f.now += subscription::between_news;
  f.push(fixture::publication_of(there, 4713));
  CHECK(f.talk([&] { return s->wait_connected(0ms).code() == errc::type_mismatch; }));
  CHECK_FALSE(s->connected());
  CHECK_THAT(f.log, contains(mismatch_of_structs("arm (4713)")));
}

TEST_CASE("typed session: after a comparison the next one waits", "[unit][threads]") {
  fixture f;
  f.known = there;
  f.published = fixture::publication_of(there);
  const auto first = f.subscribe(here);
  const auto second = f.subscribe(struct_type("int32"));
  f.join();
  CHECK(f.talk([&] { return first->wait_connected(0ms).code() == errc::type_mismatch; }));
  f.settle();
  CHECK(second->wait_connected(0ms).code() == errc::timed_out);
  CHECK(f.session.next_step(f.now, f.topics) > f.now);
  CHECK(f.talk([&] {
    f.now = std::max(f.now, std::min(f.session.next_step(f.now, f.topics), f.now + 1ms));
    return second->wait_connected(0ms).code() == errc::type_mismatch;
  }));
}

TEST_CASE("typed session: a mismatch goes with a broker that knew the publication", "[unit][threads]") {
  fixture f;
  f.known = there;
  f.published = fixture::publication_of(there);
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return s->wait_connected(0ms).code() == errc::type_mismatch; }));
  f.published.reset();
  f.broker.welcome.epoch = 8;
  f.broker.say(0, f.broker.welcome);
  CHECK(f.talk([&] { return s->link().reason == "no publisher"; }));
  CHECK(s->wait_connected(0ms).code() == errc::timed_out);
}

TEST_CASE("typed session: a publication that changes its type is checked again, and its link ends", "[unit][threads]") {
  fixture f;
  f.known = there;
  f.published = fixture::publication_of(here);
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return s->connected(); }));
  f.published->type = describe(there)->reference;
  f.push(f.published);
  CHECK(f.talk([&] { return s->wait_connected(0ms).code() == errc::type_mismatch; }));
  CHECK_FALSE(s->connected());
}

TEST_CASE("typed session: another run of the broker ends no link, and asks nothing again", "[unit][threads]") {
  fixture f;
  f.known = large_struct_type("float64", 400);
  f.published = fixture::publication_of(*f.known);
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return s->connected(); }));
  const auto published = std::exchange(f.published, std::nullopt);
  f.known.reset();
  f.broker.welcome.epoch = 8;
  f.broker.say(0, f.broker.welcome);
  REQUIRE(f.talk([&] { return f.heard<wire::request_topic>() == 2; }));
  f.settle();
  CHECK(s->connected());
  f.push(published);
  f.settle();
  CHECK(s->connected());
  CHECK(f.ipc->asked.size() == 1);
  CHECK(f.heard<wire::get_schema>() == 1);
}

TEST_CASE("typed session: both ends send the schemas that the broker lacks, and again to another run",
          "[unit][threads]") {
  fixture f;
  f.lacks = true;
  const auto p = f.publish(there);
  const auto s = f.subscribe(large_struct_type("float64", wire::max_schema_part + 1));
  const auto untyped = f.publish({});
  f.join();
  CHECK(f.talk([&] { return f.heard<wire::schema_part>() == 3; }));
  f.settle();
  CHECK(f.heard<wire::schema_part>() == 3);
  CHECK(f.broker.all<wire::schema_part>().front() == wire::schema_part{hash_of(there), 0, there.schema});
  f.broker.welcome.epoch = 8;
  f.broker.say(0, f.broker.welcome);
  CHECK(f.talk([&] { return f.heard<wire::schema_part>() == 6; }));
  f.lacks = false;
  f.broker.welcome.epoch = 9;
  f.broker.say(0, f.broker.welcome);
  CHECK(f.talk([&] { return f.heard<wire::request_topic>() == 3; }));
  f.settle();
  CHECK(f.heard<wire::schema_part>() == 6);
}

TEST_CASE("typed session: a schema that the broker refuses leaves the topic alone", "[unit][threads]") {
  fixture f;
  f.lacks = true;
  const auto p = f.publish(there);
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (std::holds_alternative<wire::schema_part>(message.content))
      return wire::error{wire::error_code::bad_request, "wrong hash"};
    return f.answer(message);
  };
  f.join();
  REQUIRE(f.talk([&] { return f.heard<wire::schema_part>() == 1; }));
  f.settle();
  CHECK_THAT(f.log, contains("does not take the schema of type robot.State: wrong hash"));
  CHECK(p->announcement().wait(deadline(0)));
  f.now += 900ms;
  f.settle();
  CHECK(f.heard<wire::schema_part>() == 1);
}

TEST_CASE("typed session: a broker whose schemas have other hashes makes no link and no haste", "[unit][threads]") {
  fixture f;
  f.published = fixture::publication_of(there);
  f.broker.answer = [&](const wire::envelope& message) -> std::optional<wire::body> {
    if (const auto* const question = std::get_if<wire::get_schema>(&message.content))
      return wire::schema_part{question->hash, question->offset, std::string(there.schema.size(), 'x')};
    return f.answer(message);
  };
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return f.heard<wire::get_schema>() == 1; }));
  f.settle();
  f.settle();
  CHECK(f.heard<wire::get_schema>() == 1);
  CHECK(s->link().reason == "waits for the schema of robot.State");
  f.now += 100ms;
  CHECK(f.talk([&] { return f.heard<wire::get_schema>() == 2; }));
  CHECK_FALSE(s->connected());
}

TEST_CASE("typed session: the broker learns of a mismatch, for the publisher", "[unit][threads]") {
  fixture f;
  f.known = there;
  f.published = fixture::publication_of(there);
  const auto s = f.subscribe(here);
  f.join();
  REQUIRE(f.talk([&] { return f.heard<wire::type_mismatch>() == 1; }));
  CHECK(f.broker.all<wire::type_mismatch>()[0] == wire::type_mismatch{"t", s->request().subscription,
                                                                      mismatch_of_structs("arm (4711)"), "", 0,
                                                                      f.published->publication});
  f.published = fixture::publication_of(there, 4712);  // restarts
  f.push(f.published);
  f.settle();
  CHECK(f.heard<wire::type_mismatch>() == 1);
  f.now += subscription::between_news;
  CHECK(f.talk([&] { return f.heard<wire::type_mismatch>() == 2; }));
}

TEST_CASE("typed session: a publisher's log has what its subscribers report, and a hostile one cannot fill it",
          "[unit][threads]") {
  fixture f;
  const auto p = f.publish(here);
  f.join();
  wire::type_mismatch report{"p", wire::id::random(), "field `q` is float32 at\x1b[2J `arm`, float64 here", "view\ner",
                             7};
  f.broker.say(0, report);
  const std::string said =
      "topic p: subscriber `view\\ner (7)` expects another type; it says: field `q` is float32 at\\x1b[2J `arm`, "
      "float64 "
      "here\n";
  CHECK(f.talk([&] { return f.log.find(said) != std::string::npos; }));
  f.log.clear();
  report.topic = "not/ours";
  f.broker.say(0, report);
  report.topic = "p";
  for (int n = 0; n < 100; ++n) f.broker.say(0, report);
  f.settle();
  CHECK(std::count(f.log.begin(), f.log.end(), '\n') == report_limit::at_once - 1);
  f.log.clear();
  report.pid = 8;
  f.broker.say(0, report);
  CHECK(f.talk([&] { return f.log.find("view\\ner (8)") != std::string::npos; }));  // one does not hide the others
  f.log.clear();
  report.pid = 7;
  for (auto passed = 0s; passed < report_limit::per_report; passed += 1s) {  // not at once: the broker would be lost
    f.now += 1s;
    f.settle();
  }
  f.broker.say(0, report);
  f.settle();
  CHECK(f.log == said);
}
