// A controller whose gain and mode other programs set while it runs, until Ctrl-C:
//
//   orc param list -v
//   orc param set controller/gain 2.5
#include <orc/parameters.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::atomic<bool> ended{false};
void end(int) { ended = true; }

}  // namespace

int main() {
  using namespace std::chrono_literals;
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  orc::participant participant({.name = "tuned_controller"});
  auto gain = participant.parameter<double>(
      "controller/gain", 1.0, {.min = 0, .max = 10, .unit = "N/m", .description = "of the position loop"});
  auto mode = participant.parameter<std::string>("controller/mode", "hold", {.choices = {"hold", "follow"}});
  for (const auto* const result : {&gain.result(), &mode.result()}) {
    if (*result) continue;
    std::fprintf(stderr, "tuned_controller: %s\n", result->error().message().c_str());
    return EXIT_FAILURE;
  }
  const auto heard = mode.on_change([](const std::string& now) {
    std::printf("mode %s\n", now.c_str());
    std::fflush(stdout);
  });
  if (!heard) std::fprintf(stderr, "tuned_controller: %s\n", heard.error().message().c_str());

  double force = 0;
  for (auto next = std::chrono::steady_clock::now(); !ended; next += 10ms) {
    const double error = 0.1;  // of the position, in m
    if (const double now = *gain * error; now != force) {
      force = now;
      std::printf("force %g N\n", force);
      std::fflush(stdout);
    }
    std::this_thread::sleep_until(next);
  }
  return EXIT_SUCCESS;
}
