#include "tools/web/publish/publish_queue.h"

#include <utility>

#include "tools/web/start_thread.h"

namespace orc::web {

publish_queue::publish_queue(const std::string& broker, std::function<void()> news)
    : news_(std::move(news)), topics_(broker) {
  (void)stop_bell_.fd();
  thread_ = start_thread([this] { run(); });
}

publish_queue::~publish_queue() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stop_bell_.ring();
  changed_.notify_all();
  thread_.join();
}

publish_queue::client publish_queue::enter() {
  const std::lock_guard lock(mutex_);
  clients_[++last_client_];
  return last_client_;
}

void publish_queue::leave(client who) noexcept {
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(orders_, [who](const waiting_order& each) { return each.who == who; });
    clients_.erase(who);
    orders_.push_back({.who = who});
  }
  changed_.notify_all();
}

bool publish_queue::submit(client who, std::string topic, std::size_t bytes, order what) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = clients_.find(who);
    if (at == clients_.end() || at->second.waiting == max_waiting) return false;
    if (at->second.waiting != 0 && at->second.bytes + bytes > max_waiting_bytes) return false;
    auto share = budget_->take(bytes);
    if (!share) return false;
    ++at->second.waiting;
    at->second.bytes += bytes;
    orders_.push_back({who, std::move(topic), bytes, std::move(share), std::move(what)});
  }
  changed_.notify_all();
  return true;
}

void publish_queue::end(client who, std::string topic) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back({.who = who, .topic = std::move(topic)});
  }
  changed_.notify_all();
}

std::vector<publish_answer> publish_queue::answers(client who) {
  const std::lock_guard lock(mutex_);
  const auto at = clients_.find(who);
  if (at == clients_.end()) return {};
  at->second.waiting -= at->second.answers.size();
  return std::exchange(at->second.answers, {});
}

void publish_queue::run() {
  for (;;) {
    waiting_order next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stop_ || !orders_.empty(); });
      if (stop_) return;
      next = std::move(orders_.front());
      orders_.pop_front();
    }
    if (next.what)
      carry_out(std::move(next));
    else if (!next.topic.empty())
      topics_.close(next.who, next.topic);
    else
      topics_.leave(next.who);
  }
}

void publish_queue::carry_out(waiting_order&& next) {
  std::string problem = next.what(topics_);
  {
    const std::lock_guard lock(mutex_);
    const auto at = clients_.find(next.who);
    if (at != clients_.end()) {
      at->second.bytes -= next.bytes;
      at->second.answers.push_back({std::move(next.topic), std::move(problem)});
      next.who = 0;
    }
  }
  if (next.who == 0)
    news_();
  else
    topics_.leave(next.who);  // it left meanwhile
}

}  // namespace orc::web
