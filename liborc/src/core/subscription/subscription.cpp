#include "core/subscription/subscription.h"

#include <algorithm>
#include <utility>

#include "base/process/fork_generation.h"
#include "base/threads/fine_timers.h"

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
      allowed_(allowed),
      transports_(std::move(transports)),
      generation_(fork_generation()),
      housekeeping_bell_(std::move(housekeeping_bell)),
      gate_(topic_, type_, options.type_check),
      inbox_(depth_of(options), options.max_age),
      waiting_(options.spin),
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
              allowed_, transports_, open ? multicast : std::string(), inbox_, waiting_, monotonic::now()) {
  if (options_.wait == wait::predictive) predictor_.emplace(options_.cpu_budget);
}

subscription::subscription(one_publisher, const subscription& of)
    : topic_(of.topic_),
      id_(of.id_),
      type_(of.type_),
      options_(of.options_),
      allowed_(of.allowed_),
      transports_(of.transports_),
      generation_(of.generation_),
      housekeeping_bell_(of.housekeeping_bell_),
      gate_(topic_, type_, options_.type_check),
      inbox_(depth_of(options_), options_.max_age),
      waiting_(std::chrono::nanoseconds(0)),
      source_({.topic = topic_,
               .publication = {},
               .id = id_,
               .secret = 0,
               .delivery = {depth_of(options_)},
               .options = options_,
               .alone = false,
               .newest = 0,
               .bell = waiting_.bell(),
               .type = type_},
              allowed_, transports_, {}, inbox_, waiting_, monotonic::now()) {}

subscription::~subscription() = default;

bool subscription::was_made_with(const request_options& again) const noexcept {
  const request_options none;
  const bool queue_is_default = again.conflate == none.conflate && again.depth == none.depth;
  const bool same_queue = depth_of(again) == depth_of(options_);
  return (queue_is_default || same_queue) && (again.transports.empty() || again.transports == options_.transports) &&
         (again.max_messages == none.max_messages || again.max_messages == options_.max_messages) &&
         (again.spin == none.spin || again.spin == options_.spin) &&
         (again.wait == none.wait || again.wait == options_.wait) &&
         (again.cpu_budget == none.cpu_budget || again.cpu_budget == options_.cpu_budget) &&
         (again.max_age == none.max_age || again.max_age == options_.max_age) &&
         (again.type.empty() || (type_ && again.type == type_->description)) &&
         (again.type_check == none.type_check || again.type_check == options_.type_check) &&
         (again.newest_of == none.newest_of || again.newest_of == options_.newest_of);
}

message subscription::recv(std::chrono::nanoseconds timeout, pick which) noexcept {
  if (timeout.count() < 0) return message(errc::bad_argument);
  if (generation_ != fork_generation()) return message(errc::forked);
  const deadline until(timeout);
  const bool polls = timeout.count() == 0;
  int too_old = 0;
  std::unique_lock lock(mutex_);
  found_ = predictor::found::there;
  for (;;) {
    if (follows_ != follows::one) [[unlikely]] {
      if (is_closed()) return message(errc::closed);
      const std::uint32_t ticket = waiting_.ticket();
      message found = take_from_sources(which);
      if (found || found.status() == errc::too_many_messages) return found;
      if (polls) return message(errc::nothing_new);
      if (until.passed()) return message(errc::timed_out);
      waiting_.wait(lock, ticket, until);
      continue;
    }
    drain_policy_.user_came();
    const std::uint32_t ticket = waiting_.ticket();
    if (message direct = take_from_link(which)) return direct;
    subscriber_link* const link = source_.link();
    // A link that was left empty shows its descriptor when a sample arrives: looking first would cost a system call.
    // But the queue may hold something older than what the link has now, if the housekeeping drained it.
    const bool may_be_old = !inbox_.in_order() && which == pick::newest && !inbox_.empty();
    const bool looked = link != nullptr && link->keeps_samples() && inbox_.empty();
    const bool should_look = !inbox_.is_dry() || polls || may_be_old;
    if (link != nullptr && !looked && should_look) pull(*link, which);
    if (!inbox_.empty()) {
      if (message taken = take_from_queue()) return taken;
      // All of it was too old. Newer samples may follow.
      if (++too_old < max_looks || (!polls && !until.passed())) {
        inbox_.look_again();
        lock.unlock();  // a publisher of old samples that is faster than this thread must not keep others out
        lock.lock();
        continue;
      }
    }
    if (link != nullptr && link->exhausted()) return message(errc::too_many_messages);
    if (polls) return message(errc::nothing_new);
    if (until.passed()) return message(errc::timed_out);
    wait_for_sample(lock, ticket, until);
    inbox_.look_again();
  }
}

void subscription::wait_for_sample(std::unique_lock<pi_mutex>& lock, std::uint32_t ticket,
                                   const deadline& until) noexcept {
  const auto window = predictor_ && !waiting_.is_led() ? predictor_->next() : std::nullopt;
  const std::int64_t now = window ? realtime_ns() : 0;
  const bool overslept = found_ == predictor::found::asleep;  // then one look tells that the sample is late
  if (!window || (now >= window->to && !overslept)) {
    waiting_.wait(lock, ticket, until);
    found_ = predictor::found::asleep;
    return;
  }
  // From here on by the monotonic clock: the other one may be set meanwhile.
  const auto begin = monotonic::now();
  const auto from = begin + std::chrono::nanoseconds(window->from - now);
  const auto to = begin + std::chrono::nanoseconds(window->to - now);
  if (begin < from) {
    fine_timers();
    waiting_.wait(lock, ticket, until.or_at(from));
    found_ = predictor::found::asleep;
    const auto awake = monotonic::now();
    if (awake >= from && !until.passed()) predictor_->overslept((awake - from).count());
    return;  // the caller takes a sample that came during the sleep, or comes back to watch
  }
  const bool news = waiting_.look_out(lock, ticket, until.or_at(to));
  found_ = predictor::found::watching;
  predictor_->watched((monotonic::now() - begin).count(), !news && !until.passed());
}

// The queue may have samples of a publication that was there before the topic was shared.
message subscription::take_from_sources(pick which) noexcept {
  if (!inbox_.empty()) {
    if (message taken = take_from_queue()) return taken;
  }
  return sources_->take(which);
}

// A link that keeps its samples needs no queue in between.
message subscription::take_from_link(pick which) noexcept {
  subscriber_link* const link = source_.link();
  if (link == nullptr || !link->keeps_samples() || !inbox_.empty()) return {};
  const bool was_lost = is_lost(*link);
  sample s;
  const bool found = inbox_.take_from(*link, which, s);
  waiting_.look_for_alerts();
  if (!was_lost && is_lost(*link)) call_housekeeping();
  return found ? hand_out(std::move(s)) : message();
}

message subscription::take_from_queue() noexcept {
  sample s;
  return inbox_.take(s) ? hand_out(std::move(s)) : message();
}

message subscription::hand_out(sample&& s) noexcept {
  const std::uint64_t missed = inbox_.returned(s);
  if (predictor_) predictor_->arrived(s.sequence, s.stamp_ns, realtime_ns(), found_);
  // Wakes another waiting thread, or the user's event loop, for the rest.
  const subscriber_link* const link = source_.link();
  const bool more =
      !inbox_.empty() || (inbox_.in_order() && link != nullptr && link->keeps_samples() && link->has_more());
  if (more && waiting_.is_awaited()) waiting_.ring();
  return {std::move(s.buffer), s.sequence, s.stamp_ns, missed};
}

void subscription::call_housekeeping() noexcept {
  called_ = true;
  housekeeping_bell_->ring();
}

bool subscription::pull(subscriber_link& link, pick which) noexcept {
  const bool was_lost = is_lost(link);
  const bool found = inbox_.pull(link, which);
  if (!was_lost && is_lost(link)) {
    waiting_.link_is_lost();
    call_housekeeping();
  }
  return found;
}

int subscription::fd() noexcept {
  if (generation_ != fork_generation()) return -1;
  const std::lock_guard lock(mutex_);
  if (is_closed() && !waiting_.has_fd()) return -1;
  return waiting_.fd();
}

bool subscription::connected() const noexcept {
  if (generation_ != fork_generation()) return false;
  const std::lock_guard lock(mutex_);
  return is_connected();
}

bool subscription::is_linked() const noexcept {
  if (generation_ != fork_generation()) return false;
  const std::lock_guard lock(mutex_);
  return follows_ == follows::shared ? is_connected() : source_.is_linked();
}

bool subscription::is_connected() const noexcept {
  return follows_ == follows::shared ? sources_->connected() != 0 : source_.is_connected();
}

std::optional<error> subscription::mismatch() const noexcept {
  if (follows_ == follows::shared) return sources_->mismatch();
  const obstacle* const why_not = source_.kept_away_by();
  return why_not != nullptr ? why_not->mismatch : std::nullopt;
}

result subscription::wait_connected(std::chrono::nanoseconds timeout) noexcept {
  if (timeout.count() < 0) return errc::bad_argument;
  return wait_connected(deadline(timeout));
}

result subscription::wait_connected(const deadline& until) noexcept {
  if (generation_ != fork_generation()) return errc::forked;
  for (;;) {
    const std::uint32_t ticket = waiting_.bell()->ticket();
    {
      const std::lock_guard lock(mutex_);
      if (is_closed()) return errc::closed;
      if (is_connected()) return {};
      if (auto why_not = mismatch()) return *std::move(why_not);
      if (until.passed()) {
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
  if (is_closed()) return errc::closed;
  if (auto why_not = mismatch()) return *std::move(why_not);
  return {};
}

bool subscription::compares_types() const noexcept {
  const std::lock_guard lock(mutex_);
  if (is_closed()) return false;
  if (follows_ == follows::shared) return sources_->compares_types();
  const obstacle* const why_not = source_.kept_away_by();
  return why_not != nullptr && !why_not->mismatch;
}

result subscription::wait_checked(const deadline& until) noexcept {
  for (;;) {
    const std::uint32_t ticket = waiting_.bell()->ticket();
    if (!compares_types() || until.passed()) {
      const result checked = check_type();
      return checked.code() == errc::type_mismatch ? checked : result();
    }
    waiting_.bell()->wait(ticket, until);
  }
}

link_info subscription::link() const {
  if (generation_ != fork_generation()) return {};
  const std::lock_guard lock(mutex_);
  if (follows_ == follows::shared) return sources_->link();
  const bool connected = source_.is_connected();
  std::string reason = source_.reason(monotonic::now());
  if (const std::string why_not = connected && predictor_ ? predictor_->why_not() : std::string(); !why_not.empty())
    reason += (reason.empty() ? "" : "; ") + ("not predicted: " + why_not);
  return {.connected = connected,
          .transport = connected ? static_cast<transport>(source_.linked_to().transport) : transport{},
          .reason = std::move(reason),
          .stale = inbox_.stale(),
          .prediction = predictor_ ? predictor_->figures() : prediction_info()};
}

std::vector<publisher_info> subscription::publishers() const {
  if (generation_ != fork_generation()) return {};
  const std::lock_guard lock(mutex_);
  return sources_ ? sources_->publishers() : std::vector<publisher_info>();
}

publisher_info subscription::publisher(std::uint32_t number) const {
  if (generation_ != fork_generation()) return {};
  const std::lock_guard lock(mutex_);
  return sources_ ? sources_->publisher(number) : publisher_info();
}

void subscription::close() noexcept {
  const std::lock_guard lock(mutex_);
  follows_ = follows::none;
  if (sources_) sources_->close();
  source_.stop();
  inbox_.clear();
  waiting_.ring();
}

}  // namespace orc::detail
