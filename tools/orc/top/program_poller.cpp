#include "tools/orc/top/program_poller.h"

#include <algorithm>
#include <utility>

#include "base/threads/signals_blocked.h"
#include "orc/participant.h"
#include "tools/orc/top/parameter_watch.h"
#include "tools/orc/top/service_watch.h"
#include "tools/orc/top/top_options.h"
#include "tools/view/broker_poller.h"
#include "wire/name_space.h"

namespace orc::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto between_looks = 1000ms;
constexpr auto after_first = 200ms;  // services send their figures when they are subscribed to

}  // namespace

program_poller::program_poller(std::string broker) : broker_(std::move(broker)) {
  (void)news_.fd();
  (void)stop_.fd();
  const detail::signals_blocked blocked;  // they are the main thread's
  thread_ = std::thread([this] { run(); });
}

program_poller::~program_poller() {
  ends_ = true;
  stop_.ring();
  wake_.ring();
  thread_.join();
}

void program_poller::watch(subject what, bool all) {
  const std::lock_guard lock(mutex_);
  const question asked{what, all};
  if (asked == wanted_) return;
  if (what != wanted_.what) newest_.reset();
  wanted_ = asked;
  news_.ring();
  wake_.ring();
}

std::shared_ptr<const program_figures> program_poller::newest() {
  const std::lock_guard lock(mutex_);
  news_.clear();
  return newest_;
}

program_poller::question program_poller::wanted() {
  const std::lock_guard lock(mutex_);
  return wanted_;
}

void program_poller::tell(const question& asked, program_figures found) {
  auto made = std::make_shared<const program_figures>(std::move(found));
  const std::lock_guard lock(mutex_);
  if (asked != wanted_) return;
  newest_ = std::move(made);
  news_.ring();
}

bool program_poller::is_over(const question& asked) { return ends_ || wanted() != asked; }

bool program_poller::pause(const question& asked, clock::time_point until) {
  for (;;) {
    const std::uint32_t ticket = wake_.ticket();
    if (is_over(asked)) return false;
    const auto left = until - clock::now();
    if (left <= 0ns) return true;
    wake_.wait(ticket, detail::deadline(static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count())));
  }
}

void program_poller::run() {
  while (!ends_) {
    const question asked = wanted();
    if (asked.what == subject::none)
      static_cast<void>(pause(asked, clock::now() + 1h));
    else
      follow(asked);
  }
}

void program_poller::follow(const question& asked) {
  directory from({.broker = broker_, .broker_timeout = broker_patience, .stop_fd = stop_.fd()});
  participant own(
      {.broker = broker_, .name = "orc top", .name_space = wire::no_name_space, .broker_timeout = broker_patience});
  service_watch services(from, own);
  parameter_watch parameters(from, own);
  for (bool first = true;; first = false) {
    const auto began = clock::now();
    program_figures found;
    const result looked = asked.what == subject::services ? services.look(asked.all, found)
                                                          : parameters.look([&] { return is_over(asked); }, found);
    if (looked) tell(asked, std::move(found));
    const auto took = clock::now() - began;
    const auto rest = std::max<clock::duration>(between_looks, view::pause_after(took));
    if (!pause(asked, clock::now() + (first || services.is_unfinished() ? after_first : rest))) return;
  }
}

}  // namespace orc::cli
