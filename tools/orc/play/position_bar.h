// One line on the terminal that shows where a player is.
#pragma once

#include <cstdint>
#include <string>

#include "tools/orc/play/player.h"

namespace orc::cli {

// "0:12.3 [=====>-----] 1:40.0  x2  paused", at most `width` columns.
[[nodiscard]] std::string position_line(const play_status& status, const play_range& range, std::int64_t first_ns,
                                        std::size_t width);

// Writes that line to stderr, over the one before.
class position_bar {
 public:
  position_bar(const play_range& range, std::int64_t first_ns) : range_(range), first_ns_(first_ns) {}
  ~position_bar() { clear(); }
  position_bar(const position_bar&) = delete;
  position_bar& operator=(const position_bar&) = delete;

  void draw(const play_status& status);
  // Removes it, for other text.
  void clear();

 private:
  const play_range range_;
  const std::int64_t first_ns_;
  std::string drawn_;
};

}  // namespace orc::cli
