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
      options_(options),
      generation_(fork_generation()),
      housekeeping_bell_(std::move(housekeeping_bell)),
      inbox_(depth_of(options), options.max_age_ms),
      waiting_(std::chrono::microseconds(options.spin_us)),
      source_({.topic = topic_,
               .publication = {},
               .id = id_,
               .secret = 0,
               .delivery = {depth_of(options)},
               .options = options,
               .alone = alone,
               .newest = 0,
               .bell = waiting_.bell()},
              allowed, std::move(transports), open ? multicast : std::string(), inbox_, waiting_, monotonic::now()) {}

bool subscription::was_made_with(const request_options& again) const noexcept {
  const request_options none;
  const bool queue_is_default = again.conflate == none.conflate && again.depth == none.depth;
  const bool same_queue = depth_of(again) == depth_of(options_);
  return (queue_is_default || same_queue) && (again.transports.empty() || again.transports == options_.transports) &&
         (again.max_messages == none.max_messages || again.max_messages == options_.max_messages) &&
         (again.spin_us == none.spin_us || again.spin_us == options_.spin_us) &&
         (again.max_age_ms == none.max_age_ms || again.max_age_ms == options_.max_age_ms);
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
    }
    if (timeout_ms == 0 || until.passed()) return errc::timed_out;
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
                          monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!closed_) source_.update(state, pushed, run_directory, now);
}

void subscription::step(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  source_.step(now);
  if (should_drain(now)) drain_link(now);
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
