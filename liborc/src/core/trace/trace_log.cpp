#include "core/trace/trace_log.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "base/threads/thread_placement.h"
#include "orc/version.h"

namespace orc::detail {

namespace {

using word = std::atomic_ref<std::uint64_t>;

constexpr std::uint64_t megabyte = std::uint64_t{1} << 20;
constexpr std::uint64_t kept_behind = 4 * megabyte;

// Small traces stay small; a fast one gets its room in large steps.
[[nodiscard]] std::uint64_t room_ahead(std::uint64_t end) noexcept {
  return std::clamp(end / 4, megabyte, 32 * megabyte);
}

[[nodiscard]] word word_at(std::byte* at) noexcept { return word(*reinterpret_cast<std::uint64_t*>(at)); }

}  // namespace

expected<std::unique_ptr<trace_log>> trace_log::create(const std::string& path, stop_callback on_stop) {
  auto file = growing_file::create(path);
  if (!file) return file.error();
  std::unique_ptr<trace_log> made(new trace_log(*std::move(file), path, std::move(on_stop)));
  if (const int failed = made->file_->grow(wire::trace_page + megabyte); failed != 0) {
    unlink(path.c_str());
    return error(errc::system_error, "cannot write " + path + ": " + std::strerror(failed));
  }
  made->call_at_ = wire::trace_page + megabyte / 2;
  made->write_start();
  return made;
}

trace_log::trace_log(std::unique_ptr<growing_file> file, std::string path, stop_callback on_stop)
    : file_(std::move(file)), path_(std::move(path)), on_stop_(std::move(on_stop)) {}

void trace_log::write_start() noexcept {
  wire::trace_start start{};
  std::memcpy(start.magic, wire::trace_magic.data(), sizeof start.magic);
  start.version = wire::trace_version;
  start.page = wire::trace_page;
  start.monotonic_ns = monotonic::now().time_since_epoch().count();
  start.realtime_ns = realtime_ns();
  start.pid = static_cast<std::uint64_t>(getpid());
  std::strncpy(start.liborc, version(), sizeof start.liborc - 1);
  char command[wire::trace_page - sizeof start];
  const unique_fd from(open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC));
  const ssize_t got = from ? read(from.get(), command, sizeof command) : 0;
  start.command_bytes = static_cast<std::uint32_t>(std::max<ssize_t>(got, 0));
  std::memcpy(file_->data() + sizeof start, command, start.command_bytes);
  std::memcpy(file_->data(), &start, sizeof start);
}

void trace_log::work() {
  if (thread_.joinable()) return;
  resting_ = false;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    resting_ = true;  // each writer makes room itself
  }
}

void trace_log::rest() noexcept {
  if (!thread_.joinable()) return;
  resting_ = true;
  bell_.ring();
  thread_.join();
  thread_ = std::thread();
}

void trace_log::run() noexcept {
  pthread_setname_np(pthread_self(), "orc trace");
  (void)place_thread(pthread_self(), 0, {}, "", "");  // a control loop may have started it, and must not wait for it
  for (;;) {
    const std::uint32_t ticket = bell_.ticket();
    if (stopped()) return report();
    if (resting_) return;
    const std::uint64_t end = end_;
    if (make_room(end + room_ahead(end)) && end > kept_behind) {
      const std::lock_guard lock(growing_);
      file_->leave(end - kept_behind);
    }
    bell_.wait(ticket, deadline(-1));
  }
}

bool trace_log::make_room(std::uint64_t until) noexcept {
  const std::lock_guard lock(growing_);
  if (stopped()) return false;
  if (const int failed = until > file_->size() ? file_->grow(until) : 0; failed != 0) {
    stop(failed);
    return false;
  }
  call_at_ = file_->size() - room_ahead(end_) / 2;
  return true;
}

void trace_log::stop(int why) noexcept {
  if (stopped()) return;
  const std::uint32_t number = static_cast<std::uint32_t>(why);
  std::memcpy(file_->data() + offsetof(wire::trace_start, stopped), &number, sizeof number);
  why_ = why;
  stopped_ = true;
  bell_.ring();  // a program's thread must not run its log callback
}

void trace_log::report() noexcept {
  if (std::exchange(reported_, true)) return;
  try {
    if (on_stop_) on_stop_("the trace " + path_ + " is incomplete from here: it cannot grow: " + std::strerror(why_));
  } catch (...) {  // no memory for the sentence: the file says it
  }
}

trace_log::place trace_log::begin(wire::trace_head head, std::span<const std::byte> bytes,
                                  std::string_view text) noexcept {
  place taken;
  if (stopped()) return taken;
  const std::uint64_t length = wire::trace_length(bytes.size(), text.size());
  std::uint64_t at = end_.load(std::memory_order_acquire);
  for (;;) {
    if (at + length > file_->size() && !make_room(at + length + megabyte)) return taken;
    std::uint64_t there = 0;
    const bool ours = word_at(file_->data() + at)
                          .compare_exchange_strong(there, length | wire::trace_head::open, std::memory_order_acq_rel,
                                                   std::memory_order_acquire);
    // The one who took the place may be interrupted before it moves the end, so each moves it.
    const std::uint64_t next = at + (ours ? length : there & ~wire::trace_head::open);
    std::uint64_t was = at;
    if (end_.compare_exchange_strong(was, next, std::memory_order_acq_rel, std::memory_order_acquire)) was = next;
    if (ours) break;
    at = was;
  }
  if (at + length > call_at_.load(std::memory_order_relaxed) &&
      call_at_.exchange(UINT64_MAX, std::memory_order_relaxed) != UINT64_MAX)
    bell_.ring();
  taken.at_ = file_->data() + at;
  taken.length_ = length;
  head.size = bytes.size();
  head.text_bytes = static_cast<std::uint32_t>(text.size());
  // All but the word, which others read.
  std::memcpy(taken.at_ + sizeof head.word, reinterpret_cast<const std::byte*>(&head) + sizeof head.word,
              sizeof head - sizeof head.word);
  std::byte* const payload = taken.at_ + sizeof head;
  if (!bytes.empty()) std::memcpy(payload, bytes.data(), bytes.size());
  if (!text.empty()) std::memcpy(payload + bytes.size(), text.data(), text.size());
  return taken;
}

void trace_log::set_status(const place& where, std::uint8_t status) noexcept {
  std::memcpy(where.at_ + offsetof(wire::trace_head, status), &status, sizeof status);
}

void trace_log::complete(const place& where) noexcept {
  word_at(where.at_).store(where.length_, std::memory_order_release);
}

}  // namespace orc::detail
