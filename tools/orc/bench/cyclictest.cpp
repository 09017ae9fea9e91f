#include "tools/orc/bench/cyclictest.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "tools/support/cpu.h"

namespace orc::cli {

namespace {

constexpr std::int64_t period_us = 1'000;
constexpr int longest_us = 100'000;  // of the histogram; what is later counts as this
constexpr std::size_t max_output = 16 << 20;
constexpr std::int64_t max_times = 10'000'000;

}  // namespace

bool has_cyclictest() {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string directory; std::getline(path, directory, ':');)
    if (::access((directory + "/cyclictest").c_str(), X_OK) == 0) return true;
  return false;
}

detail::expected<wake_ups> run_cyclictest(double seconds, int priority, int cpu) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return detail::unable("no pipe for cyclictest");
  const detail::unique_fd from(ends[0]);
  detail::unique_fd to(ends[1]);
  std::vector<std::string> words{"cyclictest",
                                 "--quiet",
                                 "--threads=1",
                                 "--interval=" + std::to_string(period_us),
                                 "--loops=" + std::to_string(static_cast<long>(seconds * 1000)),
                                 "--histogram=" + std::to_string(longest_us),
                                 "--priority=" + std::to_string(priority)};
  if (cpu != bench::no_cpu) words.push_back("--affinity=" + std::to_string(cpu));
  auto program = detail::child_process::start(words, {}, {.input = -1, .output = to.get(), .errors = -1});
  to.reset();
  std::string output;
  std::array<char, 4096> bytes{};
  for (ssize_t n = 0; output.size() < max_output && (n = ::read(from.get(), bytes.data(), bytes.size())) > 0;)
    output.append(bytes.data(), static_cast<std::size_t>(n));
  (void)program.wait(std::chrono::seconds(1));
  auto found = parse_cyclictest(output);
  if (!found) return detail::unable("cyclictest did not print what it measured");
  return *std::move(found);
}

// Lines "000123 000004": so many µs late, so often. Behind them "# Max Latencies: 00123" and "# Histogram Overflows:
// 00004", how many were too late for a line.
std::optional<wake_ups> parse_cyclictest(const std::string& output) {
  std::vector<std::int64_t> late_ns;
  std::int64_t longest = 0;
  const auto after = [](const std::string& line, const char* name, std::int64_t most) -> std::int64_t {
    if (!line.starts_with(name)) return 0;
    std::int64_t number = 0;
    std::istringstream rest(line.substr(line.find(':') + 1));
    return rest >> number && number >= 0 && number <= most ? number : 0;
  };
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    std::int64_t us = 0;
    std::int64_t times = 0;
    if (numbers >> us >> times && us >= 0 && times > 0 && times <= max_times)
      late_ns.insert(late_ns.end(), static_cast<std::size_t>(times), us * 1000);
    longest = std::max(longest, after(line, "# Max Latencies:", 1'000'000'000));
    const auto more = after(line, "# Histogram Overflows:", max_times);
    late_ns.insert(late_ns.end(), static_cast<std::size_t>(more), longest * 1000);
    if (late_ns.size() > static_cast<std::size_t>(max_times)) return std::nullopt;
  }
  if (late_ns.empty()) return std::nullopt;
  const auto missed = std::count_if(late_ns.begin(), late_ns.end(), [](auto ns) { return ns > period_us * 1000; });
  return wake_ups{bench::summarize(late_ns), static_cast<std::uint64_t>(missed)};
}

}  // namespace orc::cli
