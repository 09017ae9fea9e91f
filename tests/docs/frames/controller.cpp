// A controller beside a robot that sends its state at 1 kHz. The block runs in a thread of its own.
#include <chrono>
#include <cstdio>
#include <thread>

#include "orc.h"

namespace {

int block([[maybe_unused]] orc::participant& b) {
  [[maybe_unused]] orc::message sample;
  // block
  return 0;
}

}  // namespace

int main() {
  orc::participant robot;
  if (!robot.register_topic("state")) return 1;
  const std::jthread source([&robot](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      if (!robot.send_msg("state", "state", 5)) return;
    }
  });
  orc::participant b;
  int status = 1;
  std::thread([&] { status = block(b); }).join();
  return status;
}
