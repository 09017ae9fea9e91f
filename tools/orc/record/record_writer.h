// The writing thread of `orc record`.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "tools/orc/record/record_buffer.h"
#include "tools/orc/record/record_files.h"
#include "tools/orc/record/record_options.h"

namespace orc::cli {

// Empties the buffer into files, or, in a black box, writes what it holds when asked.
class record_writer {
 public:
  // Both are called on the writing thread: `on_end` when it ends by itself, `note` with sentences for people.
  record_writer(const record_options& options, record_buffer& from, std::function<void()> on_end,
                std::function<void(const std::string&)> note);
  ~record_writer() { join(); }
  record_writer(const record_writer&) = delete;
  record_writer& operator=(const record_writer&) = delete;

  // Creates the file and starts the thread. A black box creates none yet.
  [[nodiscard]] result start(const std::string& path);
  // Waits until everything is written. The buffer must have ended.
  void join();

  // Black box: writes what the buffer holds to a file of its own. `done` gets what happened, one sentence, on the
  // writing thread.
  void trigger(std::function<void(bool ok, const std::string&)> done);

  [[nodiscard]] const record_progress& progress() const noexcept { return progress_; }
  // After the thread has ended, or start() failed.
  [[nodiscard]] const result& status() const noexcept { return status_; }
  [[nodiscard]] bool disk_was_full() const noexcept { return full_; }
  [[nodiscard]] const std::string& path() const noexcept { return files_.path(); }

 private:
  void run();
  void run_black_box();
  void write_out(const std::function<void(bool, const std::string&)>& done);
  [[nodiscard]] result write_snapshot(record_files& to, const std::string& path);
  [[nodiscard]] result write(record_block& block);

  const record_options& options_;
  record_buffer& from_;
  const std::function<void()> on_end_;
  const std::function<void(const std::string&)> note_;
  record_progress progress_;
  record_files files_;
  std::string base_path_;
  std::mutex mutex_;
  std::condition_variable asked_;
  std::deque<std::function<void(bool, const std::string&)>> triggers_;  // guarded by mutex_
  bool stop_ = false;                                                   // guarded by mutex_
  result status_;
  bool full_ = false;
  std::thread thread_;
};

}  // namespace orc::cli
