// Lines from a descriptor, without ever being stuck in a read that Ctrl-C cannot end.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/process/stop_signal.h"

namespace orc::cli {

class line_reader {
 public:
  line_reader(int fd, const detail::stop_signal& stop) : fd_(fd), stop_(stop) {}

  // The next line without its line feed (the last one may lack it); nothing at the end, on an error or a signal.
  [[nodiscard]] std::optional<std::string> next();

  // Everything that is left. Nothing on an error or a signal.
  [[nodiscard]] std::optional<std::string> rest();

 private:
  bool fill();

  int fd_;
  const detail::stop_signal& stop_;
  std::string buffer_;
  std::size_t searched_ = 0;  // no line feed before this position of buffer_
  bool at_end_ = false;
  bool failed_ = false;
};

}  // namespace orc::cli
