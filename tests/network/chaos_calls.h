// A client of `orc_test_call_peer pace` or `tune`: what became of its calls.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "network/lab.h"
#include "support/wait_until.h"

namespace orc::test {

[[nodiscard]] inline long monotonic_ms() {
  return static_cast<long>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
}

class chaos_calls {
 public:
  // `words` start the client; the numbers of its calls begin with `first`.
  chaos_calls(std::string name, const lab_host& on, std::vector<std::string> words, std::uint64_t first)
      : name_(std::move(name)), first_(first), process_([&] {
          auto line = on.here();
          line.insert(line.end(), words.begin(), words.end());
          return line;
        }()) {
    if (process_.read_line() != "ready") throw std::runtime_error(name_ + " did not start");
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const child_process& process() const { return process_; }

  // Reads until a call has ended that began at `until` or later. Returns what is wrong with those that began after
  // `begun`: one failed, or none ended.
  [[nodiscard]] std::string failures(long begun, long until) {
    int failed = 0;
    outcome last;
    for (;;) {
      const auto line = process_.read_line(std::chrono::seconds(under_sanitizer ? 15 : 5));
      const auto ended = line ? take(*line) : std::nullopt;
      if (!ended) return name_ + ": no call ends";
      if (ended->begun < begun) continue;
      if (ended->code != 0) {
        ++failed;
        last = *ended;
      }
      if (ended->begun >= until) break;
    }
    if (failed == 0) return {};
    return name_ + ": " + std::to_string(failed) + " calls failed, the last one after " +
           std::to_string(last.begun - begun) + " ms with code " + std::to_string(last.code) + ": " + last.text;
  }

  // Ends the client. Returns what is wrong: a call that did not end, or ended twice.
  [[nodiscard]] std::string end() {
    process_.close_input();
    while (const auto line = process_.read_line()) (void)take(*line);
    if (!made_) return name_ + ": it did not end";
    for (std::uint64_t number = first_; number < first_ + *made_; ++number) {
      const auto found = times_ended_.find(number);
      const int times = found == times_ended_.end() ? 0 : found->second;
      if (times != 1) return name_ + ": call " + std::to_string(number) + " ended " + std::to_string(times) + " times";
    }
    return {};
  }

  [[nodiscard]] const std::set<std::uint64_t>& succeeded() const { return succeeded_; }
  [[nodiscard]] std::size_t ended() const { return times_ended_.size(); }

 private:
  struct outcome {
    int code = 0;
    long begun = 0;
    long ended = 0;
    std::uint64_t number = 0;
    std::string text;
  };
  std::optional<outcome> take(const std::string& line) {
    if (line.starts_with("made ")) made_ = std::stoull(line.substr(5));
    outcome one;
    std::istringstream words(line);
    if (!(words >> one.code >> one.begun >> one.ended >> one.number)) return std::nullopt;
    std::getline(words, one.text);
    ++times_ended_[one.number];
    if (one.code == 0) succeeded_.insert(one.number);
    return one;
  }

  std::string name_;
  std::uint64_t first_;
  child_process process_;
  std::optional<std::uint64_t> made_;
  std::map<std::uint64_t, int> times_ended_;
  std::set<std::uint64_t> succeeded_;
};

// The numbers of the calls that servers executed, in a file that they append to.
class execution_log {
 public:
  execution_log() : path_("/tmp/orc-chaos-" + std::to_string(::getpid())) { ::unlink(path_.c_str()); }
  ~execution_log() { ::unlink(path_.c_str()); }
  execution_log(const execution_log&) = delete;
  execution_log& operator=(const execution_log&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::multiset<std::uint64_t> read() const {
    std::multiset<std::uint64_t> numbers;
    std::ifstream file(path_);
    for (std::uint64_t number = 0; file >> number;) numbers.insert(number);
    return numbers;
  }

 private:
  std::string path_;
};

}  // namespace orc::test
