// A server and a client of untyped calls for the tests of services.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "orc/calls.h"
#include "support/budget.h"

namespace orc::test {

using namespace std::chrono_literals;

// Longer than any test waits for a call that must succeed.
inline constexpr std::chrono::nanoseconds ample = patience;

// What a handler of call_server does with a request.
enum class call_order : std::uint32_t {
  echo,           // returns the request
  throw_error,    // throws std::out_of_range
  fail,           // fail(argument, "as ordered")
  hold,           // waits until the call is cancelled, then fails
  hold_anyway,    // waits until release() is called
  work,           // takes `argument` ms, then echoes
  count_up,       // sends the numbers below argument as feedback, then echoes
  exit_at_once,   // _exit
  exit_normally,  // exit
  fork_child      // forks; the child's calls all fail, and it returns from the handler too
};

struct call_request {
  call_order order = call_order::echo;
  std::uint32_t argument = 0;
  std::uint64_t number = 0;
};

[[nodiscard]] inline std::span<const std::byte> bytes_of(const call_request& request) {
  return std::as_bytes(std::span(&request, 1));
}

template <class T>
[[nodiscard]] std::vector<std::byte> to_bytes(const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return {bytes.begin(), bytes.end()};
}

template <class T>
[[nodiscard]] T from_bytes(std::span<const std::byte> bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), std::min(sizeof value, bytes.size()));
  return value;
}

// What a call_server's handler counts, and its way out of `hold_anyway`.
struct call_counts {
  std::atomic<int> started{0};
  std::atomic<int> ended{0};
  std::atomic<int> cancelled{0};
  std::atomic<bool> released{false};
};

[[nodiscard]] std::vector<std::byte> obey(std::span<const std::byte> request, call_context& context,
                                          call_counts& counts);

// A handler that obeys.
[[nodiscard]] inline auto obeying(call_counts& counts) {
  return
      [&counts](std::span<const std::byte> request, call_context& context) { return obey(request, context, counts); };
}

}  // namespace orc::test
