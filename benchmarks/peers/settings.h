// What the harness tells a peer's program, and what its files share: arguments, a place where writers name their
// endpoint, the clock.
#pragma once

#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>

namespace peers {

using bytes = std::span<const std::byte>;

inline constexpr int connect_within_ms = 20'000;
inline constexpr int look_ms = 100;  // how long a receive waits before it looks whether the trial is over

struct settings {
  std::string role;
  std::string transport;  // a word of the peer, such as "ipc"
  std::string in;         // topic that is read; empty: none
  std::string out;        // topic that is written; empty: none
  std::string directory;  // of the trial, for sockets and other files
  std::size_t size = 0;   // of every sample, in bytes
  double seconds = 0;     // of the measured part
  double hz = 0;          // publisher: samples a second
  std::size_t queue = 0;  // 0: what the peer does best, 1: only the newest sample, else a queue of this length
  bool spin = false;      // readers poll instead of sleeping
};

// Arguments are NAME=VALUE. Throws std::runtime_error for an unknown name.
inline settings settings_of(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (name == "role")
      s.role = value;
    else if (name == "transport")
      s.transport = value;
    else if (name == "in")
      s.in = value;
    else if (name == "out")
      s.out = value;
    else if (name == "directory")
      s.directory = value;
    else if (name == "size")
      s.size = std::stoul(value);
    else if (name == "seconds")
      s.seconds = std::stod(value);
    else if (name == "hz")
      s.hz = std::stod(value);
    else if (name == "queue")
      s.queue = std::stoul(value);
    else if (name == "spin")
      s.spin = value == "1";
    else
      throw std::runtime_error("unknown argument " + text);
  }
  return s;
}

inline std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec t{};
  ::clock_gettime(clock, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// The same clock in every process of a host.
inline std::int64_t now_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }

inline void sleep_until_ns(std::int64_t when) noexcept {
  const timespec t{when / 1'000'000'000, when % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, nullptr) == EINTR) {
  }
}

// Writers whose endpoint the system chooses leave it for the readers of their topic.
inline void announce(const settings& s, const std::string& topic, const std::string& endpoint) {
  const std::string path = s.directory + "/" + topic + ".endpoint";
  std::ofstream(path + ".new") << endpoint << std::flush;
  if (std::rename((path + ".new").c_str(), path.c_str()) != 0) throw std::runtime_error("cannot write " + path);
}

// Waits for the writer's endpoint. Throws std::runtime_error after connect_within_ms.
inline std::string announced(const settings& s, const std::string& topic) {
  const std::int64_t deadline = now_ns() + connect_within_ms * std::int64_t{1'000'000};
  for (;;) {
    std::ifstream file(s.directory + "/" + topic + ".endpoint");
    std::string endpoint;
    if (std::getline(file, endpoint)) return endpoint;
    if (now_ns() > deadline) throw std::runtime_error("nobody writes " + topic);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace peers
