// Shows the newest state of the joint ten times a second until Ctrl-C. See publisher.cpp.
#include <orc.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "joint.h"

namespace {

std::atomic<bool> ended{false};
void end(int) { ended = true; }

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // whole lines, also into a pipe

  orc::participant_options options;
  options.name = "display";
  orc::participant participant(options);

  // The topic need not be registered yet: the link comes up when both ends exist.
  orc::subscriber state = participant.request_topic("robot/state");
  if (!state.result()) std::fprintf(stderr, "robot/state: %s\n", state.error().message().c_str());
  if (!state) return EXIT_FAILURE;  // without a broker it is true: the request takes effect when one answers

  while (!ended) {
    // Signals do not end a receive. A finite wait notices Ctrl-C in time.
    const orc::message sample = state.recv(100);
    if (!sample) continue;  // sample.status() says why: here timed_out
    joint_state joint;
    if (sample.size() != sizeof joint) continue;  // another program's type
    sample.copy_to(&joint, sizeof joint);
    std::printf("%+.3f rad  %+.3f rad/s  %.0f us old  skipped %llu\n", joint.position_rad, joint.velocity_rad_s,
                static_cast<double>(sample.age_ns()) / 1e3, static_cast<unsigned long long>(sample.missed()));
    // A slow reader delays no program. Its next receive returns the newest sample; missed() counts those between.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return EXIT_SUCCESS;
}
