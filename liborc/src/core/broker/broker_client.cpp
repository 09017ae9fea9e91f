#include "core/broker/broker_client.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/files/run_dir.h"

namespace orc::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto max_silence = 3s;   // a broker with an open question that is silent for longer is lost
constexpr auto full_pause = 10ms;  // until the next attempt when the connection takes nothing

}  // namespace

broker_client::broker_client(std::shared_ptr<process> process, const std::string& broker)
    : process_(std::move(process)),
      search_(process_->context(), broker),
      silence_(search_.is_named() ? broker_candidates(broker) : std::vector<std::string>()),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {}};
  if (!timer_ || ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, timer_.get(), &event) != 0) events_.reset();
  look_again();
}

void broker_client::ask(wire::body question, std::chrono::milliseconds patience) {
  question_ = std::move(question);
  patience_ = patience;
  first_request_ = ++request_;
  unsent_ = true;
  heard_ = std::max(heard_, monotonic::now());
  look_again();
}

std::optional<wire::body> broker_client::step(monotonic::time_point now) {
  std::optional<wire::body> answer;
  if (up_ && !search_.is_connected()) {
    up_ = false;
    search_.restart();
  }
  if (!up_) {
    search_.step(now);
    if (silence_.step(now)) search_.expect_round_trip(silence_.round_trip(), now);
  } else {
    look_back(now);
  }
  do receive(answer, now);
  while (send(now));  // a send may swallow the event of a message that came
  if (up_ && question_ && !silent_ && now - heard_ > patience_ + max_silence) {
    silent_ = true;
    if (search_.has_choice()) up_ = false;
    search_.restart();
  }
  if (!up_) search_.look_back_later(now);
  watch(now);
  return answer;
}

void broker_client::receive(std::optional<wire::body>& answer, monotonic::time_point now) {
  unread_ = search_.receive_some([&](std::span<const std::byte> frame) {
    auto message = wire::decode(frame);
    if (!message) return;
    heard_ = now;
    silent_ = false;
    if (const auto* const welcome = std::get_if<wire::welcome>(&message->content)) {
      greeted_by(*welcome, now);
    } else if (question_ && message->request >= first_request_ && message->request <= request_) {
      question_.reset();
      answer = std::move(message->content);
    }
  });
}

void broker_client::greeted_by(const wire::welcome& broker, monotonic::time_point now) {
  up_ = true;
  silent_ = false;
  heard_ = now;
  unsent_ = question_.has_value();
  endpoint_ = search_.endpoint();
  version_ = broker.version;
  silence_.end();
}

void broker_client::look_back(monotonic::time_point now) {
  search_.look_back(now);
  std::optional<wire::welcome> greeting;
  (void)search_.earlier().receive_some([&](std::span<const std::byte> frame) {
    const auto message = wire::decode(frame);
    const auto* const welcome = message ? std::get_if<wire::welcome>(&message->content) : nullptr;
    if (welcome != nullptr) greeting = *welcome;
  });
  if (!greeting) return;
  (void)search_.go_back();
  greeted_by(*greeting, now);
}

// Returns true if it sent something.
bool broker_client::send(monotonic::time_point now) {
  if (!up_ || !question_ || (!unsent_ && now < again_)) return false;
  const bool sent = search_.try_send(wire::encode({++request_, *question_}));
  again_ = now + (sent ? patience_ : full_pause);
  unsent_ = false;
  return sent;
}

std::string broker_client::why_silent() const {
  if (is_up()) return "the broker at " + endpoint_ + " did not answer in time";
  if (!search_.problem().empty()) return "no broker: " + search_.problem();
  return "no broker answers at " + search_.candidates(silence_.findings()) +
         ": start one with orc-broker, or set ORC_BROKER";
}

void broker_client::look_again() noexcept { set_timer({}); }

void broker_client::set_timer(monotonic::duration in) noexcept {
  const auto ns = std::max<std::int64_t>(std::chrono::nanoseconds(in).count(), 1);  // 0 would disarm it
  const itimerspec when{{}, {static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)}};
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void broker_client::watch(monotonic::time_point now) noexcept {
  const std::array<int, 2> connections = {search_.fd(), search_.earlier().fd()};
  for (const int old : watched_) {
    const bool stays = std::find(connections.begin(), connections.end(), old) != connections.end();
    if (old >= 0 && !stays) ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, old, nullptr);
  }
  epoll_event event{.events = EPOLLIN, .data = {}};
  // Adds it each time, because a new connection may have the same number.
  for (const int each : connections) {
    if (each >= 0) ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, each, &event);
  }
  watched_ = connections;
  auto next = up_ ? std::min(now + max_silence, search_.next_look_back()) : search_.next_step();
  if (up_ && question_) next = std::min(next, again_);
  if (!up_) next = std::min(next, silence_.next_step(now));
  if (unread_) next = now;
  set_timer(next - now);
}

errc broker_client::wait(const deadline& until, int stop_fd) noexcept {
  if (!events_) return errc::no_descriptors;
  if (until.passed()) return errc::timed_out;
  pollfd watched[] = {{events_.get(), POLLIN, 0}, {stop_fd, POLLIN, 0}};
  const auto left = until.left();
  (void)::ppoll(watched, 2, left ? &*left : nullptr, nullptr);
  return watched[1].revents != 0 ? errc::closed : errc::ok;
}

}  // namespace orc::detail
