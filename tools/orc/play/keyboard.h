// Single keys from the terminal, without Enter.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/terminal/terminal_session.h"

namespace orc::cli {

enum class key : std::uint8_t { pause, step, back, forward, far_back, far_forward, faster, slower, quit, help };

// Takes the keys out of what a terminal sent. An escape sequence whose end has not come yet stays in `sent`; what is no
// key of ours is dropped. Nothing: no whole key is there.
[[nodiscard]] std::optional<key> take_key(std::string& sent);

// While it lives, stdin gives single keys and does not echo them, if it is a terminal and this process is in its
// foreground (terminal::terminal_session). At most one at a time; main thread only.
class keyboard {
 public:
  // False: there are no keys now.
  [[nodiscard]] bool active() const noexcept { return terminal_.active(); }
  // Takes the terminal again when the process has come back to the foreground. Call it a few times a second.
  void refresh() noexcept { static_cast<void>(terminal_.refresh()); }
  // Gives the terminal its modes back for good.
  void restore() noexcept { terminal_.restore(); }
  // The next key that was pressed. Never waits.
  [[nodiscard]] std::optional<key> next();

  // Readable when Ctrl-Z was pressed: call suspend() then.
  [[nodiscard]] int suspend_fd() const noexcept { return terminal_.suspend_fd(); }
  // Restores the modes, stops the process until SIGCONT, and takes the terminal again.
  void suspend() noexcept { terminal_.suspend(); }

 private:
  terminal::terminal_session terminal_{terminal::picture::lines};
  std::string sent_;
};

}  // namespace orc::cli
