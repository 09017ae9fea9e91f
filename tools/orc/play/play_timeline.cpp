#include "tools/orc/play/play_timeline.h"

namespace orc::cli {

std::int64_t play_timeline::position_ns(std::int64_t now_ns) const noexcept {
  if (paused_) return position_ns_;
  return position_ns_ + static_cast<std::int64_t>(static_cast<double>(now_ns - set_at_ns_) * rate_);
}

std::int64_t play_timeline::due_ns(std::int64_t position_ns) const noexcept {
  return set_at_ns_ + static_cast<std::int64_t>(static_cast<double>(position_ns - position_ns_) / rate_);
}

void play_timeline::jump(std::int64_t position_ns, std::int64_t now_ns) noexcept {
  position_ns_ = position_ns;
  set_at_ns_ = now_ns;
}

void play_timeline::pause(std::int64_t now_ns) noexcept {
  jump(position_ns(now_ns), now_ns);
  paused_ = true;
}

void play_timeline::resume(std::int64_t now_ns) noexcept {
  jump(position_ns(now_ns), now_ns);
  paused_ = false;
}

void play_timeline::set_rate(double rate, std::int64_t now_ns) noexcept {
  jump(position_ns(now_ns), now_ns);
  rate_ = rate;
}

}  // namespace orc::cli
