// The rows of a matrix of outages, each in a lab of its own with hosts for a broker and two programs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "network/lab.h"
#include "support/budget.h"

namespace orc::test {

// Makes row.hosts for each and calls run(row): for all at the same time, in the long run for four. They begin apart,
// because on one machine they should not all be back at the same moment. False, with the reason: there are no labs.
template <class Row, class Run>
[[nodiscard]] bool run_rows(std::deque<Row>& rows, std::string& why, std::chrono::milliseconds apart, Run run) {
  for (auto& each : rows) {
    each.hosts = lab::make(3, why);
    if (!each.hosts) return false;
  }
  const std::size_t at_once = long_run() ? std::min<std::size_t>(4, rows.size()) : rows.size();
  std::atomic<std::size_t> next = 0;
  std::vector<std::thread> runs;
  for (std::size_t i = 0; i < at_once; ++i) {
    runs.emplace_back([&] {
      for (std::size_t mine = next++; mine < rows.size(); mine = next++) run(rows[mine]);
    });
    std::this_thread::sleep_for(apart);
  }
  for (auto& each : runs) each.join();
  return true;
}

}  // namespace orc::test
