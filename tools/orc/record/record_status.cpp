#include "tools/orc/record/record_status.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tools/orc/console.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr auto interval = std::chrono::milliseconds(500);

void to_stderr(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

std::string clock_text(std::chrono::steady_clock::duration time) {
  const auto s = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(s / 3600) + ":" + two(s / 60 % 60) + ":" + two(s % 60);
}

std::string lost_text(const record_buffer::counters& now, std::uint64_t refused) {
  std::string text = "lost " + grouped(now.dropped + now.missed + refused);
  if (now.dropped != 0) text += " (" + grouped(now.dropped) + " by a slow disk)";
  if (refused != 0) text += " (" + grouped(refused) + " that the file cannot hold)";
  return text;
}

std::string count_text(std::uint64_t number, const std::string& what) {
  return grouped(number) + " " + what + (number == 1 ? "" : "s");
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string record_status::line(const record_buffer& buffer, const record_progress& progress, std::size_t topics) {
  const auto now = clock::now();
  const auto counted = buffer.count();
  const double seconds = std::max(std::chrono::duration<double>(now - std::exchange(measured_at_, now)).count(), 1e-3);
  const std::uint64_t new_bytes = counted.received_bytes - std::exchange(bytes_, counted.received_bytes);
  const std::uint64_t new_samples = counted.received - std::exchange(samples_, counted.received);
  std::string text = clock_text(now - begun_) + "  ";
  if (options_.last.count() != 0)
    text += "keeps " + duration_text(buffer.span().count()) + (buffer.too_small() ? " (buffer too small)" : "");
  else
    text += size_text(static_cast<double>(progress.bytes));
  text += "  " + size_text(static_cast<double>(new_bytes) / seconds) + "/s";
  text += "  " + grouped(static_cast<std::uint64_t>(static_cast<double>(new_samples) / seconds)) + " samples/s";
  text += "  " + count_text(topics, "topic") + "  " + lost_text(counted, progress.refused);
  return text;
}

void record_status::show(const record_buffer& buffer, const record_progress& progress, std::size_t topics) {
  if (clock::now() < due_) return;
  due_ = clock::now() + interval;
  if (options_.quiet || !console::is_watched()) return;
  std::string text = line(buffer, progress, topics);
  text.resize(std::min(text.size(), console::columns() - 1));
  const std::lock_guard lock(mutex_);
  to_stderr("\r\033[K" + text);
  drawn_ = true;
}

void record_status::note(console& out, const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear();
  out.note(text);
}

void record_status::end() {
  const std::lock_guard lock(mutex_);
  clear();
}

void record_status::clear() {
  if (std::exchange(drawn_, false)) to_stderr("\r\033[K");
}

std::string record_status::summary(const record_buffer& buffer, const record_progress& progress,
                                   std::size_t topics) const {
  const auto counted = buffer.count();
  const std::string time = duration_text(std::chrono::nanoseconds(clock::now() - begun_).count());
  const std::string size = size_text(static_cast<double>(progress.bytes));
  const std::string lost = ", " + lost_text(counted, progress.refused);
  const std::string samples = grouped(progress.samples) + " samples";
  if (options_.last.count() != 0) {
    const std::string kept = time + ", kept " + count_text(topics, "topic") + ", wrote ";
    if (progress.files == 0) return kept + "no file" + lost;
    return kept + count_text(progress.files, "file") + ": " + size + ", " + samples + lost;
  }
  std::string text = time + ", " + size + ", " + samples + " of " + count_text(topics, "topic");
  if (progress.files > 1) text += " in " + grouped(progress.files) + " files";
  return text + lost;
}

}  // namespace orc::cli
