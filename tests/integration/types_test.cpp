// contract.md 9: programs whose types differ make no link, and learn why, whichever starts first.
#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "orc.h"
#include "orc/directory.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/struct_types.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::errc;
using orc::type_description;

namespace {

const auto here = struct_type("float64");
const auto there = struct_type("float32");

// Two types of each encoding that do not match, and the difference.
struct pair {
  type_description published;
  type_description expected;
  std::string difference;  // with `%` for the publisher
};

type_description lcm_type(const std::string& element) {
  return {"robot.state_t", "lcm", "lcm", "package robot; struct state_t { int64_t utime; " + element + " q[7]; }"};
}

std::string replaced(std::string text, const std::string& by) {
  for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + by.size()))
    text.replace(at, 1, by);
  return text;
}

const std::vector<pair>& pairs() {
  static const std::vector<pair> all{
      {there, here,
       "type mismatch between robot.State at publisher `%` and robot.State here: field `q` is float32[7] at publisher "
       "`%`, float64[7] here"},
      {lcm_type("float"), lcm_type("double"),
       "type mismatch between robot.state_t at publisher `%` and robot.state_t here: field `q` is float32[7] at "
       "publisher `%`, float64[7] here"},
      {{"a.Text", "", "json", ""}, {"b.Text", "", "json", ""}, "type is a.Text at publisher `%`, b.Text here"},
      {{"robot.State", "", "cdr", ""},
       here,
       "type mismatch between robot.State at publisher `%` and robot.State here: message encoding is cdr at publisher "
       "`%`, struct here"}};
  return all;
}

std::string sentence(const pair& of, const std::string& publisher) {
  return "topic arm/state: " + replaced(of.difference, publisher);
}

// A participant whose log can be read.
struct logging {
  explicit logging(const broker_process& broker, const std::string& name = "viewer") : own(options(broker, name)) {}
  orc::participant_options options(const broker_process& broker, const std::string& name) {
    auto chosen = broker.options(name);
    chosen.log = [this](orc::log_level level, std::string_view text) {
      const std::lock_guard lock(mutex);
      if (level == orc::log_level::warning) warnings.emplace_back(text);
      if (level == orc::log_level::info) infos.emplace_back(text);
    };
    return chosen;
  }
  [[nodiscard]] std::size_t warned(const std::string& text) { return count(warnings, text); }
  [[nodiscard]] std::size_t informed(const std::string& text) { return count(infos, text); }
  std::size_t count(const std::vector<std::string>& in, const std::string& text) {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count(in.begin(), in.end(), text));
  }

  std::mutex mutex;
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
  orc::participant own;
};

// A publisher in its own process.
struct publisher_process {
  publisher_process(const broker_process& broker, const type_description& type) {
    node.must("open " + broker.endpoint());
    if (type.empty())
      node.must("type");
    else
      node.must("type " + type.name + " " + type.schema_encoding + " " + type.message_encoding + " " + type.schema);
    node.must("register arm/state any");
  }
  [[nodiscard]] std::string name() {
    const auto pid = std::to_string(node.process().pid());
    return "test_node_" + pid + " (" + pid + ")";
  }

  test_node node;
};

orc::request_options wanting(const type_description& type, int within_ms = 0) {
  orc::request_options wanted;
  wanted.type = type;
  wanted.connected_within = std::chrono::milliseconds(within_ms);
  return wanted;
}

orc::topic_options offering(const type_description& type) {
  orc::topic_options offered;
  offered.type = type;
  return offered;
}

// As the directory shows it.
orc::topic_type shown(const type_description& type) {
  return {type.name, type.schema_encoding, type.message_encoding, hash_of(type), type.schema.size()};
}

const std::string me = " (" + std::to_string(::getpid()) + ")";

}  // namespace

TEST_CASE("types: a mismatch is returned at once when the publisher is first", "[integration][threads]") {
  for (const auto& pair : pairs()) {
    INFO(pair.published.message_encoding);
    broker_process address_broker;
    orc::participant arm(address_broker.options("arm"));
    REQUIRE(arm.register_topic("arm/state", offering(pair.published)));
    logging viewer(address_broker);
    const auto requested = viewer.own.request_topic("arm/state", wanting(pair.expected)).result();
    CHECK(requested.code() == errc::type_mismatch);
    CHECK(requested.error().message() == sentence(pair, "arm" + me));
    const auto waited = viewer.own.request_topic("arm/state", wanting(pair.expected, patience_ms)).result();
    CHECK(waited.code() == errc::type_mismatch);
    const auto subscriber = viewer.own.subscriber("arm/state");
    CHECK(subscriber.check_type().error().message() == sentence(pair, "arm" + me));
    const auto link = subscriber.link();
    CHECK_FALSE(link.connected);
    CHECK(link.reason == sentence(pair, "arm" + me));
    CHECK(wait_until([&] { return viewer.warned(sentence(pair, "arm" + me)) == 1; }));
  }
}

TEST_CASE("types: a mismatch ends the waits when the subscriber is first", "[integration][threads]") {
  for (const auto& pair : pairs()) {
    INFO(pair.published.message_encoding);
    broker_process address_broker;
    logging viewer(address_broker);
    REQUIRE(viewer.own.request_topic("arm/state", wanting(pair.expected)).result());
    orc::participant arm(address_broker.options("arm"));
    REQUIRE(arm.register_topic("arm/state", offering(pair.published)));
    const auto waited = viewer.own.subscriber("arm/state").wait_connected(patience_ms);
    CHECK(waited.code() == errc::type_mismatch);
    CHECK(waited.error().message() == sentence(pair, "arm" + me));
    CHECK(wait_until([&] { return viewer.warned(sentence(pair, "arm" + me)) == 1; }));
  }
}

TEST_CASE("types: the publisher's log has the mismatch too, once for each publication", "[integration][threads]") {
  broker_process address_broker;
  const auto& pair = pairs().front();
  const auto said = [&](const std::string& subscriber) {
    return "topic arm/state: subscriber `" + subscriber + me +
           "` expects another type; it says: " + replaced(pair.difference, "arm" + me);
  };
  logging arm(address_broker, "arm");
  REQUIRE(arm.own.register_topic("arm/state", offering(pair.published)));
  orc::participant viewer(address_broker.options("viewer"));
  CHECK(viewer.request_topic("arm/state", wanting(pair.expected)).result().code() == errc::type_mismatch);
  CHECK(wait_until([&] { return arm.warned(said("viewer")) == 1; }));
  orc::participant recorder(address_broker.options("recorder"));
  CHECK(recorder.request_topic("arm/state", wanting(pair.expected)).result().code() == errc::type_mismatch);
  CHECK(wait_until([&] { return arm.warned(said("recorder")) == 1; }));
  REQUIRE(arm.own.unregister_topic("arm/state"));
  REQUIRE(arm.own.register_topic("arm/state", offering(pair.published)));
  CHECK(wait_until([&] { return arm.warned(said("viewer")) == 2 && arm.warned(said("recorder")) == 2; }));
}

TEST_CASE("types: after a restart of the publisher its type is checked again", "[integration][threads]") {
  broker_process address_broker;
  logging viewer(address_broker);
  REQUIRE(viewer.own.request_topic("arm/state", wanting(here)).result());
  auto subscriber = viewer.own.subscriber("arm/state");
  const auto mismatches = [&](publisher_process& arm) {
    return subscriber.wait_connected(patience_ms).error().message() == sentence(pairs().front(), arm.name());
  };
  {
    publisher_process arm(address_broker, there);
    CHECK(mismatches(arm));
    arm.node.process().kill();
  }
  std::string matching;
  {
    publisher_process arm(address_broker, here);
    matching = arm.name();
    CHECK(wait_until([&] { return static_cast<bool>(subscriber.wait_connected(patience_ms)); }));
    CHECK(wait_until(
        [&] { return viewer.informed("topic arm/state: the type of publisher `" + matching + "` matches now") == 1; }));
    arm.node.must("send arm/state 5 8");
    CHECK(value_of(subscriber.recv(patience_ms)) == 5);
    arm.node.process().kill();
  }
  publisher_process arm(address_broker, there);
  CHECK(wait_until([&] { return mismatches(arm); }));
  CHECK(wait_until([&] { return viewer.warned(sentence(pairs().front(), arm.name())) == 1; }));
  CHECK_FALSE(subscriber.connected());
}

TEST_CASE("types: after a restart of the subscriber its type is checked again", "[integration][threads]") {
  broker_process address_broker;
  publisher_process arm(address_broker, here);
  for (const auto& type : {there, here, there}) {
    orc::participant viewer(address_broker.options());
    CHECK(viewer.request_topic("arm/state", wanting(type, patience_ms)).result().code() ==
          (type == here ? errc::ok : errc::type_mismatch));
  }
}

TEST_CASE("types: untyped ends, type_check::off and equal types link", "[integration][threads]") {
  broker_process address_broker;
  publisher_process arm(address_broker, there);
  orc::participant untyped(address_broker.options());
  CHECK(untyped.request_topic("arm/state", wanting({}, patience_ms)).result());
  orc::participant careless(address_broker.options());
  auto off = wanting(here, patience_ms);
  off.type_check = orc::type_check::off;
  CHECK(careless.request_topic("arm/state", off).result());
  orc::participant equal(address_broker.options());
  CHECK(equal.request_topic("arm/state", wanting(there, patience_ms)).result());

  orc::participant opaque(address_broker.options());
  REQUIRE(opaque.register_topic("any"));
  CHECK(equal.request_topic("any", wanting(here, patience_ms)).result());
}

TEST_CASE("types: a broker that restarts ends no link, and gets the schemas again", "[integration][threads]") {
  broker_process address_broker;
  const auto compatible = large_struct_type("float64", 100'000);
  orc::participant arm(address_broker.options("arm"));
  REQUIRE(arm.register_topic("arm/state", offering(compatible)));
  orc::participant viewer(address_broker.options());
  REQUIRE(viewer.request_topic("arm/state", wanting(here, patience_ms)).result());
  auto subscriber = viewer.subscriber("arm/state");
  address_broker.kill();
  REQUIRE(arm.send_msg("arm/state", "x", 1));
  CHECK(subscriber.recv(patience_ms));
  address_broker.start();
  orc::directory_options asking;
  asking.broker = address_broker.endpoint();
  orc::directory directory(asking);
  for (const auto& type : {compatible, here}) {
    type_description found;
    CHECK(wait_until([&] { return static_cast<bool>(directory.find_type(shown(type), found)); }));
    CHECK(found == type);
  }
  CHECK(subscriber.connected());
  orc::participant late(address_broker.options());
  CHECK(late.request_topic("arm/state", wanting(there)).result().code() == errc::type_mismatch);
}

TEST_CASE("types: a schema of 1 MiB is found, and compared", "[integration][threads]") {
  broker_process address_broker;
  const auto large = large_struct_type("float32", orc::max_schema_bytes);
  orc::participant arm(address_broker.options("arm"));
  REQUIRE(arm.register_topic("arm/state", offering(large)));
  orc::participant viewer(address_broker.options());
  CHECK(viewer.request_topic("arm/state", wanting(here, patience_ms)).result().code() == errc::type_mismatch);
  orc::directory_options asking;
  asking.broker = address_broker.endpoint();
  type_description found;
  REQUIRE(orc::directory(asking).find_type(shown(large), found));
  CHECK(found == large);
}

TEST_CASE("types: a schema that the broker does not have is not found", "[integration][threads]") {
  broker_process address_broker;
  orc::directory_options asking;
  asking.broker = address_broker.endpoint();
  type_description found = here;
  CHECK(orc::directory(asking).find_type(shown(there), found).code() == errc::unknown_type);
  CHECK(found == here);
}

TEST_CASE("types: a schema that violates its format is a bad argument of either call", "[integration][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  type_description broken = here;
  broken.schema += "x";
  CHECK(both.register_topic("t", offering(broken)).result().code() == errc::bad_argument);
  CHECK(both.request_topic("t", wanting(broken)).result().code() == errc::bad_argument);
  CHECK_FALSE(both.publisher("t"));
  CHECK_FALSE(both.subscriber("t"));
}
