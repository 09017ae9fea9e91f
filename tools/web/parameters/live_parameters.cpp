#include "tools/web/parameters/live_parameters.h"

#include <chrono>
#include <utility>

#include "tools/web/live/own_participant.h"
#include "tools/web/start_thread.h"

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr auto parameter_broker_patience = std::chrono::milliseconds(500);  // for one answer of the broker
constexpr int sets_per_turn = 4;   // then values have their turn: each set may wait for the broker
constexpr auto set_patience = 5s;  // for the program that has the parameter

}  // namespace

void live_parameters::answer_box::put(client who, parameter_answer answer) {
  const std::lock_guard lock(mutex);
  const auto at = clients.find(who);
  if (at == clients.end()) return;
  at->second.answers.push_back(std::move(answer));
  if (news) news();
}

live_parameters::live_parameters(std::string broker, bool all, std::function<void()> news)
    : broker_(std::move(broker)), all_(all), news_(std::move(news)) {
  box_->news = news_;
  (void)order_bell_.fd();
  thread_ = start_thread([this] { run(); });
}

live_parameters::~live_parameters() {
  attendance_.stop();
  thread_.join();
  const std::lock_guard lock(box_->mutex);
  box_->clients.clear();
  box_->news = {};
}

live_parameters::client live_parameters::enter() {
  client who = 0;
  {
    const std::lock_guard lock(mutex_);
    who = ++last_client_;
  }
  {
    const std::lock_guard lock(box_->mutex);
    box_->clients[who];
  }
  attendance_.enter();
  return who;
}

void live_parameters::leave(client who) noexcept {
  attendance_.leave();
  {
    const std::lock_guard lock(box_->mutex);
    box_->clients.erase(who);
  }
  const std::lock_guard lock(mutex_);
  std::erase_if(orders_, [who](const auto& each) { return each.first == who; });
}

std::shared_ptr<const shown_parameters> live_parameters::newest() {
  const std::lock_guard lock(mutex_);
  return newest_;
}

bool live_parameters::set(client who, parameter_order order) {
  {
    const std::lock_guard lock(box_->mutex);
    const auto at = box_->clients.find(who);
    if (at == box_->clients.end() || at->second.waiting == max_waiting) return false;
    ++at->second.waiting;
  }
  {
    const std::lock_guard lock(mutex_);
    orders_.emplace_back(who, std::move(order));
  }
  order_bell_.ring();
  return true;
}

std::vector<parameter_answer> live_parameters::answers(client who) {
  const std::lock_guard lock(box_->mutex);
  const auto at = box_->clients.find(who);
  if (at == box_->clients.end()) return {};
  at->second.waiting -= at->second.answers.size();
  return std::exchange(at->second.answers, {});
}

void live_parameters::run() {
  while (attendance_.await()) follow();
}

// Returns when no client has been there for a while.
void live_parameters::follow() {
  participant by(own_participant(broker_, "orc-web parameters"));
  directory from({.broker = broker_, .broker_timeout = parameter_broker_patience, .stop_fd = attendance_.stop_fd()});
  parameter_follower follower(by, from, all_, max_parameters, last_change_);
  while (attendance_.goes_on(clock::now())) {
    order_bell_.clear();
    carry_out(by, from);
    if (auto changed = follower.refresh(clock::now())) {
      {
        const std::lock_guard lock(mutex_);
        newest_ = std::move(changed);
      }
      news_();
    }
    follower.wait(attendance_.stop_fd(), order_bell_.fd());
  }
  const std::lock_guard lock(mutex_);
  newest_ = nullptr;
}

void live_parameters::carry_out(participant& by, directory& from) {
  for (int i = 0; i < sets_per_turn; ++i) {
    client who = 0;
    parameter_order order;
    {
      const std::lock_guard lock(mutex_);
      if (orders_.empty()) return;
      who = orders_.front().first;
      order = std::move(orders_.front().second);
      orders_.pop_front();
    }
    parameter_value value;
    if (const result read = from_json(order.value, value); !read) {
      box_->put(who, {order.ticket, std::move(order.name), read.error().message()});
      continue;
    }
    start_set_parameter(by, from, order.name, set_patience, std::move(value),
                        [box = box_, client = who, ticket = order.ticket](parameter_outcome outcome) {
                          parameter_answer answer{ticket, std::move(outcome.name)};
                          if (outcome.outcome)
                            answer.value = std::move(outcome.value);
                          else
                            answer.problem = outcome.outcome.error().message();
                          box->put(client, std::move(answer));
                        });
  }
  order_bell_.ring();  // perhaps for nothing
}

}  // namespace orc::web
