// A robot of one joint: publishes its position at 1 kHz and moves as the newest control value tells it.
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "orc.h"

namespace {

constexpr long period_ns = 1'000'000;
constexpr double period_s = 1e-3;

// Adds one period; absolute times keep the rate exact whatever each cycle takes.
void advance(timespec& time) {
  time.tv_nsec += period_ns;
  if (time.tv_nsec < 1'000'000'000) return;
  time.tv_nsec -= 1'000'000'000;
  ++time.tv_sec;
}

bool complain(const char* what, const orc::result& why) {
  if (!why) std::cerr << "robot: " << what << ": " << why.error().message() << std::endl;
  return static_cast<bool>(why);
}

}  // namespace

int main() {
  orc::participant_options options;
  options.name = "robot";
  orc::participant b(options);
  if (!complain("register robot_position", b.register_topic("robot_position").result())) return EXIT_FAILURE;
  if (!complain("request robot_control", b.request_topic("robot_control").result())) return EXIT_FAILURE;

  double position = 1;
  double control = 0;
  timespec next = {};
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (double time_s = 0;; time_s += period_s) {
    if (const auto msg = b.recv_msg("robot_control", 0); msg && msg.size() == sizeof control) {
      std::memcpy(&control, msg.data(), sizeof control);
    }
    // Something pushes the joint; without control it would drift away.
    const double push = 2 + std::sin(time_s);
    position += (push + control) * period_s;
    if (!b.send_msg("robot_position", &position, sizeof position)) return EXIT_FAILURE;
    advance(next);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr) != 0) {
    }
  }
}
