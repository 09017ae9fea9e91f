// The files of one recording: names, splits, and what stands in them beside the samples.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "orc/recording/writer.h"
#include "orc/result.h"
#include "tools/orc/record/record_buffer.h"
#include "tools/orc/record/record_options.h"

namespace orc::cli {

// What the status line shows; any thread reads it.
struct record_progress {
  std::atomic<std::uint64_t> bytes{0};    // in all files, also deleted ones
  std::atomic<std::uint64_t> samples{0};  // written
  std::atomic<std::uint64_t> refused{0};  // samples that the format cannot hold
  std::atomic<std::uint64_t> files{0};
};

// Each file starts with the last sample of every topic, of a shared one with that of every publisher, so it stands
// alone. One thread at a time.
class record_files {
 public:
  // `note` gets sentences for people.
  record_files(const record_options& options, record_progress& progress, std::function<void(const std::string&)> note);

  // Creates the first file. `path`: its name, for a recording without splits.
  // - bad_argument: it exists; no_permission, system_error.
  [[nodiscard]] result open(const std::string& path);
  // Writes a sample, or sets it aside until its type is known; goes on in a new file where --split wants one. A sample
  // that the format cannot hold is counted as lost.
  [[nodiscard]] result write(record_sample&& sample);
  // Writes the sample that a topic had before the recording begins, with this receive time.
  [[nodiscard]] result write_earlier(record_sample&& sample, std::int64_t received_ns);
  // Adds losses to those that the file will name.
  void lost(const record_losses& dropped, const record_losses& missed);
  // Call it at least once a second: writes what waits, the losses so far, and splits by time.
  [[nodiscard]] result tick(record_moment now);
  // Completes the file as far as the disk allows. A file that got no sample because the disk was full is removed.
  [[nodiscard]] result close();

  // The disk was full.
  [[nodiscard]] bool is_full() const noexcept { return full_; }
  // Of the current file.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  // One source, as the current file knows it.
  struct known_source {
    std::shared_ptr<record_source> source;
    std::uint32_t version = 0;  // that the channel was made of
    unsigned file = 0;          // that has the channel; 0: none
    recording::channel_id channel = 0;
    std::shared_ptr<record_sample> last;      // in last_, unless that was forgotten
    std::vector<record_sample> waiting = {};  // for its type
    std::int64_t patient_until_ns = 0;        // CLOCK_MONOTONIC; 0: it has no sample yet
  };
  // Samples that the format cannot hold.
  struct refusal {
    record_loss loss;
    std::string reason;
  };

  [[nodiscard]] result create(std::int64_t steady_ns);
  [[nodiscard]] result next_file(record_moment now);
  [[nodiscard]] result close_file();
  void remove_if_empty();
  void forget_ended(std::int64_t steady_ns);
  [[nodiscard]] result repeat_last_samples(std::int64_t now_ns);
  [[nodiscard]] bool waits(const known_source& from) const;
  [[nodiscard]] result set_aside(record_sample&& sample, known_source& from);
  [[nodiscard]] result write_waiting(bool all);
  [[nodiscard]] result write_now(record_sample&& sample);
  [[nodiscard]] result append(record_sample& sample, known_source& from, std::int64_t received_ns);
  [[nodiscard]] result channel_of(known_source& from);
  [[nodiscard]] known_source& known(const std::shared_ptr<record_source>& source);
  [[nodiscard]] bool is_due(std::int64_t steady_ns) const;
  [[nodiscard]] result write_losses();
  // Counts a sample that was refused; other failures stay.
  [[nodiscard]] result settle(result appended, const record_sample& sample);
  [[nodiscard]] result failed(result why);
  void delete_oldest();
  void count_bytes();

  const record_options& options_;
  record_progress& progress_;
  const std::function<void(const std::string&)> note_;
  std::string base_;       // before _0000.mcap
  std::string extension_;  // ".mcap"
  std::string path_;
  std::unique_ptr<recording::writer> writer_;
  unsigned file_ = 0;               // number of the current one, from 1
  std::int64_t begun_ns_ = 0;       // CLOCK_MONOTONIC
  std::size_t channels_ = 0;        // in the current one
  std::uint64_t bytes_before_ = 0;  // in earlier files
  std::uint64_t counted_ = 0;       // of progress_.bytes
  std::uint64_t start_bytes_ = 0;   // that the current file began with
  bool full_ = false;
  struct finished_file {
    std::string path;
    std::uint64_t bytes;
  };
  std::deque<finished_file> finished_;  // that are there
  std::uint64_t finished_bytes_ = 0;
  std::unordered_map<const record_source*, known_source> sources_;
  std::vector<known_source*> waiting_;  // have samples that wait
  std::size_t waiting_bytes_ = 0;
  std::map<std::string, std::shared_ptr<record_sample>> last_;  // by record_source::line
  record_losses dropped_;                                       // not in the file yet
  record_losses missed_;
  std::map<std::string, refusal> refused_;  // by topic; not in the file yet
  std::set<std::string> noted_;             // topics of which a refusal was said
};

// "run", 3, ".mcap": "run_0003.mcap".
[[nodiscard]] std::string split_name(const std::string& base, unsigned index, const std::string& extension);

}  // namespace orc::cli
