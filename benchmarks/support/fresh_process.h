// Measurements in a process of their own: what earlier ones did to the memory of a process must not change them.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "tools/support/interrupt.h"

namespace orc::bench {

// Returns what measure() returns in a copy of this process, a std::vector<T>. Empty: interrupted. Throws when it fails.
// Call it only while this process has no other thread.
template <class T, class Measure>
[[nodiscard]] std::vector<T> in_fresh_process(Measure measure) {
  auto ends = channel::make();
  const auto fresh = detail::child_process::run([&] {
    ends.first.close();
    try {
      return ends.second.put(std::vector<T>(measure())) ? 0 : 1;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
  });
  ends.second.close();
  auto measured = ends.first.get_list<T>();
  if (interrupted()) return {};
  if (!measured) throw std::runtime_error("a measurement failed");
  return *std::move(measured);
}

}  // namespace orc::bench
