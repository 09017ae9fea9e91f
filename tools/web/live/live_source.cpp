#include "tools/web/live/live_source.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "tools/web/live/own_participant.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto sample_pause = 100ms;
constexpr auto image_pause = 33ms;
constexpr auto message_pause = 16ms;
constexpr auto look_pause = 200ms;  // at links and types
constexpr std::uint64_t bell_number = 0;

[[nodiscard]] reception reception_for(const std::array<std::size_t, interests>& uses) {
  const auto used = [&](interest what) { return uses[static_cast<std::size_t>(what)] != 0; };
  reception how{used(interest::plots), sample_pause};
  if (used(interest::images)) how.pause = image_pause;
  if (used(interest::messages)) how.pause = message_pause;
  return how;
}

}  // namespace

live_source::live_source(const std::string& broker, std::function<void()> news)
    : news_(std::move(news)),
      participant_(own_participant(broker, "orc-web")),
      types_(broker),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event bell{};
  bell.events = EPOLLIN;
  bell.data.u64 = bell_number;
  if (epoll_.get() < 0 || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, bell_.fd(), &bell) != 0)
    throw std::system_error(errno, std::generic_category(), "epoll");
  thread_ = start_thread([this] { run(); });
}

live_source::~live_source() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  bell_.ring();
  thread_.join();
}

std::shared_ptr<topic_feed> live_source::open(const std::string& topic, interest what) {
  const std::lock_guard lock(mutex_);
  wanted_topic& wanted = wanted_[topic];
  if (!wanted.feed) wanted.feed = std::make_shared<topic_feed>(topic, news_, limits_);
  ++wanted.uses[static_cast<std::size_t>(what)];
  changed_.insert(topic);
  bell_.ring();
  return wanted.feed;
}

void live_source::close(const std::string& topic, interest what) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = wanted_.find(topic);
  if (at == wanted_.end()) return;
  auto& uses = at->second.uses;
  --uses[static_cast<std::size_t>(what)];
  if (std::all_of(uses.begin(), uses.end(), [](std::size_t count) { return count == 0; })) wanted_.erase(at);
  changed_.insert(topic);
  bell_.ring();
}

bool live_source::stopping() {
  const std::lock_guard lock(mutex_);
  return stop_;
}

void live_source::run() {
  while (!stopping()) {
    obey();
    const auto now = clock::now();
    visit_due(now);
    if (now >= look_at_all_) visit_all(now);
    wait(clock::now());
  }
  followed_.clear();
}

void live_source::obey() {
  std::set<std::string> changed;
  {
    const std::lock_guard lock(mutex_);
    changed.swap(changed_);
  }
  for (const std::string& topic : changed) {
    std::shared_ptr<topic_feed> feed;
    reception how;
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = wanted_.find(topic); at != wanted_.end()) {
        feed = at->second.feed;
        how = reception_for(at->second.uses);
      }
    }
    auto at = followed_.find(topic);
    // A feed that was closed and opened again is another one.
    if (at != followed_.end() && (!feed || !at->second->feeds(*feed))) {
      forget(*at->second);
      followed_.erase(at);
      at = followed_.end();
    }
    if (!feed) continue;
    if (at == followed_.end()) {
      auto made = std::make_unique<followed_topic>(feed, participant_, types_);
      made->number = ++last_number_;
      by_number_[made->number] = made.get();
      at = followed_.emplace(topic, std::move(made)).first;
    }
    at->second->receive_as(how);
    const auto now = clock::now();
    at->second->look(now);
    visit(*at->second, now);
  }
}

void live_source::forget(followed_topic& topic) {
  due_.erase({topic.due, &topic});
  by_number_.erase(topic.number);
}

void live_source::visit(followed_topic& topic, clock::time_point now) {
  due_.erase({topic.due, &topic});
  auto next = topic.receive(now);
  if (!next && !watch(topic)) next = now + look_pause;
  if (!next) return;
  topic.due = *next;
  due_.insert({topic.due, &topic});
}

// Once, until the next visit. The descriptor is another one after the topic was requested in another way, and closing
// the one before has taken it out of the epoll. False: there is no descriptor, for the system has none left.
bool live_source::watch(followed_topic& topic) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.u64 = topic.number;
  const int fd = topic.fd();
  if (fd < 0) return false;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return true;
  return errno == ENOENT && ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void live_source::visit_due(clock::time_point now) {
  // Each visit can take long, when samples are large.
  while (!due_.empty() && due_.begin()->first <= now && !stopping()) visit(*due_.begin()->second, now + 1ns);
}

void live_source::visit_all(clock::time_point now) {
  for (const auto& [topic, each] : followed_) each->look(now);
  look_at_all_ = now + look_pause;
}

int live_source::wait_ms(clock::time_point now) const {
  auto next = followed_.empty() ? now + 1h : look_at_all_;
  if (!due_.empty()) next = std::min(next, due_.begin()->first);
  if (next <= now) return 0;
  return static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(next - now).count());
}

void live_source::wait(clock::time_point now) {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), wait_ms(now));
  const auto then = clock::now();
  for (int i = 0; i < count && !stopping(); ++i) {
    const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
    if (number == bell_number) {
      bell_.clear();
      continue;
    }
    if (const auto at = by_number_.find(number); at != by_number_.end()) visit(*at->second, then);
  }
}

}  // namespace orc::web
