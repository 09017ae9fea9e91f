// A server or a client of untyped calls in a process of its own, for the tests that kill one.
//
//   serve BROKER NAME TRANSPORT [LOG]  prints "ready"; each call appends its number to LOG before anything else
//   call BROKER NAME TRANSPORT         calls until it is killed; prints "called" at the first reply
//   hold BROKER NAME TRANSPORT         makes one call that the server holds; prints "called"
//
// Ends with its standard input.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "support/call_peers.h"

namespace {

using namespace orc::test;

[[nodiscard]] orc::transport_set transports(const std::string& name) {
  for (const auto each : {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp, orc::transport::shm}) {
    if (orc::to_string(each) == name) return {each};
  }
  return {};
}

void say(const char* word) {
  std::puts(word);
  std::fflush(stdout);
}

void wait_for_end_of_input() {
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

int serve(orc::participant& participant, const std::string& name, const char* log) {
  const int file = log != nullptr ? ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  call_counts counts;
  const auto service = participant.serve(name,
                                         [&](std::span<const std::byte> request, orc::call_context& context) {
                                           const std::string line =
                                               std::to_string(from_bytes<call_request>(request).number) + "\n";
                                           if (file >= 0) (void)!::write(file, line.data(), line.size());
                                           return obey(request, context, counts);
                                         },
                                         {.threads = file >= 0 ? 2U : 0U});
  if (!service.result()) return 1;
  say("ready");
  wait_for_end_of_input();
  return 0;
}

int call(orc::participant& participant, const std::string& name) {
  for (bool first = true;;) {
    if (participant.call(name, bytes_of({.number = 0}), std::chrono::seconds(1)).get() && std::exchange(first, false))
      say("called");
  }
}

int hold(orc::participant& participant, const std::string& name) {
  const auto future = participant.call(name, bytes_of({.order = call_order::hold}), ample);
  say("called");
  wait_for_end_of_input();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string role = argv[1];
  orc::participant participant({.broker = argv[2], .name = role, .transports = transports(argv[4])});
  if (role == "serve") return serve(participant, argv[3], argc > 5 ? argv[5] : nullptr);
  if (role == "call") return call(participant, argv[3]);
  if (role == "hold") return hold(participant, argv[3]);
  return 2;
}
