// The controller of the ORC paper's Listing 1 (position in, control out), with a report once a second.
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "orc.h"
#include "report.h"

namespace {

using clock_type = std::chrono::steady_clock;
constexpr auto report_period = std::chrono::seconds(1);
constexpr auto oldest_position = std::chrono::milliseconds(50);  // an older one is no basis for control

// Milliseconds until `then`, rounded up so that waiting for them ends after it.
int until_ms(clock_type::time_point then) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(then - clock_type::now()).count();
  return left > 0 ? static_cast<int>(left) : 0;
}

bool complain(const char* what, const orc::result& why) {
  if (!why) std::cerr << "controller: " << what << ": " << why.error().message() << std::endl;
  return static_cast<bool>(why);
}

}  // namespace

int main() {
  /* Communication Setup */
  orc::participant_options options;
  options.name = "controller";
  orc::participant b(options);
  /* Declare publishing topic */
  if (!complain("register robot_control", b.register_command("robot_control").result())) return EXIT_FAILURE;
  /* Subscribe to a topic */
  if (!complain("request robot_position", b.request_topic("robot_position", {.max_age = oldest_position}).result()))
    return EXIT_FAILURE;

  orc::demo::report seen;
  const orc::subscriber position_topic = b.subscriber("robot_position");
  auto last_report = clock_type::now();
  /* Main execution loop */
  while (true) {
    // Listing 1 waits for ever; here the report is due also when the robot is silent.
    const auto msg = b.recv_msg("robot_position", until_ms(last_report + report_period));
    if (const auto now = clock_type::now(); now >= last_report + report_period) {
      seen.print(std::chrono::duration<double>(now - last_report).count(), position_topic.link());
      last_report = now;
    }
    if (!msg) continue;
    seen.add(msg);
    /* Deserialize message */
    double position = 0;
    if (msg.size() != sizeof position) return EXIT_FAILURE;
    std::memcpy(&position, msg.data(), sizeof position);
    /* Use the information to compute control */
    const double control = -2.0 * position;
    /* Serialize reply */
    if (!b.send_msg("robot_control", &control, sizeof control)) return EXIT_FAILURE;
  }
}
