// Two robots with the same programs, at one broker: each hears its own, and both hear what has an absolute name.
#include <memory>
#include <string>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

// The program: publishes `pose`, hears `pose` and the absolute /estop.
template <class Transport>
struct robot {
  robot(const broker_process& address_broker, const std::string& name_space)
      : sender(options(address_broker, name_space)), receiver(options(address_broker, name_space)) {
    require(sender.register_topic("pose", offered<Transport>()).result(), "register_topic");
    require(receiver.request_topic("pose", wanted<Transport>()).result(), "request_topic");
    require(receiver.request_topic("/estop", wanted<Transport>(1, 0, 0)).result(), "request_topic /estop");
  }
  [[nodiscard]] static orc::participant_options options(const broker_process& address_broker,
                                                        const std::string& name_space) {
    auto made = address_broker.options(name_space);
    made.name_space = name_space;
    return made;
  }
  [[nodiscard]] std::uint64_t received(const char* topic) { return value_of(receiver.recv_msg(topic, patience_ms)); }

  orc::participant sender;
  orc::participant receiver;
};

[[nodiscard]] orc::result send(orc::participant& by, const char* topic, std::uint64_t value) {
  return by.send_msg(topic, &value, sizeof value);
}

}  // namespace

TEMPLATE_TEST_CASE("namespaces: robots with the same program share a broker, and absolute names",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  const broker_process address_broker;
  robot<TestType> seven(address_broker, "robot7");
  robot<TestType> eight(address_broker, "lab/robot8");
  REQUIRE(send(seven.sender, "pose", 7));
  REQUIRE(send(eight.sender, "pose", 8));
  CHECK(seven.received("pose") == 7);
  CHECK(eight.received("pose") == 8);
  CHECK(seven.receiver.recv_msg("pose", 0).status() == orc::errc::nothing_new);
  CHECK(eight.receiver.recv_msg("pose", 0).status() == orc::errc::nothing_new);

  orc::participant button(address_broker.options("button"));
  REQUIRE(button.register_topic("estop", offered<TestType>()));
  REQUIRE(seven.receiver.subscriber("/estop").wait_connected(patience_ms));
  REQUIRE(eight.receiver.subscriber("/estop").wait_connected(patience_ms));
  REQUIRE(send(button, "estop", 1));
  CHECK(seven.received("/estop") == 1);
  CHECK(eight.received("/estop") == 1);

  // One topic, whichever way it is spelled.
  REQUIRE(send(seven.sender, "/robot7/pose", 77));
  CHECK(seven.received("/robot7/pose") == 77);
  CHECK(seven.receiver.subscriber("robot7/pose").recv(0).status() == orc::errc::not_requested);
  REQUIRE(button.request_topic("lab/robot8/pose", wanted<TestType>()).result());
  REQUIRE(send(eight.sender, "pose", 88));
  CHECK(value_of(button.recv_msg("lab/robot8/pose", patience_ms)) == 88);
}
