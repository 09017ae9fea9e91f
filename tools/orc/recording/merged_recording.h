// Several recordings as one, merged by time: several robots, or the splits of one run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "orc/recording/reader.h"
#include "tools/orc/recording/topic_filter.h"

namespace orc::cli {

struct merged_channel {
  std::size_t file = 0;
  recording::channel_id id = 0;  // in that file
  recording::channel what;
};

struct merged_sample {
  std::size_t channel = 0;  // index of merged_recording::channels()
  recording::sample what;
};

// Reads the samples of all files in the order of received_ns; equal times in the order of the files. A split begins
// with the last sample of each topic (line_of), which the split before it has too: such a sample comes once. A thread
// at a time.
class merged_recording {
 public:
  // The error names the file.
  static result open(const std::vector<std::string>& paths, std::unique_ptr<merged_recording>& made);

  // Grows while a file is read that has channels which its index omits. References stay valid until then.
  [[nodiscard]] const std::vector<merged_channel>& channels() const noexcept { return channels_; }
  [[nodiscard]] std::size_t files() const noexcept { return files_.size(); }
  [[nodiscard]] const std::string& path(std::size_t file) const { return files_[file].path; }
  [[nodiscard]] recording::reader& reader(std::size_t file) { return *files_[file].reader; }

  // Of all files, whatever is selected; both 0 when they hold no sample.
  [[nodiscard]] std::int64_t first_ns() const noexcept { return first_ns_; }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }
  [[nodiscard]] std::uint64_t samples() const noexcept;

  // Reads these topics only from now on.
  void select(const topic_filter& topics);
  // next() returns the first sample at or after this time.
  result seek(std::int64_t received_ns);
  // The next sample; its data lives until the next call. Errors as reader::next(), with the name of the file.
  result next(merged_sample& found);
  // Of each selected topic, and of each publication of a shared one, the newest sample at or before this time, in the
  // order of their times. Calls `with` for each. Ends with the first error. Does not move next().
  template <class Function>
  result each_last_before(std::int64_t received_ns, const Function& with) {
    std::vector<last_sample> all;
    if (auto found = last_before(received_ns, all); !found) return found;
    for (const last_sample& each : all) with(each.sample);
    return {};
  }

 private:
  struct open_file {
    std::string path;
    std::unique_ptr<recording::reader> reader;
    std::vector<std::size_t> merged;  // by channel of the file
    std::vector<bool> selected;       // the same
    recording::sample pending;
    bool is_pending = false;
    bool at_end = false;
  };
  // To recognise the sample that a split repeats.
  struct last_read {
    std::size_t file = 0;
    std::uint64_t sequence = 0;
    std::int64_t stamp_ns = 0;
    std::size_t size = 0;
    bool any = false;
  };
  struct last_sample {
    merged_sample sample;
    std::vector<std::byte> data;
  };

  merged_recording() = default;
  void take_over_channels(std::size_t file);
  [[nodiscard]] std::size_t line_number(const std::string& line);
  result fill(std::size_t file);
  [[nodiscard]] bool is_repeated(std::size_t channel, const recording::sample& sample);
  result last_before(std::int64_t received_ns, std::vector<last_sample>& found);
  [[nodiscard]] result in_file(const open_file& file, const result& failure) const;

  std::vector<open_file> files_;
  std::vector<merged_channel> channels_;
  std::vector<std::size_t> line_of_;  // by channel
  std::map<std::string, std::size_t> lines_;
  std::vector<last_read> last_;  // by line
  topic_filter selected_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
};

}  // namespace orc::cli
