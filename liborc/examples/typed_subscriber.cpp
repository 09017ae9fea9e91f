// Shows the newest state of the arm ten times a second until Ctrl-C. See typed_publisher.cpp.
#include <orc/typed.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "state.h"

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

  auto state = participant.request_topic<robot::state>("arm/state");
  if (!state.result()) {
    // With type_mismatch the message names both types and the first field that differs.
    std::fprintf(stderr, "arm/state: %s\n", state.error().message().c_str());
    if (!state) return EXIT_FAILURE;
  }

  while (!ended) {
    const auto sample = state.recv(100);
    if (!sample) continue;  // sample.status() says why: here timed_out
    // Read where it arrived: over shm that is the publisher's memory, which stays as it is until `sample` ends.
    std::printf("%+.3f rad  %+.3f rad/s  %s  %.0f us old  skipped %llu\n", sample->q[0], sample->dq[0],
                sample->doing == robot::mode::moving ? "moving" : "not moving",
                static_cast<double>(sample.age_ns()) / 1e3, static_cast<unsigned long long>(sample.missed()));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return EXIT_SUCCESS;
}
