// Closes the gripper of gripper_service.cpp once, and shows how far it is.
#include <orc/calls.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "gripper.h"

int main() {
  using namespace std::chrono_literals;
  orc::participant participant;
  auto closing = participant.call<gripper::close_reply>("gripper/close", gripper::close_request{.force = 20}, 5s);
  while (!closing.wait(100ms)) {
    if (const auto now = closing.feedback<gripper::progress>()) std::printf("%.3f m\n", now->get()->width);
  }
  const auto closed = closing.get();
  if (!closed) {
    std::fprintf(stderr, "gripper/close: %s\n", closed.error().message().c_str());
    return EXIT_FAILURE;
  }
  std::printf("closed: %.3f m\n", closed->width);
  return EXIT_SUCCESS;
}
