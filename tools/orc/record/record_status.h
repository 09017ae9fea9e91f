// What `orc record` shows while it records, and at its end.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

#include "tools/orc/console.h"
#include "tools/orc/record/record_buffer.h"
#include "tools/orc/record/record_files.h"
#include "tools/orc/record/record_options.h"

namespace orc::cli {

// One line of text that replaces itself on a terminal. Any thread may print notes; one thread calls the rest.
class record_status {
 public:
  using clock = std::chrono::steady_clock;

  explicit record_status(const record_options& options) : options_(options) {}

  // Draws the line when it is due. Nothing unless stderr is a terminal.
  void show(const record_buffer& buffer, const record_progress& progress, std::size_t topics);
  // Removes the line for good.
  void end();
  // Prints "orc: text" in place of the line.
  void note(console& out, const std::string& text);
  [[nodiscard]] clock::time_point due() const noexcept { return due_; }

  // "42.0 s, 1.2 GB, 2,100,000 samples of 30 topics, lost 0"; of a black box: "42.0 s, kept 30 topics, wrote 2
  // files: 1.2 MB, 5,300 samples, lost 0"
  [[nodiscard]] std::string summary(const record_buffer& buffer, const record_progress& progress,
                                    std::size_t topics) const;

 private:
  void clear();
  [[nodiscard]] std::string line(const record_buffer& buffer, const record_progress& progress, std::size_t topics);

  const record_options& options_;
  const clock::time_point begun_ = clock::now();
  clock::time_point due_ = begun_;
  clock::time_point measured_at_ = begun_;
  std::uint64_t bytes_ = 0;
  std::uint64_t samples_ = 0;
  std::mutex mutex_;  // of the terminal
  bool drawn_ = false;
};

// "1,234,567"
[[nodiscard]] std::string grouped(std::uint64_t number);

}  // namespace orc::cli
