// A program that sends, receives or echoes messages on one channel: the same on liblcm (lcm_peer.cpp) and on ORC
// (orc_peer.cpp); lcm_peer.py is its twin for Python.
//
//   send URL CHANNEL LIFE SIZE COUNT HZ   messages 1, 2, 3… of told_samples.h; COUNT 0: until the end of its input,
//                                         HZ 0: without a pause. Then "sent N", and stays. CHANNEL may be a list, A,B:
//                                         each message goes out on all of them, on B as of LIFE + 1
//   receive URL CHANNEL                   every message in order; ORC keeps the last 1000
//   newest URL CHANNEL                    with ORC the newest message; with LCM, which has no such thing, as receive
//   hold URL CHANNEL                      as newest, but reads nothing until it is sent a line
//   echo URL CHANNEL REPLY                sends back what comes
//
// All but send say "ready" when they are subscribed, and those that receive a line for each message:
//   CHANNEL SIZE CRC32 LIFE NUMBER right|WRONG      WRONG: a byte is not as the sender made it
// Every one ends at the end of its input.
#pragma once

#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "interop/crc32.h"
#include "support/told_samples.h"

namespace orc::test {

[[nodiscard]] inline bool has_input(int timeout_ms) {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  return ::poll(&in, 1, timeout_ms) == 1;
}

[[nodiscard]] inline bool at_end_of_input(int timeout_ms = 0) {
  char ignored[64];
  return has_input(timeout_ms) && ::read(STDIN_FILENO, ignored, sizeof ignored) <= 0;
}

inline void say(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

inline void report(const std::string& channel, const void* data, std::size_t size) {
  told content;
  const bool right = told::read(data, size, content);
  std::printf("%s %zu %08x %u %u %s\n", channel.c_str(), size, crc32(data, size), content.life, content.number,
              right ? "right" : "WRONG");
  std::fflush(stdout);
}

// An end sends: bool publish(data, size), on the channel that it was made for.
template <class End>
int send_all(std::vector<std::unique_ptr<End>>& ends, const std::vector<std::string>& words) {
  const auto life = static_cast<std::uint32_t>(std::stoul(words.at(3)));
  std::vector<unsigned char> content(std::stoul(words.at(4)));
  const unsigned long count = std::stoul(words.at(5));
  const double hz = std::stod(words.at(6));
  const auto period = std::chrono::nanoseconds(hz > 0 ? static_cast<std::int64_t>(1e9 / hz) : 0);
  auto next = std::chrono::steady_clock::now();
  unsigned long sent = 0;
  while ((count == 0 || sent < count) && !at_end_of_input()) {
    ++sent;
    for (std::uint32_t i = 0; i < ends.size(); ++i) {
      told{life + i, static_cast<std::uint32_t>(sent)}.write(content.data(), content.size());
      if (!ends[i]->publish(content.data(), content.size())) return 1;
    }
    next += period;
    std::this_thread::sleep_until(next);
  }
  say("sent " + std::to_string(sent));
  while (!at_end_of_input(1000)) {
  }
  return 0;
}

// An end receives: bool take(timeout_ms, use), which calls use(channel, data, size) for a message that came within that
// time, and returns false when there will be none any more.
template <class End, class Use>
int receive_all(End& end, bool hold, Use use) {
  say("ready");
  while (hold && !has_input(1000)) {
  }
  while (!at_end_of_input()) {
    if (!end.take(100, use)) return 1;
  }
  return 0;
}

enum class mode { send, receive, newest };

// One participant; an end is made from it, a channel and a mode.
template <class End, class Participant>
int run_peer(const std::vector<std::string>& words, Participant& participant) {
  const std::string& verb = words.at(0);
  if (verb == "send") {
    std::vector<std::unique_ptr<End>> ends;
    std::istringstream channels(words.at(2));
    for (std::string each; std::getline(channels, each, ',');)
      ends.push_back(std::make_unique<End>(participant, each, mode::send));
    return send_all(ends, words);
  }
  End in(participant, words.at(2), verb == "receive" || verb == "echo" ? mode::receive : mode::newest);
  if (verb != "echo") return receive_all(in, verb == "hold", report);
  End out(participant, words.at(3), mode::send);
  return receive_all(in, false,
                     [&](const std::string&, const void* data, std::size_t size) { (void)out.publish(data, size); });
}

}  // namespace orc::test
