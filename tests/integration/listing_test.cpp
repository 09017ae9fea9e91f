// The application of the paper's Listing 1: position in, control out, four calls, over a broker found by ORC_BROKER.
#include <cstdlib>
#include <cstring>
#include <thread>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

int controller() {
  orc::participant b;
  if (!b.register_topic("robot_control")) return EXIT_FAILURE;
  if (!b.request_topic("robot_position")) return EXIT_FAILURE;
  while (true) {
    const auto msg = b.recv_msg("robot_position", -1);
    double position = 0;
    if (msg.size() != sizeof position) return EXIT_FAILURE;
    std::memcpy(&position, msg.data(), sizeof position);
    if (position < 0) return EXIT_SUCCESS;
    const double control = -2.0 * position;
    if (!b.send_msg("robot_control", &control, sizeof control)) return EXIT_FAILURE;
  }
}

}  // namespace

TEST_CASE("listing 1: the controller of the paper closes its loop", "[integration][threads]") {
  broker_process address_broker;
  ::setenv("ORC_BROKER", address_broker.endpoint().c_str(), 1);
  int status = -1;
  std::thread application([&] { status = controller(); });
  {
    orc::participant robot;
    CHECK(robot.register_topic("robot_position"));
    CHECK(robot.request_topic("robot_control", {.connected_within = patience}).result());
    for (double position = 1; position < 1000; position += 1) {
      double control = 0;
      // The first positions may pass before the controller listens; it then gets the newest.
      const bool closed = wait_until([&] {
        if (!robot.send_msg("robot_position", &position, sizeof position)) return false;
        const auto reply = robot.recv_msg("robot_control", 1000);
        return reply && reply.copy_to(&control, sizeof control) == sizeof control && control <= -2.0 * position &&
               control >= -2.0 * position;
      });
      CHECK(closed);
      if (!closed) break;
    }
    const double end = -1;
    CHECK(robot.send_msg("robot_position", &end, sizeof end));
    application.join();
  }
  CHECK(status == EXIT_SUCCESS);
  ::unsetenv("ORC_BROKER");
}
