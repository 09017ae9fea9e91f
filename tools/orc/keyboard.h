// Single keys from the terminal, without Enter.
#pragma once

#include <termios.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"

namespace orc::cli {

enum class key : std::uint8_t { pause, step, back, forward, far_back, far_forward, faster, slower, quit, help };

// Takes the keys out of what a terminal sent. An escape sequence whose end has not come yet stays in `sent`; what is no
// key of ours is dropped. Nothing: no whole key is there.
[[nodiscard]] std::optional<key> take_key(std::string& sent);

// While it lives, stdin gives single keys and does not echo them, if it is a terminal and this process is in its
// foreground. The terminal gets its modes back when the object ends, when the process is suspended (Ctrl-Z), and when a
// signal kills it, except SIGKILL. At most one at a time; main thread only.
class keyboard {
 public:
  keyboard();
  ~keyboard();
  keyboard(const keyboard&) = delete;
  keyboard& operator=(const keyboard&) = delete;

  // False: there are no keys now.
  [[nodiscard]] bool active() const noexcept { return raw_; }
  // Takes the terminal again when the process has come back to the foreground. Call it a few times a second.
  void refresh() noexcept;
  // Gives the terminal its modes back for good.
  void restore() noexcept;
  // The next key that was pressed. Never waits.
  [[nodiscard]] std::optional<key> next();

  // Readable when Ctrl-Z was pressed: call suspend() then.
  [[nodiscard]] int suspend_fd() const noexcept { return suspend_fd_.get(); }
  // Restores the modes, stops the process until SIGCONT, and takes the terminal again.
  void suspend() noexcept;

 private:
  void take() noexcept;
  void give_back() noexcept;

  bool is_terminal_ = false;
  bool raw_ = false;
  std::string sent_;
  detail::unique_fd suspend_fd_;
};

}  // namespace orc::cli
