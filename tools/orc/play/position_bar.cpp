#include "tools/orc/play/position_bar.h"

#include <unistd.h>

#include <algorithm>

#include "tools/command_line/help.h"
#include "tools/orc/console.h"
#include "tools/orc/recording/recording_time.h"

namespace orc::cli {

namespace {

constexpr std::size_t longest_bar = 60;

void show(const std::string& text) {
  // A terminal that does not take it has no use for it.
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

}  // namespace

std::string position_line(const play_status& status, const play_range& range, std::int64_t first_ns,
                          std::size_t width) {
  const std::int64_t position = std::clamp(status.position_ns, range.from_ns, range.to_ns);
  const std::string before = position_text(position - first_ns) + " [";
  const char* const state = status.ended || status.at_end ? "end"
                            : status.paused               ? "paused"
                            : range.loop                  ? "loop"
                                                          : "playing";
  const std::string after =
      "] " + position_text(range.to_ns - first_ns) + "  x" + number_text(status.rate) + "  " + state;
  const std::size_t used = before.size() + after.size();
  // One column stays free: a full line makes some terminals begin a new one.
  const std::size_t room = width > used + 1 ? std::min(width - used - 1, longest_bar) : 0;
  std::string bar(room, '-');
  if (room != 0) {
    const auto length = static_cast<double>(range.to_ns - range.from_ns);
    const double part = length > 0 ? static_cast<double>(position - range.from_ns) / length : 1;
    const auto at = std::min(static_cast<std::size_t>(part * static_cast<double>(room)), room - 1);
    bar.replace(0, at, at, '=');
    bar[at] = '>';
  }
  return (before + bar + after).substr(0, width > 0 ? width - 1 : 0);
}

void position_bar::draw(const play_status& status) {
  std::string line = position_line(status, range_, first_ns_, console::columns());
  if (line == drawn_) return;
  show("\r" + line + "\x1b[K");
  drawn_ = std::move(line);
}

void position_bar::clear() {
  if (drawn_.empty()) return;
  show("\r\x1b[K");
  drawn_.clear();
}

}  // namespace orc::cli
