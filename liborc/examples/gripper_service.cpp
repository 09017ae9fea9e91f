// A gripper that closes when it is called, until Ctrl-C. See gripper_client.cpp.
#include <orc/calls.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "gripper.h"

namespace {

std::atomic<bool> ended{false};
void end(int) { ended = true; }

// Closes within a second, and sends the width as feedback meanwhile.
gripper::close_reply close_gripper(const gripper::close_request& request, orc::call_context& call) {
  if (request.force <= 0) throw std::invalid_argument("the force must be above 0 N");
  double width = 0.08;
  for (; width > 0.01; width -= 0.001) {
    if (call.cancelled()) break;  // the client has cancelled or is gone: stop
    call.feedback(gripper::progress{width});
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return {width};
}

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  orc::participant participant;
  const auto service = participant.serve<gripper::close_request, gripper::close_reply>("gripper/close", close_gripper);
  if (!service.result()) {
    std::fprintf(stderr, "gripper/close: %s\n", service.error().message().c_str());
    if (!service) return EXIT_FAILURE;  // true without a broker: the service is announced when one answers
  }
  while (!ended) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  return EXIT_SUCCESS;
}
