// A controller at 1 kHz: newest state in, torque out, and a safe torque when the state stays away. See publisher.cpp.
//
// A controller on a real robot also asks the kernel for SCHED_FIFO and mlockall, and the robot has limits of its own:
// ORC is no safety function.
#include <orc.h>
#include <time.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "joint.h"

namespace {

constexpr long period_ns = 1'000'000;
constexpr auto oldest_state = std::chrono::milliseconds(5);  // an older state is no basis for control
constexpr int max_wait_ms = 5;                               // five periods without a state: make the robot safe
constexpr joint_command safe{.torque_nm = 0};
constexpr double stiffness_nm_rad = 20;
constexpr double damping_nm_s_rad = 2;

std::atomic<bool> ended{false};
void end(int) { ended = true; }

timespec now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}

timespec after(timespec time, long ns) {
  time.tv_nsec += ns;
  if (time.tv_nsec >= 1'000'000'000) {
    time.tv_nsec -= 1'000'000'000;
    ++time.tv_sec;
  }
  return time;
}

bool worked(const char* what, const orc::result& result) {
  if (!result) std::fprintf(stderr, "%s: %s\n", what, result.error().message().c_str());
  return static_cast<bool>(result);
}

// Holds the position at which it took over.
class position_hold {
 public:
  joint_command control(const joint_state& joint) {
    if (!active_) target_rad_ = joint.position_rad;  // no jump when the state comes back
    active_ = true;
    return {stiffness_nm_rad * (target_rad_ - joint.position_rad) - damping_nm_s_rad * joint.velocity_rad_s};
  }
  void stop() { active_ = false; }
  [[nodiscard]] bool active() const { return active_; }

 private:
  bool active_ = false;
  double target_rad_ = 0;
};

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);

  orc::participant_options options;
  options.name = "controller";
  orc::participant participant(options);

  // A robot that joins later must not carry out an old command: it does not get it.
  // max_age: a receive drops a state that is too old, however it arrived.
  orc::publisher command = participant.register_command("robot/command");
  orc::subscriber state = participant.request_topic("robot/state", {.max_age = oldest_state});
  if (!worked("robot/command", command.result()) || !worked("robot/state", state.result())) return EXIT_FAILURE;

  position_hold hold;
  timespec next = now();
  while (!ended) {
    // Absolute times keep the rate exact, whatever a cycle takes.
    next = after(next, period_ns);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);

    const orc::message sample = state.recv(max_wait_ms);
    joint_command torque = safe;
    if (joint_state joint; sample.size() == sizeof joint) {
      sample.copy_to(&joint, sizeof joint);
      if (!hold.active()) std::fprintf(stderr, "control begins\n");
      torque = hold.control(joint);
    } else {
      // timed_out: the robot, its program or the link is gone. A sample of another size is as useless. The safe torque
      // goes out in each cycle until there is a state to control with.
      const auto why = sample ? "sample of another size" : std::string(orc::describe(sample.status()));
      if (hold.active()) std::fprintf(stderr, "no state: %s\n", why.c_str());
      hold.stop();
      next = now();  // the wait took longer than a period: do not catch up in a burst
    }
    if (!worked("robot/command", command.send(&torque, sizeof torque))) return EXIT_FAILURE;
  }

  // The last word of a controller is a safe command.
  return worked("robot/command", command.send(&safe, sizeof safe)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
