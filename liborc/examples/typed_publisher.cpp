// Publishes the state of an arm at 1 kHz until Ctrl-C, as a C++ struct. See typed_subscriber.cpp.
#include <orc/typed.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "state.h"

namespace {

std::atomic<bool> ended{false};
void end(int) { ended = true; }

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);

  orc::participant_options options;
  options.name = "arm";
  orc::participant participant(options);

  // Subscribers on this host read the struct in shared memory.
  auto state = participant.register_topic<robot::state>(
      "arm/state", {.transports = {orc::transport::shm, orc::transport::ipc, orc::transport::tcp}});
  if (!state.result()) {
    std::fprintf(stderr, "arm/state: %s\n", state.error().message().c_str());
    if (!state) return EXIT_FAILURE;  // true without a broker: the topic is announced when one answers
  }

  const auto start = std::chrono::steady_clock::now();
  for (auto next = start; !ended; next += std::chrono::milliseconds(1)) {
    std::this_thread::sleep_until(next);
    const double time_s = std::chrono::duration<double>(next - start).count();
    // A state in the memory that subscribers will read. It begins as robot::state{}. `state.send(value)` copies one
    // instead.
    auto sample = state.loan();
    if (!sample) continue;  // no memory
    for (int joint = 0; joint < 7; ++joint) {
      sample->q[joint] = std::sin(time_s + joint);
      sample->dq[joint] = std::cos(time_s + joint);
    }
    sample->doing = robot::mode::moving;
    if (const orc::result sent = state.send(std::move(sample)); !sent) {
      std::fprintf(stderr, "arm/state: %s\n", sent.error().message().c_str());
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
