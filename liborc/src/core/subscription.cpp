#include "core/subscription.h"

#include <algorithm>
#include <utility>

#include "base/fork_generation.h"

namespace orc::detail {

namespace {

constexpr std::size_t default_depth = 64;
constexpr int max_looks = 16;  // of one poll that finds only old samples

[[nodiscard]] std::uint32_t depth_of(const request_options& options) noexcept {
  if (options.conflate != 0) return 0;
  return static_cast<std::uint32_t>(options.depth == 0 ? default_depth : options.depth);
}

[[nodiscard]] bool is_lost(const subscriber_link& link) noexcept { return link.state() == link_state::lost; }

}  // namespace

subscription::subscription(std::string topic, const request_options& options, transport_set allowed,
                           std::shared_ptr<const transport_list> transports,
                           std::shared_ptr<doorbell> housekeeping_bell, const std::string& multicast, bool open,
                           bool alone)
    : topic_(std::move(topic)),
      type_(describe(options.type)),
      options_(without_type(options)),
      generation_(fork_generation()),
      housekeeping_bell_(std::move(housekeeping_bell)),
      gate_(topic_, type_, options.type_check),
      inbox_(depth_of(options), options.max_age_ms),
      waiting_(std::chrono::microseconds(options.spin_us)),
      source_({.topic = topic_,
               .publication = {},
               .id = id_,
               .secret = 0,
               .delivery = {depth_of(options)},
               .options = options_,
               .alone = alone,
               .newest = 0,
               .bell = waiting_.bell(),
               .type = type_},
              allowed, std::move(transports), open ? multicast : std::string(), inbox_, waiting_, monotonic::now()) {}

bool subscription::was_made_with(const request_options& again) const noexcept {
  const request_options none;
  const bool queue_is_default = again.conflate == none.conflate && again.depth == none.depth;
  const bool same_queue = depth_of(again) == depth_of(options_);
  return (queue_is_default || same_queue) && (again.transports.empty() || again.transports == options_.transports) &&
         (again.max_messages == none.max_messages || again.max_messages == options_.max_messages) &&
         (again.spin_us == none.spin_us || again.spin_us == options_.spin_us) &&
         (again.max_age_ms == none.max_age_ms || again.max_age_ms == options_.max_age_ms) &&
         (again.type.empty() || (type_ && again.type == type_->description)) &&
         (again.type_check == none.type_check || again.type_check == options_.type_check);
}

// ---- users ----

message subscription::recv(int timeout_ms, pick which) noexcept {
  if (timeout_ms < -1) return message(errc::bad_argument);
  if (generation_ != fork_generation()) return message(errc::forked);
  const deadline until(timeout_ms);
  int too_old = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed_) return message(errc::closed);
    drain_policy_.user_came();
    const std::uint32_t ticket = waiting_.ticket();
    if (message direct = take_from_link(which)) return direct;
    subscriber_link* const link = source_.link();
    // A link that was left empty shows its descriptor when a sample arrives: looking first would cost a system call.
    // But the queue may hold something older than what the link has now, if the housekeeping drained it.
    const bool may_be_old = !inbox_.in_order() && which == pick::newest && !inbox_.empty();
    const bool looked = link != nullptr && link->keeps_samples() && inbox_.empty();
    const bool should_look = !inbox_.is_dry() || timeout_ms == 0 || may_be_old;
    if (link != nullptr && !looked && should_look) pull(*link, which);
    if (!inbox_.empty()) {
      if (message taken = take_from_queue()) return taken;
      // All of it was too old. Newer samples may follow.
      if (++too_old < max_looks || (timeout_ms != 0 && !until.passed())) {
        inbox_.look_again();
        lock.unlock();  // a publisher of old samples that is faster than this thread must not keep others out
        lock.lock();
        continue;
      }
    }
    if (link != nullptr && link->exhausted()) return message(errc::too_many_messages);
    if (timeout_ms == 0) return message(errc::nothing_new);
    if (until.passed()) return message(errc::timed_out);
    waiting_.wait(lock, ticket, until);
    inbox_.look_again();
  }
}

// A link that keeps its samples needs no queue in between.
message subscription::take_from_link(pick which) noexcept {
  subscriber_link* const link = source_.link();
  if (link == nullptr || !link->keeps_samples() || !inbox_.empty()) return {};
  const bool was_lost = is_lost(*link);
  sample s;
  const bool found = inbox_.take_from(*link, which, s);
  waiting_.look_for_alerts();
  if (!was_lost && is_lost(*link)) housekeeping_bell_->ring();
  return found ? hand_out(std::move(s)) : message();
}

message subscription::take_from_queue() noexcept {
  sample s;
  return inbox_.take(s) ? hand_out(std::move(s)) : message();
}

message subscription::hand_out(sample&& s) noexcept {
  const std::uint64_t missed = inbox_.returned(s);
  // Wakes another waiting thread, or the user's event loop, for the rest.
  const subscriber_link* const link = source_.link();
  const bool more =
      !inbox_.empty() || (inbox_.in_order() && link != nullptr && link->keeps_samples() && link->has_more());
  if (more && waiting_.is_awaited()) waiting_.ring();
  return {std::move(s.buffer), s.sequence, s.stamp_ns, missed};
}

bool subscription::pull(subscriber_link& link, pick which) noexcept {
  const bool was_lost = is_lost(link);
  const bool found = inbox_.pull(link, which);
  if (!was_lost && is_lost(link)) {
    waiting_.link_is_lost();
    housekeeping_bell_->ring();
  }
  return found;
}

int subscription::fd() noexcept {
  if (generation_ != fork_generation()) return -1;
  const std::lock_guard lock(mutex_);
  if (closed_ && !waiting_.has_fd()) return -1;
  return waiting_.fd();
}

bool subscription::connected() const noexcept {
  if (generation_ != fork_generation()) return false;
  const std::lock_guard lock(mutex_);
  return source_.is_connected();
}

result subscription::wait_connected(int timeout_ms) noexcept {
  if (timeout_ms < -1) return errc::bad_argument;
  if (generation_ != fork_generation()) return errc::forked;
  const deadline until(timeout_ms);
  for (;;) {
    const std::uint32_t ticket = waiting_.bell()->ticket();
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return errc::closed;
      if (source_.is_connected()) return {};
      const obstacle* const why_not = source_.kept_away_by();
      if (why_not != nullptr && why_not->mismatch) return *why_not->mismatch;
      if (timeout_ms == 0 || until.passed()) {
        // Any program can send on an open channel, so a sender of another type does not end the wait.
        if (const error* const problem = source_.type_problem()) return *problem;
        return errc::timed_out;
      }
    }
    waiting_.bell()->wait(ticket, until);
  }
}

result subscription::check_type() const noexcept {
  if (generation_ != fork_generation()) return errc::forked;
  const std::lock_guard lock(mutex_);
  if (closed_) return errc::closed;
  const obstacle* const why_not = source_.kept_away_by();
  if (why_not != nullptr && why_not->mismatch) return *why_not->mismatch;
  return {};
}

result subscription::wait_checked(const deadline& until) noexcept {
  for (;;) {
    const std::uint32_t ticket = waiting_.bell()->ticket();
    {
      const std::lock_guard lock(mutex_);
      const obstacle* const why_not = source_.kept_away_by();
      if (closed_ || why_not == nullptr) return {};
      if (why_not->mismatch) return *why_not->mismatch;
    }
    if (until.passed()) return {};
    waiting_.bell()->wait(ticket, until);
  }
}

link_info subscription::link() const {
  if (generation_ != fork_generation()) return {};
  const std::lock_guard lock(mutex_);
  const bool connected = source_.is_connected();
  return {.connected = connected,
          .transport = connected ? static_cast<transport>(source_.linked_to().transport) : transport{},
          .reason = source_.reason(monotonic::now()),
          .stale = inbox_.stale()};
}

void subscription::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  source_.stop();
  inbox_.clear();
  waiting_.ring();
}

// ---- housekeeping ----

void subscription::update(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                          type_checks& checks, monotonic::time_point now) {
  if (state.publication)
    gate_.look_at(*state.publication, checks);
  else
    gate_.look_away();
  auto why_not = gate_.closed_by();
  const std::lock_guard lock(mutex_);
  if (!closed_) source_.update(state, pushed, run_directory, std::move(why_not), now);
}

void subscription::check_type(const type_description& published, type_checks& checks, monotonic::time_point now) {
  gate_.compare(published, checks);
  auto why_not = gate_.closed_by();
  const std::lock_guard lock(mutex_);
  if (!closed_) source_.judge(std::move(why_not), now);
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
  return wire::type_mismatch{topic_, id_, *gate_.report(), {}, 0};
}

void subscription::reported(monotonic::time_point now) noexcept {
  gate_.forget_report();
  next_report_ = now + between_news;
}

void subscription::step(monotonic::time_point now) {
  std::shared_ptr<upkeep> work;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    source_.step(now);
    if (should_drain(now)) drain_link(now);
    work = source_.work();
  }
  if (!work) return;
  work->step();
  const std::lock_guard lock(mutex_);
  if (!closed_) source_.step(now);
}

std::optional<monotonic::time_point> subscription::drain(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !should_drain(now)) return std::nullopt;
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
  wire::request_topic request{topic_, id_, static_cast<std::uint32_t>(options_.max_age_ms)};
  if (type_) request.type = type_->reference;
  return request;
}

std::optional<error> subscription::why_deaf() const {
  const std::lock_guard lock(mutex_);
  return source_.failure();
}

void subscription::append_fds(std::vector<int>& to) const {
  const std::lock_guard lock(mutex_);
  source_.append_fds(to);
}

monotonic::time_point subscription::next_step(monotonic::time_point now) const {
  const std::lock_guard lock(mutex_);
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
  return now;
}

}  // namespace orc::detail
