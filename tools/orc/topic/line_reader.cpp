#include "tools/orc/topic/line_reader.h"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <utility>

namespace orc::cli {

bool line_reader::fill() {
  using namespace std::chrono_literals;
  while (!at_end_ && !failed_ && !stop_.raised()) {
    if (!stop_.wait_readable(fd_, detail::stop_signal::clock::now() + 1h)) continue;
    char bytes[65536];
    const ssize_t n = read(fd_, bytes, sizeof bytes);
    if (n > 0) {
      buffer_.append(bytes, static_cast<std::size_t>(n));
      return true;
    }
    at_end_ = n == 0;
    failed_ = n < 0 && errno != EINTR && errno != EAGAIN;
  }
  return false;
}

std::optional<std::string> line_reader::next() {
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      std::string line = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = buffer_.size();
    if (fill()) continue;
    if (!at_end_ || buffer_.empty()) return std::nullopt;
    searched_ = 0;
    return std::exchange(buffer_, {});
  }
}

std::optional<std::string> line_reader::rest() {
  while (fill()) {
  }
  if (!at_end_) return std::nullopt;
  searched_ = 0;
  return std::exchange(buffer_, {});
}

}  // namespace orc::cli
