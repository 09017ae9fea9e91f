#include "tools/web/services/live_services.h"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "tools/web/live/own_participant.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto call_broker_patience = std::chrono::milliseconds(500);  // for one answer
constexpr auto longest_call_wait = 500ms;
constexpr int calls_per_turn = 16;  // then replies have their turn
constexpr auto feedback_pause = 20ms;
constexpr std::size_t max_error_bytes = 4096;

}  // namespace

live_services::live_services(std::string broker, bool all, std::function<void()> news)
    : broker_(std::move(broker)), all_(all), news_(std::move(news)) {
  (void)order_bell_.fd();
  thread_ = start_thread([this] { run(); });
}

live_services::~live_services() {
  attendance_.stop();
  thread_.join();
}

live_services::client live_services::enter() {
  attendance_.enter();
  const std::lock_guard lock(mutex_);
  clients_[++last_client_];
  return last_client_;
}

void live_services::leave(client who) noexcept {
  attendance_.leave();
  {
    const std::lock_guard lock(mutex_);
    clients_.erase(who);
  }
  order_bell_.ring();
}

std::shared_ptr<const shown_services> live_services::newest() {
  const std::lock_guard lock(mutex_);
  return newest_;
}

std::string live_services::call(client who, call_order order) {
  order.share = budget_->take(order.request.size());
  if (!order.share) return "the calls of other clients fill the memory for them";
  {
    const std::lock_guard lock(mutex_);
    client_state& state = clients_.at(who);
    if (state.open == max_open_calls)
      return "too many calls are open: " + std::to_string(max_open_calls) + " is the limit";
    ++state.open;
    state.orders.push_back(std::move(order));
  }
  order_bell_.ring();
  return {};
}

void live_services::cancel(client who, std::uint64_t ticket) {
  {
    const std::lock_guard lock(mutex_);
    auto& cancelled = clients_.at(who).cancelled;
    if (std::find(cancelled.begin(), cancelled.end(), ticket) == cancelled.end()) cancelled.push_back(ticket);
  }
  order_bell_.ring();
}

std::vector<call_answer> live_services::answers(client who) {
  const std::lock_guard lock(mutex_);
  return std::exchange(clients_.at(who).answers, {});
}

void live_services::done(client who) {
  const std::lock_guard lock(mutex_);
  --clients_.at(who).open;
}

void live_services::run() {
  while (attendance_.await()) follow();
}

// Returns when no client has been there for a while.
void live_services::follow() {
  participant by(own_participant(broker_, "orc-web calls"));
  directory from({.broker = broker_, .broker_timeout = call_broker_patience, .stop_fd = attendance_.stop_fd()});
  service_follower services(from, all_, last_id_);
  while (attendance_.goes_on(clock::now())) {
    order_bell_.clear();
    start_some(by);
    end_some();
    if (auto changed = services.refresh(clock::now())) {
      {
        const std::lock_guard lock(mutex_);
        newest_ = std::move(changed);
      }
      news_();
    }
    wait(services);
  }
  calls_.clear();
  const std::lock_guard lock(mutex_);
  newest_ = nullptr;
}

// Clients take turns.
bool live_services::next_order(client& who, call_order& order) {
  const std::lock_guard lock(mutex_);
  auto at = clients_.upper_bound(last_served_);
  for (std::size_t i = 0; i < clients_.size(); ++i, ++at) {
    if (at == clients_.end()) at = clients_.begin();
    if (at->second.orders.empty()) continue;
    who = last_served_ = at->first;
    order = std::move(at->second.orders.front());
    at->second.orders.pop_front();
    return true;
  }
  return false;
}

void live_services::start_some(participant& by) {
  client who = 0;
  call_order order;
  for (int i = 0; i < calls_per_turn; ++i) {
    if (!next_order(who, order)) return;
    std::string problem;
    if (auto made = open_call::start(by, order, problem))
      calls_.emplace(std::pair(who, order.ticket), *std::move(made));
    else
      put(who, {.ticket = order.ticket, .data = std::move(problem)});
  }
  order_bell_.ring();
}

// Calls that wait for their start are cancelled after it.
std::vector<std::pair<live_services::client, std::uint64_t>> live_services::take_cancelled() {
  std::vector<std::pair<client, std::uint64_t>> found;
  const std::lock_guard lock(mutex_);
  for (auto& [who, state] : clients_) {
    if (!state.orders.empty()) continue;
    for (const std::uint64_t each : std::exchange(state.cancelled, {})) found.emplace_back(who, each);
  }
  return found;
}

void live_services::end_some() {
  std::vector<open_call> left;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto next = std::next(at);
      if (!clients_.contains(at->first.first)) left.push_back(std::move(calls_.extract(at).mapped()));
      at = next;
    }
  }
  left.clear();
  for (const auto& each : take_cancelled())
    if (const auto at = calls_.find(each); at != calls_.end()) at->second.cancel();
  had_feedback_ = false;
  for (auto at = calls_.begin(); at != calls_.end();) {
    auto& [key, call] = *at;
    if (auto feedback = call.feedback()) {
      had_feedback_ = true;
      put(key.first, {.ticket = key.second, .what = call_answer::kind::feedback, .data = *std::move(feedback)});
    }
    if (!call.ended()) {
      ++at;
      continue;
    }
    put(key.first, call.take(key.second, *budget_));
    at = calls_.erase(at);
  }
}

void live_services::put(client who, call_answer answer) {
  if (answer.what == call_answer::kind::error && answer.data.size() > max_error_bytes)
    answer.data.resize(max_error_bytes);
  {
    const std::lock_guard lock(mutex_);
    const auto at = clients_.find(who);
    if (at == clients_.end()) return;
    auto& answers = at->second.answers;
    if (answer.what == call_answer::kind::feedback)
      std::erase_if(answers, [&](const call_answer& each) {
        return each.ticket == answer.ticket && each.what == call_answer::kind::feedback;
      });
    answers.push_back(std::move(answer));
  }
  news_();
}

void live_services::wait(const service_follower& services) {
  std::vector<pollfd> items{{order_bell_.fd(), POLLIN, 0}, {attendance_.stop_fd(), POLLIN, 0}};
  // A service may send feedback without pause.
  if (had_feedback_) ::poll(items.data(), items.size(), static_cast<int>(feedback_pause.count()));
  items.push_back({services.fd(), POLLIN, 0});
  auto longest = calls_.empty() ? clock::duration(longest_call_wait) : clock::duration(feedback_pause);
  for (auto& [key, call] : calls_) {
    items.push_back({call.fd(), POLLIN, 0});
    if (items.back().fd >= 0) longest = longest_call_wait;
  }
  longest = std::clamp<clock::duration>(services.next() - clock::now(), 0ms, longest);
  ::poll(items.data(), items.size(), static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(longest).count()));
}

}  // namespace orc::web
