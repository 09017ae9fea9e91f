#include "tools/web/live_system.h"

#include <poll.h>

#include "tools/web/moments.h"
#include "tools/web/system_text.h"

namespace orc::web {

void live_system::open() {
  if (!poller_) poller_ = std::make_unique<view::broker_poller>(broker_);
  ++users_;
}

void live_system::close() noexcept {
  if (--users_ != 0) return;
  poller_.reset();
  text_.reset();
}

std::uint64_t live_system::refresh() {
  if (!poller_) return number_;
  pollfd news{poller_->fd(), POLLIN, 0};
  if (::poll(&news, 1, 0) != 1) return number_;
  const view::observation seen = poller_->newest();
  text_ = std::make_shared<const std::string>(system_text(seen.figures.get(), seen.problem, realtime_ns()));
  return ++number_;
}

}  // namespace orc::web
