// The transports that must keep ORC's contract (contract.md). Every TEMPLATE_TEST_CASE of this directory runs over
// each one in ORC_TEST_TRANSPORTS; to add one: a struct, its name in the list. (A test file uses namespace orc::test.)
#pragma once

#include <cstddef>

#include "orc/options.h"

namespace orc::test {

struct inproc {
  static constexpr transport kind = transport::inproc;
  static constexpr bool crosses_processes = false;
  static constexpr bool carries_stamps = true;
  static constexpr std::size_t max_sample_bytes = 100'000'000;
};

struct shm {
  static constexpr transport kind = transport::shm;
  static constexpr bool crosses_processes = true;
  static constexpr bool carries_stamps = true;
  static constexpr std::size_t max_sample_bytes = 100'000'000;
};

struct ipc {
  static constexpr transport kind = transport::ipc;
  static constexpr bool crosses_processes = true;
  static constexpr bool carries_stamps = true;
  static constexpr std::size_t max_sample_bytes = 10'000'000;  // what the tests send, not a limit of ORC
};

struct tcp {
  static constexpr transport kind = transport::tcp;
  static constexpr bool crosses_processes = true;
  static constexpr bool carries_stamps = true;
  static constexpr std::size_t max_sample_bytes = 10'000'000;
};

struct multicast {
  static constexpr transport kind = transport::multicast;
  static constexpr bool crosses_processes = true;
  static constexpr bool carries_stamps = false;  // LCM's format has no room: the stamp is the arrival's
  static constexpr std::size_t max_sample_bytes = 10'000'000;
};

}  // namespace orc::test

#define ORC_TEST_TRANSPORTS inproc, shm, ipc, tcp, multicast
