#include "tools/web/live/broker_check.h"

#include <utility>

#include "orc/directory.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

constexpr auto patience = std::chrono::milliseconds(2'000);

}  // namespace

broker_check::broker_check(const std::string& broker, std::function<void(const std::string&)> say) {
  (void)stop_.fd();
  thread_ = start_thread([this, broker, say = std::move(say)] {
    directory from({.broker = broker, .broker_timeout = patience, .stop_fd = stop_.fd()});
    broker_state found;
    if (const result asked = from.broker(found); !asked && asked.code() != errc::closed) say(asked.error().message());
  });
}

broker_check::~broker_check() {
  stop_.ring();
  thread_.join();
}

}  // namespace orc::web
