// A program with parameters in a process of its own.
//
//   BROKER TRANSPORT [PREFIX]
//
// Prints "ready", and a line for each change that it hears of: "gain 2.5". Ends with its standard input.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "orc/parameters.h"

namespace {

[[nodiscard]] orc::transport_set transports(const std::string& name) {
  for (const auto each : {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp, orc::transport::shm}) {
    if (orc::to_string(each) == name) return {each};
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const std::string prefix = argc > 3 ? argv[3] : "pid";
  orc::participant node({.broker = argv[1], .name = "parameter peer", .transports = transports(argv[2])});
  auto gain = node.parameter<double>(prefix + "/gain", 1.0,
                                     {.min = 0, .max = 10, .unit = "N", .description = "of the inner loop"});
  auto steps = node.parameter<int>(prefix + "/steps", 3);
  auto mode = node.parameter<std::string>(prefix + "/mode", "auto", {.choices = {"auto", "off"}});
  auto on = node.parameter<bool>(prefix + "/on", false);
  auto gains = node.parameter<std::vector<double>>(prefix + "/gains", {1, 2});
  auto version = node.parameter<std::string>(prefix + "/version", "1.2", {.read_only = true});
  auto even = node.parameter<int>(prefix + "/even", 2, {.validate = [](const int& value) {
                                    return value % 2 == 0 ? std::string() : std::string("it is odd");
                                  }});
  for (const auto* const result : {&gain.result(), &steps.result(), &mode.result(), &on.result(), &gains.result(),
                                   &version.result(), &even.result()}) {
    if (*result) continue;
    std::fprintf(stderr, "%s\n", result->error().message().c_str());
    return 1;
  }
  const auto heard = gain.on_change([](const double& value) {
    std::printf("gain %g\n", value);
    std::fflush(stdout);
  });
  if (!heard) return 1;
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}
