#include "tools/terminal/screen.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace orc::terminal {

std::string difference(const std::vector<std::string>& shown, const std::vector<std::string>& wanted) {
  std::string bytes;
  for (std::size_t row = 0; row < wanted.size(); ++row) {
    if (row < shown.size() && shown[row] == wanted[row]) continue;
    bytes += "\x1b[" + std::to_string(row + 1) + ";1H\x1b[2K" + wanted[row];
  }
  return bytes;
}

// Another open file of the same terminal, because O_NONBLOCK would also hold for the shell that we share ours with. A
// terminal that we may not open is written to as it is.
screen::screen(int output)
    : own_(::open(("/proc/self/fd/" + std::to_string(output)).c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)),
      fd_(own_ ? own_.get() : output) {}

void screen::forget() {
  shown_.clear();
  next_.reset();
  bytes_.clear();
  sent_ = 0;
}

void screen::show(std::vector<std::string> lines) {
  next_ = std::move(lines);
  send();
}

void screen::send() {
  for (;;) {
    if (!waits()) {
      if (!next_) return;
      bytes_ = difference(shown_, *next_);
      sent_ = 0;
      shown_ = *std::exchange(next_, std::nullopt);
      if (bytes_.empty()) return;
    }
    pollfd item = {fd_, POLLOUT, 0};
    if (poll(&item, 1, 0) <= 0 || (item.revents & POLLOUT) == 0) return;
    const ssize_t count = write(fd_, bytes_.data() + sent_, bytes_.size() - sent_);
    if (count < 0) return;
    sent_ += static_cast<std::size_t>(count);
  }
}

}  // namespace orc::terminal
