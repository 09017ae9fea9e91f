// Shared topics in the session with a broker that is too old, out of room or out of descriptors.
#include <atomic>
#include <thread>

#include "orc.h"
#include "support/catch.h"
#include "support/fake_broker.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

TEST_CASE("shared session: a broker that does not know shared topics gets no exclusive registration",
          "[unit][threads]") {
  fake_broker broker;
  orc::participant tested({.broker = broker.endpoint()});
  std::atomic<bool> finished{false};
  orc::result done;
  orc::topic_options shared;
  shared.shared = true;
  std::thread user([&] {
    done = tested.register_topic("stop", shared).result();
    finished = true;
  });
  CHECK(wait_until([&] { return broker.serve(), finished.load(); }));
  user.join();
  CHECK(done.code() == orc::errc::refused);
  CHECK(done.error().message().find("too old for shared topics") != std::string::npos);
  CHECK_FALSE(tested.publisher("stop"));
  CHECK(wait_until([&] { return broker.serve(), !broker.all<wire::unregister_topic>().empty(); }));
  const auto asked = broker.all<wire::register_topic>();
  REQUIRE_FALSE(asked.empty());
  CHECK(asked[0].shared);
}

TEST_CASE("shared session: options that contradict each other are refused", "[unit][threads]") {
  orc::participant alone({.broker = "none"});
  orc::topic_options shared;
  shared.shared = true;
  shared.transports = {orc::transport::multicast};
  const auto done = alone.register_topic("stop", shared).result();
  CHECK(done.code() == orc::errc::bad_argument);
  CHECK(done.error().message().find("needs a broker") != std::string::npos);
  fake_broker broker;
  orc::participant tested({.broker = broker.endpoint(), .broker_timeout = std::chrono::milliseconds(0)});
  orc::request_options each;
  each.newest_of = orc::newest_of::each;
  each.conflate = 0;
  CHECK(tested.request_topic("stop", each).result().code() == orc::errc::bad_argument);
  each.newest_of = static_cast<orc::newest_of>(2);
  each.conflate = 1;
  CHECK(tested.request_topic("stop", each).result().code() == orc::errc::bad_argument);
}
