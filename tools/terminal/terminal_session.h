// A terminal that gives single keys, and perhaps its whole screen.
#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/files/unique_fd.h"
#include "tools/terminal/terminal_guard.h"

namespace orc::terminal {

struct terminal_size {
  std::size_t rows = 24;
  std::size_t columns = 80;

  bool operator==(const terminal_size&) const = default;
};

enum class picture : std::uint8_t {
  lines,       // goes on below what the terminal shows
  full_screen  // takes the alternate screen, without a cursor and without line wrap, until the terminal is given back
};

// While it lives, stdin gives single keys and does not echo them, if it is a terminal and this process is in its
// foreground. The terminal is as before when the object ends, while the process is suspended (Ctrl-Z), and when the
// process dies, whatever kills it (terminal_guard). After `kill -STOP`, SIGCONT takes the terminal again.
//
// At most one at a time. Main thread only.
class terminal_session {
 public:
  // The picture goes to `output`, the same terminal.
  explicit terminal_session(picture shown, int output = 1);
  ~terminal_session();
  terminal_session(const terminal_session&) = delete;
  terminal_session& operator=(const terminal_session&) = delete;

  // False: there are no keys, and there is no screen now.
  [[nodiscard]] bool active() const noexcept { return taken_; }
  // Takes the terminal when the process has come to the foreground. Call it a few times a second. True: the terminal
  // was taken since the last call, so nothing is on its screen.
  bool refresh() noexcept;
  // Gives the terminal back for good.
  void restore() noexcept;
  // The bytes of keys that have come. Empty: none. Never waits.
  [[nodiscard]] std::string keys();

  // Readable when Ctrl-Z was pressed: call suspend() then.
  [[nodiscard]] int suspend_fd() const noexcept { return suspend_fd_.get(); }
  // Gives the terminal back, stops the process until SIGCONT, and takes the terminal again.
  void suspend() noexcept;

  // Readable when the size or the process's place may have changed: call clear_changed(), refresh() and size() then.
  [[nodiscard]] int changed_fd() const noexcept { return changed_fd_.get(); }
  void clear_changed() noexcept;
  [[nodiscard]] terminal_size size() const noexcept;

 private:
  void take() noexcept;
  void give_back() noexcept;
  void write_now(std::string_view sequence) const noexcept;

  const picture picture_;
  const int output_;
  termios before_{};
  bool is_terminal_ = false;
  bool taken_ = false;
  bool is_new_ = false;
  detail::unique_fd suspend_fd_;
  detail::unique_fd changed_fd_;
  std::optional<terminal_guard> guard_;
};

}  // namespace orc::terminal
