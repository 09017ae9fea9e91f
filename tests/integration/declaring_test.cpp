// What a set-up call does not do it says: options that contradict earlier ones, transports that do not exist,
// environment variables with mistakes.
#include <cstdlib>
#include <future>
#include <string>
#include <utility>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
  ~scoped_variable() { ::unsetenv(name_); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  const char* name_;
};

}  // namespace

TEST_CASE("declaring again: the same or nothing new is fine, anything else is refused and changes nothing",
          "[integration][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  REQUIRE(both.register_topic("t", {.transports = {orc::transport::ipc}, .type = {.name = "a"}}));
  CHECK(both.register_topic("t").result());
  CHECK(both.register_topic("t", {.transports = {orc::transport::ipc}}).result());
  CHECK(both.register_topic("t", {.transports = {orc::transport::tcp}}).result().code() == orc::errc::bad_argument);
  CHECK(both.register_topic("t", {.type = {.name = "b"}}).result().code() == orc::errc::bad_argument);

  REQUIRE(both.request_topic("t").result());
  CHECK(both.request_topic("t", {.connected_within = patience}).result());
  CHECK(both.request_topic("t", {.conflate = 0, .depth = 5}).result().code() == orc::errc::bad_argument);
  CHECK(both.release_topic("t"));
  CHECK(both.request_topic("t", {.conflate = 0, .depth = 5}).result());
  CHECK(both.request_topic("t").result());  // "how does it stand?"
  CHECK(both.request_topic("t", {.conflate = 0, .depth = 6}).result().code() == orc::errc::bad_argument);
}

TEST_CASE("declaring: a handle says whether the topic stands, and its result what was found", "[integration]") {
  using orc::errc;
  broker_process address_broker;
  orc::participant both(address_broker.options());
  const orc::publisher sent = both.register_topic("t");
  CHECK(sent);
  CHECK(sent.result());
  orc::subscriber received = both.request_topic("t");
  REQUIRE(received.wait_connected(patience_ms));
  CHECK(received.result());
  const orc::publisher copy = sent;
  CHECK(copy.result());

  const orc::subscriber unlinked = both.request_topic("other", {.connected_within = std::chrono::milliseconds(1)});
  CHECK(unlinked);
  CHECK(unlinked.result().code() == errc::timed_out);
  CHECK_FALSE(unlinked.error().message().empty());
  CHECK_FALSE(both.subscriber("other").result().code() == errc::timed_out);  // what that call found

  orc::participant second(address_broker.options());
  const orc::publisher taken = second.register_topic("t");
  CHECK_FALSE(taken);
  CHECK(taken.result().code() == errc::name_taken);
  orc::publisher false_one = taken;
  CHECK(false_one.error().message() == taken.error().message());
  CHECK(false_one.send("x", 1).code() == errc::not_registered);

  CHECK(second.publisher("t").result().code() == errc::not_registered);
  CHECK(second.subscriber("t").result().code() == errc::not_requested);
  CHECK(orc::publisher().result().code() == errc::not_registered);
  CHECK(orc::subscriber().result().code() == errc::not_requested);

  orc::participant moved(std::move(second));
  CHECK(second.register_topic("u").result().code() == errc::closed);  // NOLINT(bugprone-use-after-move)
  CHECK(second.publisher("u").result().code() == errc::closed);

  auto lost = address_broker.options();
  lost.broker = "ipc:///nonexistent/orc.sock";
  lost.broker_timeout = std::chrono::milliseconds(0);
  orc::participant alone(lost);
  orc::publisher early = alone.register_topic("early");
  CHECK(early);
  CHECK(early.result().code() == errc::no_broker);
  CHECK(early.send("x", 1));
  CHECK(alone.request_topic("early").result().code() == errc::no_broker);
}

TEST_CASE("declaring: a transport that this build does not have is said at once", "[integration][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  constexpr auto unknown = static_cast<orc::transport>(9);
  CHECK(both.register_topic("t", {.transports = {unknown}}).result().code() == orc::errc::bad_argument);
  CHECK(both.request_topic("t", {.transports = {unknown}}).result().code() == orc::errc::bad_argument);
}

TEST_CASE("environment: ORC_TRANSPORTS with blanks is understood, with an unknown word it is refused by name",
          "[integration][threads]") {
  broker_process address_broker;
  {
    const scoped_variable wish("ORC_TRANSPORTS", " tcp ,\tipc");
    orc::participant sender(address_broker.options());
    REQUIRE(sender.register_topic("t"));
    orc::participant receiver(address_broker.options());
    REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
    CHECK(receiver.subscriber("t").link().transport == orc::transport::ipc);
  }
  for (const char* const wrong : {"carrier-pigeon", "IPC", "ipc,,none", "ipc tcp"}) {
    INFO(wrong);
    const scoped_variable wish("ORC_TRANSPORTS", wrong);
    orc::participant confused(address_broker.options());
    const auto registered = confused.register_topic("u").result();
    CHECK(registered.code() == orc::errc::bad_argument);
    CHECK(registered.error().message().find("ORC_TRANSPORTS") != std::string::npos);
  }
}

TEST_CASE("link: without a publisher the reason says so", "[integration][threads]") {
  broker_process address_broker;
  orc::participant receiver(address_broker.options());
  const auto waited = receiver.request_topic("t", {.connected_within = std::chrono::milliseconds(50)}).result();
  CHECK(waited.code() == orc::errc::timed_out);
  CHECK(waited.error().message().find("(no publisher)") != std::string::npos);
  auto sender = std::make_unique<orc::participant>(address_broker.options());
  REQUIRE(sender->register_topic("t"));
  REQUIRE(receiver.subscriber("t").wait_connected(patience_ms));
  sender.reset();
  CHECK(wait_until([&] { return !receiver.subscriber("t").connected(); }));
  CHECK(wait_until([&] { return receiver.subscriber("t").link().reason == "no publisher"; }));
}

// Once it said no_broker, after the whole time that the call may wait: for ever, with -1.
TEST_CASE("declaring: a topic that another thread gives up ends the call that waits for the broker",
          "[integration][threads]") {
  const broker_process nobody(broker_process::at::nowhere);
  auto patient = nobody.options();
  patient.broker_timeout = orc::forever;
  orc::participant both(patient);
  const auto outcome_when = [](auto&& declare, auto&& give_up) {
    auto declared = std::async(std::launch::async, declare);
    REQUIRE(wait_until([&] { return give_up().code() == orc::errc::ok; }));
    REQUIRE(declared.wait_for(patience) == std::future_status::ready);
    return declared.get().code();
  };
  CHECK(outcome_when([&] { return both.request_topic("t").result(); }, [&] { return both.release_topic("t"); }) ==
        orc::errc::closed);
  CHECK(outcome_when([&] { return both.register_topic("t").result(); }, [&] { return both.unregister_topic("t"); }) ==
        orc::errc::closed);
}

TEST_CASE("A8: options that contradict each other are refused with what to do", "[integration][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  const auto refused = [](const orc::result& r, const std::string& option) {
    CHECK(r.code() == orc::errc::bad_argument);
    CHECK_THAT(r.error().message(), contains(option));
  };
  refused(both.request_topic("t", {.depth = 100}).result(), "conflate = 0");
  refused(both.request_topic("t", {.transports = {orc::transport::ipc}, .max_messages = 20}).result(), "max_messages");
  refused(both.register_topic("t", {.transports = {orc::transport::ipc}, .history = 10}).result(), "history");
  refused(both.register_topic("t", {.transports = {orc::transport::ipc}, .memory = {.lock = true}}).result(), "memory");
  refused(both.register_topic("t", {.transports = {orc::transport::ipc}, .multicast = "udpm://239.255.76.67:7667"})
              .result(),
          "multicast");
  CHECK(!both.publisher("t"));
  CHECK(!both.subscriber("t"));
  // What is said of a transport that may come to be used is no contradiction.
  CHECK(both.register_topic("t", {.expected_size = 1000, .history = 10}));
  CHECK(both.request_topic("t", {.conflate = 0, .max_messages = 20, .spin = std::chrono::microseconds(100)}).result());
  CHECK(both.request_topic("t", {.conflate = 0, .depth = 64}).result());
}
