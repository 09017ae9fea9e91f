// What the tool writes: results to stdout, each line as soon as it is complete; notes to stderr.
#pragma once

#include <cstddef>
#include <string_view>

namespace orc::cli {

// Makes a closed pipe (`orc topic echo x | head`) an ordinary end instead of a SIGPIPE. One per process.
class console {
 public:
  console();

  // One line or any bytes to stdout, written at once. False when there is no point in more: stop; failed() tells the
  // exit code.
  bool line(std::string_view text);
  bool write(std::string_view bytes);

  // True when stdout could not be written (full disk), which has been told on stderr. That a reader left is no failure.
  [[nodiscard]] bool failed() const noexcept { return failed_; }

  // True when the reader of stdout has left; also notices it while there is nothing to write.
  [[nodiscard]] bool reader_gone();

  // "orc: text" to stderr.
  void note(std::string_view text);
  // Is a person looking: is stderr a terminal?
  [[nodiscard]] static bool is_watched();
  // The columns of that terminal; 80 when it does not say.
  [[nodiscard]] static std::size_t columns();
  // A note when it is, nothing otherwise.
  void hint(std::string_view text);

 private:
  bool reader_gone_ = false;
  bool failed_ = false;
};

}  // namespace orc::cli
