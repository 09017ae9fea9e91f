// What a participant refuses before it asks anybody, and what becomes of its topics.
#include "core/participant/participant.h"

#include <chrono>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/test_group.h"

using namespace orc::detail;
using namespace std::chrono_literals;
using namespace orc::test;
using orc::errc;

namespace {

orc::topic_options over_multicast() {
  orc::topic_options options;
  options.transports = {orc::transport::multicast};
  return options;
}

template <class Options>
using change = std::pair<std::string, std::function<void(Options&)>>;

}  // namespace

TEST_CASE("participant: options that make no sense are refused with what is wrong", "[unit]") {
  participant tested(alone());
  const std::vector<change<orc::topic_options>> topics{
      {"history", [](auto& o) { o.history = 0; }},
      {"history", [](auto& o) { o.history = 65537; }},
      {"expected size", [](auto& o) { o.expected_size = (std::size_t{1} << 36) + 1; }},
      {"history has a meaning over shm only", [](auto& o) { o.history = 2; }},
      {"memory has a meaning over shm only", [](auto& o) { o.memory.lock = true; }},
      {"multicast has a meaning over multicast only",
       [](auto& o) {
         o.transports = {orc::transport::tcp};
         o.multicast = test_group();
       }},
      {"priority is", [](auto& o) { o.priority = static_cast<orc::priority>(9); }},
      {"priority has a meaning over tcp and multicast only",
       [](auto& o) {
         o.transports = {orc::transport::ipc};
         o.priority = orc::priority::control;
       }},
      {"schema", [](auto& o) { o.type.schema.assign(orc::max_schema_bytes + 1, 'x'); }},
      {"a name or an encoding of a type", [](auto& o) { o.type.name.assign(256, 'x'); }},
      {"does not begin with udpm://", [](auto& o) { o.multicast = "nonsense"; }},
      {"no transport 31", [](auto& o) { o.transports = {static_cast<orc::transport>(31)}; }}};
  for (const auto& [what, spoil] : topics) {
    INFO(what);
    auto options = over_multicast();
    spoil(options);
    const auto refused = tested.register_topic("t", options);
    CHECK(refused.code() == errc::bad_argument);
    CHECK_THAT(refused.error().message(), contains(what));
    CHECK_FALSE(tested.publication_of("t"));
  }
  const std::vector<change<orc::request_options>> requests{
      {"conflate", [](auto& o) { o.conflate = 2; }},
      {"depth", [](auto& o) { o.depth = 1; }},
      {"65537",
       [](auto& o) {
         o.conflate = 0;
         o.depth = 65537;
       }},
      {"connected_within is negative", [](auto& o) { o.connected_within = std::chrono::nanoseconds(-1); }},
      {"max_messages", [](auto& o) { o.max_messages = 0; }},
      {"max_messages", [](auto& o) { o.max_messages = 61; }},
      {"spin is 0 to 1000 ms, not -1 ns", [](auto& o) { o.spin = std::chrono::nanoseconds(-1); }},
      {"spin", [](auto& o) { o.spin = orc::forever; }},
      {"not 1000001 us", [](auto& o) { o.spin = std::chrono::microseconds(1'000'001); }},
      {"max_age is 0 (any age) to 49 days", [](auto& o) { o.max_age = std::chrono::hours(24 * 50); }},
      {"not -1 us", [](auto& o) { o.max_age = std::chrono::microseconds(-1); }},
      {"max_messages has a meaning over shm only",
       [](auto& o) {
         o.transports = {orc::transport::tcp};
         o.max_messages = 9;
       }},
      {"wait is block or predictive", [](auto& o) { o.wait = static_cast<orc::wait>(2); }},
      {"cpu_budget", [](auto& o) { o.cpu_budget = 0; }},
      {"cpu_budget", [](auto& o) { o.cpu_budget = 1.01; }},
      {"cpu_budget", [](auto& o) { o.cpu_budget = std::numeric_limits<double>::quiet_NaN(); }}};
  for (const auto& [what, spoil] : requests) {
    INFO(what);
    orc::request_options options;
    spoil(options);
    const auto refused = tested.request_topic("t", options);
    CHECK(refused.code() == errc::bad_argument);
    CHECK_THAT(refused.error().message(), contains(what));
    CHECK_FALSE(tested.subscription_of("t"));
  }
  CHECK(tested.register_topic("a b", over_multicast()).code() == errc::bad_name);
  CHECK(tested.request_topic("", {}).code() == errc::bad_name);
}

TEST_CASE("participant: options of its own that make no sense fail every set-up call", "[unit]") {
  auto options = alone();
  options.broker_timeout = std::chrono::milliseconds(-2);
  participant tested(options);
  CHECK(tested.register_topic("t", over_multicast()).code() == errc::bad_argument);
  CHECK(tested.request_topic("t", {}).code() == errc::bad_argument);
  CHECK(tested.unregister_topic("t").code() == errc::bad_argument);
  CHECK(tested.broker_endpoint().empty());
}

TEST_CASE("participant: a topic can be declared again with the same options, and no other ones", "[unit]") {
  participant tested(alone());
  orc::request_options in_order;
  in_order.conflate = 0;
  REQUIRE(tested.register_topic("t", over_multicast()));
  REQUIRE(tested.request_topic("t", in_order));
  const auto sender = tested.publication_of("t");
  const auto receiver = tested.subscription_of("t");
  CHECK(tested.register_topic("t", over_multicast()));
  CHECK(tested.request_topic("t", in_order));
  CHECK(tested.publication_of("t") == sender);
  CHECK(tested.subscription_of("t") == receiver);
  auto other = over_multicast();
  other.keep_last = false;
  CHECK(tested.register_topic("t", other).code() == errc::bad_argument);
  in_order.depth = 7;
  const auto refused = tested.request_topic("t", in_order);
  CHECK(refused.code() == errc::bad_argument);
  CHECK_THAT(refused.error().message(), contains("release_topic it first"));
}

TEST_CASE("participant: a topic that is given up is closed, and can be declared anew", "[unit]") {
  participant tested(alone());
  CHECK(tested.unregister_topic("t").code() == errc::not_registered);
  CHECK(tested.release_topic("t").code() == errc::not_requested);
  REQUIRE(tested.register_topic("t", over_multicast()));
  REQUIRE(tested.request_topic("t", {}));
  const auto sender = tested.publication_of("t");
  const auto receiver = tested.subscription_of("t");
  CHECK(tested.unregister_topic("t"));
  CHECK(tested.release_topic("t"));
  CHECK(sender->send("x", 1).code() == errc::closed);
  CHECK(receiver->recv(0ms).status() == errc::closed);
  CHECK_FALSE(tested.publication_of("t"));
  CHECK_FALSE(tested.subscription_of("t"));
  CHECK(tested.unregister_topic("t").code() == errc::not_registered);
  CHECK(tested.register_topic("t", over_multicast()));
  CHECK(tested.request_topic("t", {}));
  CHECK(tested.publication_of("t") != sender);
  CHECK(tested.subscription_of("t") != receiver);
}

TEST_CASE("participant: its end closes topics that others still hold", "[unit]") {
  std::shared_ptr<publication> sender;
  std::shared_ptr<subscription> receiver;
  {
    participant tested(alone());
    REQUIRE(tested.register_topic("t", over_multicast()));
    REQUIRE(tested.request_topic("t", {}));
    sender = tested.publication_of("t");
    receiver = tested.subscription_of("t");
  }
  CHECK(sender->send("x", 1).code() == errc::closed);
  CHECK(receiver->recv(orc::forever).status() == errc::closed);
}

TEST_CASE("participant: without a broker, what only a broker can introduce is refused", "[unit]") {
  participant tested(alone());
  orc::topic_options over_tcp;
  over_tcp.transports = {orc::transport::tcp};
  const auto sent = tested.register_topic("t", over_tcp);
  CHECK_FALSE(sent);
  CHECK_FALSE(tested.publication_of("t"));
  orc::request_options from_tcp;
  from_tcp.transports = {orc::transport::tcp};
  CHECK(tested.request_topic("t", from_tcp).code() == sent.code());
  CHECK_FALSE(tested.subscription_of("t"));
}
