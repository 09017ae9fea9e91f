// What a terminal shows: whole frames of lines, of which only the changed ones are sent.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "tools/terminal/terminal_session.h"

namespace orc::terminal {

// The bytes that change a screen from `shown` to `wanted`. Both hold lines of styled_line. Empty: nothing changes.
[[nodiscard]] std::string difference(const std::vector<std::string>& shown, const std::vector<std::string>& wanted);

// Never waits for the terminal: a frame that it does not take yet is replaced by the next one.
class screen {
 public:
  // `output` is the terminal.
  explicit screen(int output);

  // Nothing of the last frame is there any more: the next one is sent whole.
  void forget();
  // Shows this frame, one line for each row.
  void show(std::vector<std::string> lines);

  // Whether a frame waits for the terminal: poll fd() for writing, and call send() when it is.
  [[nodiscard]] bool waits() const noexcept { return sent_ < bytes_.size(); }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  void send();

 private:
  detail::unique_fd own_;  // an open file of our own, so that only our writes do not block
  int fd_;
  std::vector<std::string> shown_;
  std::optional<std::vector<std::string>> next_;
  std::string bytes_;  // of the frame that is sent
  std::size_t sent_ = 0;
};

}  // namespace orc::terminal
