// What the housekeeping does for a subscription.
#include <algorithm>
#include <utility>

#include "core/subscription/subscription.h"

namespace orc::detail {

bool subscription::update(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                          type_checks& checks, monotonic::time_point now) {
  if (state.shared && !sources_ && !make_sources()) return false;
  if (sources_ && follow_sources(state, pushed, run_directory, checks, now)) return true;
  if (state.publication)
    gate_.look_at(*state.publication, checks);
  else
    gate_.look_away();
  auto why_not = gate_.closed_by();
  const std::lock_guard lock(mutex_);
  if (!is_closed()) source_.update(state, pushed, run_directory, std::move(why_not), now);
  return true;
}

// False: out of descriptors.
bool subscription::make_sources() {
  auto made =
      std::make_unique<shared_sources>([this] { return std::make_shared<subscription>(one_publisher{}, *this); },
                                       options_.conflate != 0 && options_.newest_of == newest_of::all);
  const std::lock_guard lock(mutex_);
  if (made->fd() < 0 || !waiting_.can_watch_links()) return false;
  sources_ = std::move(made);
  return true;
}

subscription::follows subscription::follows_now() const noexcept {
  const std::lock_guard lock(mutex_);
  return follows_;
}

// False: the topic is not shared any more.
bool subscription::follow_sources(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                                  type_checks& checks, monotonic::time_point now) {
  if (state.shared && follows_now() == follows::one) {
    gate_.look_away();
    const std::lock_guard lock(mutex_);
    if (is_closed()) return true;
    source_.stand_aside();
    waiting_.watch(sources_->fd());
    follows_ = follows::shared;
  }
  if (const auto what = follows_now(); what != follows::shared) return what == follows::none;
  if (!state.publication) {
    sources_->follow(state, pushed, run_directory, checks, now);
    return true;  // step() follows
  }
  sources_->clear();
  end_sources(now);
  return false;
}

void subscription::end_sources(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (follows_ != follows::shared) return;
  waiting_.watch(-1);
  follows_ = follows::one;
  source_.resume(now);
}

void subscription::check_type(const type_description& published, type_checks& checks, monotonic::time_point now) {
  gate_.compare(published, checks);
  auto why_not = gate_.closed_by();
  const std::lock_guard lock(mutex_);
  if (!is_closed()) source_.judge(std::move(why_not), now);
}

// Over multicast the link learns the types.
std::optional<type_gate::news> subscription::take_news(monotonic::time_point now) {
  if (now < next_news_) return std::nullopt;
  auto news = gate_.take_news();
  if (!news) {
    const std::lock_guard lock(mutex_);
    if (!source_.take_type_news() || source_.type_problem() == nullptr) return std::nullopt;
    news.emplace(type_gate::news{log_level::warning, source_.type_problem()->message()});
  }
  next_news_ = now + between_news;
  return news;
}

std::optional<wire::type_mismatch> subscription::type_report(monotonic::time_point now) const {
  if (!gate_.report() || now < next_report_) return std::nullopt;
  return wire::type_mismatch{topic_, id_, *gate_.report(), {}, 0, gate_.publication()};
}

void subscription::reported(monotonic::time_point now) noexcept {
  gate_.forget_report();
  next_report_ = now + between_news;
}

bool subscription::has_type_work() const {
  if (gate_.awaited() != nullptr || gate_.has_news() || gate_.report()) return true;
  {
    const std::lock_guard lock(mutex_);
    if (source_.has_type_news()) return true;
  }
  bool has = false;
  for_each_part([&](const subscription& part) { has = has || part.has_type_work(); });
  return has;
}

bool subscription::take_call() noexcept {
  bool called = called_.exchange(false);
  for_each_part([&](subscription& part) { called = part.take_call() || called; });
  return called;
}

bool subscription::is_over() const noexcept {
  const std::lock_guard lock(mutex_);
  return source_.is_idle() && inbox_.empty();
}

void subscription::step(monotonic::time_point now) {
  if (sources_ && follows_now() == follows::shared) {
    const bool news = sources_->step(now);
    if (sources_->empty()) return end_sources(now);
    if (!news) return;
    const std::lock_guard lock(mutex_);
    waiting_.ring();
    return;
  }
  std::shared_ptr<upkeep> work;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed()) return;
    source_.step(now);
    if (should_drain(now)) drain_link(now);
    work = source_.work();
  }
  if (!work) return;
  work->step();
  const std::lock_guard lock(mutex_);
  if (!is_closed()) source_.step(now);
}

void subscription::network_changed(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!is_closed()) source_.network_changed(now);
}

std::optional<monotonic::time_point> subscription::drain(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (is_closed() || !should_drain(now)) return std::nullopt;
  drain_link(now);
  if (source_.link()->state() != link_state::connected || !drain_policy_.user_is_away()) return std::nullopt;
  return drain_policy_.next(now).value_or(now);
}

bool subscription::should_drain(monotonic::time_point now) noexcept {
  const subscriber_link* const link = source_.link();
  return link != nullptr && link->fd() >= 0 && drain_policy_.should_drain(now, waiting_.is_awaited());
}

void subscription::drain_link(monotonic::time_point now) noexcept {
  const bool found = pull(*source_.link());
  drain_policy_.drained(now, found);
  if (found && waiting_.is_awaited()) waiting_.ring();
}

subscription::absent_link subscription::link_to_drain(monotonic::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (source_.link() == nullptr || !drain_policy_.user_is_away()) return {};
  return {source_.link()->fd(), drain_policy_.next(now).value_or(now)};
}

wire::request_topic subscription::request() const {
  wire::request_topic request{
      topic_, id_, static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(options_.max_age).count())};
  if (type_) request.type = type_->reference;
  return request;
}

std::optional<error> subscription::why_deaf() const {
  const std::lock_guard lock(mutex_);
  return source_.failure();
}

void subscription::append_fds(std::vector<int>& to) const {
  const std::lock_guard lock(mutex_);
  if (follows_ == follows::shared) return sources_->append_fds(to);
  source_.append_fds(to);
}

monotonic::time_point subscription::next_step(monotonic::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (follows_ == follows::shared) return sources_->next_step(now);
  const auto next = source_.next_step(now);
  const subscriber_link* const link = source_.link();
  if (link == nullptr || link->fd() < 0 || drain_policy_.user_is_away()) return next;
  return std::min(next, drain_policy_.next(now).value_or(next));
}

wire::subscription_counters subscription::counters() {
  const std::lock_guard lock(mutex_);
  wire::subscription_counters now{
      .subscription = id_,
      .sampled_ns = static_cast<std::uint64_t>(monotonic::now().time_since_epoch().count()),
      .malformed = source_.malformed(),
      .transport = source_.is_connected() ? source_.linked_to().transport : wire::transport::none,
      .reason = source_.public_reason()};
  inbox_.report(now);
  if (predictor_) {
    const prediction_info& of = predictor_->figures();
    now.prediction =
        wire::prediction{static_cast<std::uint64_t>(of.period_ns), of.hits, of.early, of.misses, of.watched_ns};
  }
  if (sources_) sources_->report(now);
  return now;
}

}  // namespace orc::detail
