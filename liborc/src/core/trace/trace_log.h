// The file of a trace while it is written.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/expected.h"
#include "base/files/growing_file.h"
#include "base/threads/doorbell.h"
#include "base/threads/pi_mutex.h"
#include "wire/trace_format.h"

namespace orc::detail {

// Any thread may add events, without a lock and without a system call: an event is a copy and two atomic steps. The
// first step takes the place: it changes the word at the end of the log from 0 to the event's length. So the file
// always tells where each event ends, also when its writer was killed. The second step says that the event is complete.
//
// A thread of the log makes room ahead of the writers. A writer that outruns it, with a sample of many megabytes, makes
// room itself. When there is none (full disk), the log stops for good and adding does nothing.
class trace_log {
 public:
  // Called once, on the log's thread, with the reason in one sentence.
  using stop_callback = std::function<void(const std::string&)>;

  // Fails when the file exists, or cannot be made or written.
  [[nodiscard]] static expected<std::unique_ptr<trace_log>> create(const std::string& path, stop_callback on_stop);
  ~trace_log() { rest(); }

  // Starts and ends the thread. Without it, each writer makes room itself. One thread at a time.
  void work();
  void rest() noexcept;

  // An event with its place, to be completed later; empty: the log has stopped.
  class place {
   public:
    explicit operator bool() const noexcept { return at_ != nullptr; }

   private:
    friend class trace_log;
    std::byte* at_ = nullptr;
    std::uint64_t length_ = 0;
  };
  // Takes a place and copies everything to it. head.size, text_bytes and word are set here.
  [[nodiscard]] place begin(wire::trace_head head, std::span<const std::byte> bytes, std::string_view text) noexcept;
  void set_status(const place& where, std::uint8_t status) noexcept;
  void complete(const place& where) noexcept;
  // begin() and complete().
  void add(const wire::trace_head& head, std::span<const std::byte> bytes = {}, std::string_view text = {}) noexcept {
    if (const place where = begin(head, bytes, text)) complete(where);
  }

  [[nodiscard]] bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  // Bytes written so far.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_.load(std::memory_order_relaxed); }

 private:
  trace_log(std::unique_ptr<growing_file> file, std::string path, stop_callback on_stop);
  void write_start() noexcept;
  [[nodiscard]] bool make_room(std::uint64_t until) noexcept;
  void stop(int why) noexcept;
  void report() noexcept;
  void run() noexcept;

  const std::unique_ptr<growing_file> file_;
  const std::string path_;
  const stop_callback on_stop_;
  std::atomic<std::uint64_t> end_{wire::trace_page};  // of the last event, or a little before
  std::atomic<std::uint64_t> call_at_{0};             // the writer that passes this wakes the thread
  std::atomic<int> why_{0};                           // errno
  std::atomic<bool> stopped_{false};
  pi_mutex growing_;
  doorbell bell_;
  std::atomic<bool> resting_{true};
  bool reported_ = false;  // belongs to the thread
  std::thread thread_;
};

}  // namespace orc::detail
