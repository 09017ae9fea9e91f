// A server or a client of untyped calls in a process of its own, for the tests that kill one.
//
//   serve BROKER NAME TRANSPORT [LOG]  prints "ready"; each call appends its number to LOG before anything else
//   call BROKER NAME TRANSPORT         calls until it is killed; prints "called" at the first reply
//   pace BROKER NAME TRANSPORT [FIRST] prints "ready"; makes ten calls a second with the numbers from FIRST on, and
//                                      prints of each that has ended "CODE BEGUN ENDED NUMBER", in ms of the monotonic
//                                      clock; at the end of its input "made COUNT"
//   tune BROKER PREFIX TRANSPORT       the same, setting PREFIX/gain; CODE: of orc::errc, or -1 for another value
//   hold BROKER NAME TRANSPORT         makes one call that the server holds; prints "called"
//   norm BROKER NAME TRANSPORT         serves call_peer.position -> call_peer.distance; prints "ready"
//   ask BROKER NAME TRANSPORT          prints "ready"; calls with each line of its input, which is the request in
//                                      hexadecimal digits, and prints how it ended: code, number, type of the
//                                      exception, text or reply in hexadecimal digits; "-" for what is empty
//   measure BROKER NAME TRANSPORT      prints "ready"; calls the service of `norm` with each line, which is a number,
//                                      and prints the reply, or the text of the error
//   record BROKER NAME TRANSPORT       as serve, with recorded calls
//   listen BROKER NAME TRANSPORT       prints "ready"; then of each recorded call a line: client, id, how it ended,
//                                      request, reply
//
// Ends with its standard input.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "orc/directory.h"
#include "orc/parameters.h"
#include "support/call_peers.h"

namespace call_peer {

struct position {
  double x, y;
};
ORC_DESCRIBE(position, x, y)

struct distance {
  double meters;
};
ORC_DESCRIBE(distance, meters)

}  // namespace call_peer

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

int serve(orc::participant& participant, const std::string& name, const char* log, bool recorded = false) {
  const int file = log != nullptr ? ::open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  call_counts counts;
  const auto service = participant.serve(name,
                                         [&](std::span<const std::byte> request, orc::call_context& context) {
                                           const std::string line =
                                               std::to_string(from_bytes<call_request>(request).number) + "\n";
                                           if (file >= 0) (void)!::write(file, line.data(), line.size());
                                           return obey(request, context, counts);
                                         },
                                         {.threads = file >= 0 ? 2U : 0U, .recorded = recorded});
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

long now_ms() {
  return static_cast<long>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
}

// Short: who reads it may do so late, and meanwhile the pipe must not be full.
void say_outcome(int code, long begun, std::uint64_t number, const std::string& text) {
  std::printf("%d %ld %ld %llu %.60s\n", code, begun, now_ms(), static_cast<unsigned long long>(number), text.c_str());
  std::fflush(stdout);
}

// Until its input ends.
template <class Beat>
int ten_a_second(std::uint64_t first, Beat beat) {
  say("ready");
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  std::uint64_t n = first;
  for (; ::poll(&input, 1, 100) == 0; ++n) beat(n);
  say(("made " + std::to_string(n - first)).c_str());
  return 0;
}

int pace(orc::participant& participant, const std::string& name, const char* first) {
  return ten_a_second(first != nullptr ? std::stoull(first) : 1, [&](std::uint64_t number) {
    participant.call(name, bytes_of({.number = number}), std::chrono::seconds(1))
        .then([=, begun = now_ms()](const auto& got) {
          say_outcome(static_cast<int>(got.error().code), begun, number, got.error().text);
        });
  });
}

int tune(orc::participant& participant, const std::string& broker, const std::string& prefix) {
  orc::directory in({.broker = broker, .broker_timeout = std::chrono::milliseconds(500)});
  return ten_a_second(1, [&](std::uint64_t number) {
    const long begun = now_ms();
    const double wanted = static_cast<double>(number % 100) / 10;
    orc::parameter_value value = wanted;
    const auto set = orc::set_parameter(participant, in, prefix + "/gain", std::chrono::milliseconds(500), value);
    say_outcome(set && value != orc::parameter_value(wanted) ? -1 : static_cast<int>(set.code()), begun, number,
                set.error().message());
  });
}

int hold(orc::participant& participant, const std::string& name) {
  const auto future = participant.call(name, bytes_of({.order = call_order::hold}), ample);
  say("called");
  wait_for_end_of_input();
  return 0;
}

int serve_norm(orc::participant& participant, const std::string& name) {
  const auto service = participant.serve<call_peer::position, call_peer::distance>(
      name, [](const call_peer::position& from, orc::call_context&) { return call_peer::distance{from.x + from.y}; });
  if (!service.result()) return 1;
  say("ready");
  wait_for_end_of_input();
  return 0;
}

std::string to_hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  for (const std::byte each : bytes) {
    hex += digits[std::to_integer<unsigned>(each) >> 4U];
    hex += digits[std::to_integer<unsigned>(each) & 15U];
  }
  return hex.empty() ? "-" : hex;
}

std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t at = 0; at + 1 < hex.size(); at += 2)
    bytes.push_back(static_cast<std::byte>(std::stoul(hex.substr(at, 2), nullptr, 16)));
  return bytes;
}

int ask(orc::participant& participant, const std::string& name) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    const auto got = participant.call(name, from_hex(line), ample).get();
    const orc::call_error& error = got.error();
    const std::string said = to_hex(got ? *got : std::as_bytes(std::span(error.text)));
    std::printf("%d %d %s %s\n", static_cast<int>(error.code), error.number,
                error.exception_type.empty() ? "-" : error.exception_type.c_str(), said.c_str());
    std::fflush(stdout);
  }
  return 0;
}

int measure(orc::participant& participant, const std::string& name) {
  say("ready");
  for (std::string line; std::getline(std::cin, line);) {
    const call_peer::position request{std::stod(line), 1};
    const auto got = participant.call<call_peer::distance>(name, request, ample).get();
    say(got ? std::to_string(got->meters).c_str() : got.error().message().c_str());
  }
  return 0;
}

std::string text_of(const orc::call_payload& payload) {
  return payload.is_json ? "json:" + payload.bytes : to_hex(std::as_bytes(std::span(payload.bytes)));
}

int listen(orc::participant& participant, const std::string& name) {
  const std::string topic = orc::call_record_topic(name);
  if (!participant.request_topic(topic, {.conflate = 0, .depth = 1000}).result()) return 1;
  say("ready");
  for (;;) {
    const orc::message sample = participant.recv_msg(topic, -1);
    orc::call_record record;
    if (!sample || !orc::read_call_record(sample.bytes(), record)) return 1;
    std::string line =
        record.client.name + " " + std::to_string(record.id) + " " + std::string(to_string(record.error.code));
    if (record.error.number != 0) line += " " + std::to_string(record.error.number);
    for (const std::string& each : {record.error.exception_type, record.error.text}) {
      if (!each.empty()) line += " " + each;
    }
    say((line + " " + text_of(record.request) + " " + (record.reply ? text_of(*record.reply) : "-")).c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::string role = argv[1];
  orc::participant_options options{.broker = argv[2], .name = role, .transports = transports(argv[4])};
  if (role == "serve") options.broker_timeout = ample;  // it may start before its broker does
  orc::participant participant(options);
  if (role == "serve") return serve(participant, argv[3], argc > 5 ? argv[5] : nullptr);
  if (role == "record") return serve(participant, argv[3], nullptr, true);
  if (role == "listen") return listen(participant, argv[3]);
  if (role == "call") return call(participant, argv[3]);
  if (role == "pace") return pace(participant, argv[3], argc > 5 ? argv[5] : nullptr);
  if (role == "tune") return tune(participant, argv[2], argv[3]);
  if (role == "hold") return hold(participant, argv[3]);
  if (role == "norm") return serve_norm(participant, argv[3]);
  if (role == "ask") return ask(participant, argv[3]);
  if (role == "measure") return measure(participant, argv[3]);
  return 2;
}
