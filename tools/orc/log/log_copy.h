// What `orc log cut`, `merge` and `convert` have in common: they copy samples into a new recording.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/process/stop_signal.h"
#include "tools/orc/console.h"
#include "tools/orc/log/new_recording.h"
#include "tools/orc/log/recording_part.h"

namespace orc::cli {

struct log_copy_options {
  std::vector<std::string> files;
  new_recording_options output;
  recording_part part;
  std::vector<std::string> lcm_types;
  bool skip_broken = false;  // goes on behind what cannot be read, and behind what the new file cannot have
};

class log_copy {
 public:
  explicit log_copy(const log_copy_options& options) : options_(options) {}

  // Returns the exit code.
  int run();

 private:
  int open();
  int copy();
  int finish();
  result copy_last_values();
  int stop(const result& why);
  [[nodiscard]] log_format format() const;
  int fail(const result& why, int code);

  const log_copy_options& options_;
  console out_;
  const detail::stop_signal stop_;
  std::unique_ptr<merged_recording> from_;
  std::unique_ptr<new_recording> to_;
  lcm_decoders types_;
  recording_span span_;
  recording::losses lost_;
};

}  // namespace orc::cli
