// Publishes the state of a joint at 1 kHz until Ctrl-C. The subscriber, the controller, the recorder and the event loop
// beside this file receive it.
#include <orc.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "joint.h"

namespace {

// A signal handler may do little: it sets a flag, and the loop ends.
std::atomic<bool> ended{false};
void end(int) { ended = true; }

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);

  // The participant: this program's session with ORC. The name is for people, in `orc topic list -v`.
  orc::participant_options options;
  options.name = "robot";
  orc::participant participant(options);

  orc::publisher state = participant.register_topic("robot/state");
  if (!state.result()) std::fprintf(stderr, "robot/state: %s\n", state.error().message().c_str());
  // Without a broker the handle is true, and the topic is announced when one answers. Other failures stay, such as
  // name_taken.
  if (!state) return EXIT_FAILURE;

  constexpr auto period = std::chrono::milliseconds(1);
  const auto start = std::chrono::steady_clock::now();
  for (auto next = start; !ended; next += period) {
    std::this_thread::sleep_until(next);
    const double time_s = std::chrono::duration<double>(next - start).count();
    const joint_state joint{.position_rad = std::sin(time_s), .velocity_rad_s = std::cos(time_s)};
    // Never waits for a subscriber. Without subscribers ORC keeps the sample for the next one that joins.
    if (const orc::result sent = state.send(&joint, sizeof joint); !sent) {
      std::fprintf(stderr, "robot/state: %s\n", sent.error().message().c_str());
      return EXIT_FAILURE;
    }
  }
  // The destructor of `broker` withdraws the topic, so its name is free at once.
  return EXIT_SUCCESS;
}
