#include "core/subscription.h"

#include <algorithm>

#include "base/fork_generation.h"

namespace orc::detail {

namespace {

constexpr auto path_interval = std::chrono::milliseconds(500);
constexpr auto broker_answers_within = std::chrono::milliseconds(500);
constexpr std::size_t default_depth = 64;
constexpr int most_looks = 16;                    // of one poll that finds only old samples
constexpr std::size_t most_per_pump = 16 * 1024;  // a publisher that is faster than this thread must not keep the lock
constexpr std::size_t most_bytes_per_pump = 16 * 1024 * 1024;

[[nodiscard]] std::uint32_t depth_of(const request_options& options) noexcept {
  if (options.conflate != 0) return 0;
  return static_cast<std::uint32_t>(options.depth == 0 ? default_depth : options.depth);
}

}  // namespace

subscription::subscription(std::string topic, const request_options& options, transport_set allowed,
                           std::shared_ptr<const transport_list> transports,
                           std::shared_ptr<doorbell> housekeeping_bell, const std::string& multicast, bool open,
                           bool alone)
    : topic_(std::move(topic)),
      options_(options),
      generation_(fork_generation()),
      housekeeping_bell_(std::move(housekeeping_bell)),
      open_address_(open ? multicast : std::string()),
      selector_({.topic = topic_,
                 .publication = {},
                 .id = id_,
                 .secret = 0,
                 .delivery = {depth_of(options)},
                 .options = options,
                 .alone = alone,
                 .newest = 0,
                 .bell = bell_},
                allowed, std::move(transports)),
      in_order_(depth_of(options) != 0),
      queue_(std::max<std::uint32_t>(1, depth_of(options))) {
  if (!open_address_.empty()) listen_openly_at_ = alone ? monotonic::now() : monotonic::now() + broker_answers_within;
}

bool subscription::was_made_with(const request_options& again) const noexcept {
  const request_options none;
  const bool queue_is_default = again.conflate == none.conflate && again.depth == none.depth;
  const bool same_queue = depth_of(again) == depth_of(options_);
  return (queue_is_default || same_queue) && (again.transports.empty() || again.transports == options_.transports) &&
         (again.max_messages == none.max_messages || again.max_messages == options_.max_messages) &&
         (again.spin_us == none.spin_us || again.spin_us == options_.spin_us) &&
         (again.max_age_ms == none.max_age_ms || again.max_age_ms == options_.max_age_ms);
}

message subscription::recv(int timeout_ms, pick which) noexcept {
  if (timeout_ms < -1) return message(errc::bad_argument);
  if (generation_ != fork_generation()) return message(errc::forked);
  const deadline until(timeout_ms);
  int too_old = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (closed_) return message(errc::closed);
    attendance_.user_came();
    if (!leader_) bell_->clear();  // else this thread would take the leader's wake-up
    const std::uint32_t ticket = bell_->ticket();
    if (message direct = take_from_link(which)) return direct;
    // A link that was left empty shows its descriptor when a sample arrives: looking first would cost a system call.
    // But the queue may hold something older than what the link has now, if the housekeeping drained it.
    const bool may_be_old = !in_order_ && which == pick::newest && !queue_.empty();
    const bool looked = link_ && link_->keeps_samples() && queue_.empty();
    if (!looked && (!dry_ || timeout_ms == 0 || may_be_old)) pump(which);
    if (!queue_.empty()) {
      if (message taken = take()) return taken;
      // All of it was too old. Newer samples may follow.
      if (++too_old < most_looks || (timeout_ms != 0 && !until.passed())) {
        dry_ = false;
        lock.unlock();  // a publisher of old samples that is faster than this thread must not keep others out
        lock.lock();
        continue;
      }
    }
    if (link_ && link_->exhausted()) return message(errc::too_many_messages);
    if (timeout_ms == 0) return message(errc::nothing_new);
    if (until.passed()) return message(errc::timed_out);
    wait(lock, ticket, until);
    dry_ = false;
  }
}

// A link that keeps its samples needs no queue in between.
message subscription::take_from_link(pick which) noexcept {
  if (!link_ || !link_->keeps_samples() || !queue_.empty()) return {};
  const bool was_lost = link_->state() == link_state::lost;
  sample s;
  bool found = false;
  for (std::size_t n = 0; n < most_per_pump && !found && link_->try_recv(s, which); ++n)
    found = count(s) && !discard_if_old(s);
  watch_alerts();
  if (!was_lost && link_->state() == link_state::lost) housekeeping_bell_->ring();
  return found ? hand_out(std::move(s)) : message();
}

bool subscription::pump(pick which) noexcept {
  if (!link_) return false;
  const bool was_lost = link_->state() == link_state::lost;
  const bool one_at_a_time = link_->keeps_samples();
  if (one_at_a_time && !queue_.empty() && (in_order_ || which == pick::next)) return false;
  bool found = false;
  sample s;
  std::size_t bytes = 0;
  for (std::size_t n = 0; n < most_per_pump && bytes < most_bytes_per_pump && link_->try_recv(s, which); ++n) {
    bytes += s.buffer.size();
    found = accept(std::move(s)) || found;
    if (!in_order_ || (one_at_a_time && found)) break;  // nothing is left, or it should stay in the link
  }
  dry_ = link_->fd() >= 0 && !link_->has_more();
  if (!was_lost && link_->state() == link_state::lost) {
    watch_for_user(link_->fd(), false);  // a lost link stays readable
    housekeeping_bell_->ring();
  }
  return found;
}

bool subscription::accept(sample&& s) noexcept {
  if (!count(s)) return false;
  if (in_order_ && queue_.full() && queue_.front().era != era_) skip(queue_.front());
  queue_.push(std::move(s));
  return true;
}

// False: it came before.
bool subscription::count(sample& s) noexcept {
  if (s.sequence <= newest_) return false;  // repeated after a reconnection
  newest_ = s.sequence;
  s.era = era_;
  s.before_first = before_first_.value_or(s.sequence - 1);
  ++received_;
  bytes_ += s.buffer.size();
  if (std::exchange(age_is_old_, false)) age_ns_ = age_of(s.stamp_ns);
  return true;
}

// Takes the remaining samples of a link that ends, and copies them from the publisher's memory.
void subscription::save_samples() noexcept {
  if (!link_) return;
  link_->drain();
  if (!link_->keeps_samples() || !in_order_) {
    pump();
    return;
  }
  sample s;
  for (std::size_t n = 0; n < most_per_pump && link_->try_recv(s); ++n) {
    s.buffer = share_frame(s.buffer);
    if (!s.buffer) return;
    accept(std::move(s));
  }
}

// Counts the samples of the same publication between the last returned one and this one. Samples that were sent before
// the link came up do not count.
std::uint64_t subscription::gap_before(const sample& s) noexcept {
  const bool same_publication = s.era == returned_era_ && returned_ != 0;
  const std::uint64_t before = same_publication ? returned_ : s.before_first;
  returned_era_ = s.era;
  returned_ = s.sequence;
  return s.sequence > before ? s.sequence - before - 1 : 0;
}

// Drops the last samples of an older publication to make room, and counts them: nothing else will.
void subscription::skip(const sample& s) noexcept { unseen_ += gap_before(s) + 1; }

// Returns the next sample of the queue that is young enough, or nothing.
message subscription::take() noexcept {
  sample s;
  while (queue_.pop(s)) {
    if (!discard_if_old(s)) return hand_out(std::move(s));
  }
  return {};
}

// Drops a sample that is too old. `missed` of the next returned sample counts it.
bool subscription::discard_if_old(const sample& s) noexcept {
  if (options_.max_age_ms == 0 || age_of(s.stamp_ns) <= std::int64_t{options_.max_age_ms} * 1'000'000) return false;
  ++stale_;
  skip(s);
  return true;
}

message subscription::hand_out(sample&& s) noexcept {
  const std::uint64_t missed = gap_before(s) + std::exchange(unseen_, 0);
  missed_ += missed;
  // Wakes another waiting thread, or the user's event loop, for the rest.
  const bool more = !queue_.empty() || (in_order_ && link_ && link_->keeps_samples() && link_->has_more());
  if (more && (waiting_ != 0 || user_fd_)) ring();
  return {std::move(s.buffer), s.sequence, s.stamp_ns, missed};
}

void subscription::update(const wire::topic_state& state, bool pushed, const std::string& run_directory) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  selector_.look_in(run_directory);
  if (state.publication) {
    listen_openly_at_ = monotonic::time_point::max();
    follow(state.publication->publication, state.publication->endpoints);
  } else if (publication_ == wire::id{}) {
    if (!open_address_.empty() && !link_) listen_openly();
  } else if (pushed) {
    const auto now = monotonic::now();
    departure_.begin(now);
    selector_.try_no_more();
    if (auto chosen = selector_.step(now)) adopt(std::move(*chosen));
    ring();
  }
  // Not pushed: a broker that has just started may not know the publication yet. The state of the link is more
  // reliable.
}

void subscription::follow(const wire::id& publication, const std::vector<wire::endpoint>& endpoints) {
  const bool same = publication == publication_;
  if (same && departure_.is_said()) {
    departure_.forget();
    ring();
  }
  if (same && endpoints == endpoints_ && (link_ || selector_.aiming())) return;
  if (!same) {
    save_samples();
    drop_link();
    last_end_.clear();
    departure_.forget();
    ++era_;
    newest_ = 0;
    before_first_.reset();
    publication_ = publication;
  }
  endpoints_ = endpoints;
  const bool link_stays = link_ && std::find(endpoints_.begin(), endpoints_.end(), linked_to_) != endpoints_.end();
  if (!link_stays) look_for_link(pace_.book(monotonic::now()));  // a link that is up serves until the new one is up
}

// The broker knows no publication: receives from any sender on the channel, such as LCM programs.
void subscription::listen_openly() {
  listen_openly_at_ = monotonic::time_point::max();
  follow({}, {{wire::transport::multicast, open_address_}});
}

void subscription::step(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (now >= listen_openly_at_) listen_openly();
  if (auto chosen = selector_.step(now)) adopt(std::move(*chosen));
  if (link_ && link_->control_fd() >= 0) {
    link_->service();
    watch_alerts();
    if (link_->has_more()) dry_ = false;
    if (link_->has_more() && (waiting_ != 0 || user_fd_)) ring();  // it came in other memory than awaited
  }
  watch_path(now);
  departure_.look(now, received_);
  const bool ended = !link_ || link_->state() == link_state::lost || link_->state() == link_state::refused;
  if (departure_.is_said()) {
    const bool overdue = departure_.is_overdue(now);
    if (overdue) selector_.stop();
    if (ended || (overdue && !link_->keeps_samples())) {
      save_samples();
      drop_link();
      if (!open_address_.empty() && !selector_.waits()) listen_openly();
      return;
    }
  }
  if (!link_) return;
  if (ended) {
    save_samples();
    last_end_ = "the link (" + address_text(linked_to_) + ") ended: " + end_text(link_->why_ended());
    drop_link();
    // A link that ends at once must not keep both sides busy.
    const bool short_lived = now - linked_at_ < link_selector::patience;
    look_for_link(short_lived ? now + link_selector::patience : pace_.book(now));
    return;
  }
  if (link_->fd() >= 0 && attendance_.should_drain(now, waiting_ != 0 || user_fd_)) drain_link(now);
}

// The path may be gone long before the connection ends. The link stays until there is another one, because the path may
// also return. All subscriptions check at the same time, so that they cost one turn.
void subscription::watch_path(monotonic::time_point now) {
  if (!link_ || now < next_look_at_path_) return;
  next_look_at_path_ = now - now.time_since_epoch() % path_interval + path_interval;
  if (link_->path_answers(now)) {
    if (std::exchange(is_silent_, false)) selector_.stop();
  } else if (!selector_.aiming()) {
    look_for_link(now);
    is_silent_ = true;
  }
}

void subscription::drain_link(monotonic::time_point now) {
  const bool found = pump();
  attendance_.drained(now, found);
  if (found && (waiting_ != 0 || user_fd_)) ring();
}

std::optional<monotonic::time_point> subscription::drain(monotonic::time_point now) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !link_ || link_->fd() < 0 || !attendance_.should_drain(now, waiting_ != 0 || user_fd_))
    return std::nullopt;
  drain_link(now);
  if (link_->state() != link_state::connected || !attendance_.user_is_away()) return std::nullopt;
  return attendance_.next(now).value_or(now);
}

subscription::absent_link subscription::link_to_drain(monotonic::time_point now) const {
  const std::lock_guard lock(mutex_);
  if (!link_ || !attendance_.user_is_away()) return {};
  return {link_->fd(), attendance_.next(now).value_or(now)};
}

void subscription::adopt(link_selector::choice&& chosen) {
  if (chosen.link->fd() >= 0 && bell_->fd() < 0)
    return look_for_link(pace_.book(monotonic::now()));  // without a descriptor no thread could wait on it
  save_samples();
  drop_link();
  link_ = std::move(chosen.link);
  dry_ = false;
  if (!before_first_) before_first_ = std::max<std::uint64_t>(link_->newest_at_join(), 1) - 1;
  linked_at_ = monotonic::now();
  linked_to_ = std::move(chosen.where);
  reason_ = std::move(chosen.reason);
  public_reason_ = std::move(chosen.public_reason);
  last_end_.clear();
  if (chosen.first) accept(std::move(*chosen.first));
  watch_for_user(link_->fd(), true);
  if (user_fd_) link_->want_alerts();
  ring();  // waiting threads look at the new link
}

void subscription::drop_link() noexcept {
  if (!link_) return;
  malformed_ += link_->malformed();
  watch_for_user(link_->fd(), false);
  watch_for_user(std::exchange(watched_alert_, -1), false);
  ring();
  link_.reset();
  if (!leader_) waited_for_.reset();
}

void subscription::look_for_link(monotonic::time_point from) {
  is_silent_ = false;
  selector_.aim(publication_, endpoints_, newest_, from);
}

void subscription::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  selector_.stop();
  drop_link();
  queue_.clear();
  ring();
}

bool subscription::has_link() const noexcept {
  return link_ && (!departure_.is_said() || departure_.sends_on()) && link_->state() == link_state::connected;
}

bool subscription::connected() const noexcept {
  if (generation_ != fork_generation()) return false;
  const std::lock_guard lock(mutex_);
  return has_link();
}

std::string subscription::why_no_link() const {
  if (!has_publisher() && !(selector_.aiming() && selector_.failure())) return "no publisher";
  if (!selector_.aiming()) return link_ ? "the link ended: " + end_text(link_->why_ended()) : "the link ended";
  const auto ways = selector_.notes(monotonic::now());
  return last_end_.empty() ? ways : last_end_ + "; " + ways;
}

std::string subscription::public_why_no_link() const {
  if (!has_publisher() && !(selector_.aiming() && selector_.failure())) return "no publisher";
  return selector_.aiming() ? selector_.public_notes() : "the link ended";
}

std::optional<error> subscription::why_deaf() const {
  const std::lock_guard lock(mutex_);
  return link_ ? std::nullopt : selector_.failure();
}

link_info subscription::link() const {
  if (generation_ != fork_generation()) return {};
  const std::lock_guard lock(mutex_);
  if (!has_link()) return {.connected = false, .transport = {}, .reason = why_no_link(), .stale = stale_};
  return {
      .connected = true, .transport = static_cast<transport>(linked_to_.transport), .reason = reason_, .stale = stale_};
}

void subscription::append_fds(std::vector<int>& to) const {
  const std::lock_guard lock(mutex_);
  selector_.append_fds(to);
  if (link_ && link_->control_fd() >= 0 && link_->state() == link_state::connected) to.push_back(link_->control_fd());
}

std::optional<monotonic::time_point> subscription::next_step(monotonic::time_point now) const {
  const std::lock_guard lock(mutex_);
  auto next = selector_.next_step();
  const auto sooner = [&next](monotonic::time_point at) { next = next ? std::min(*next, at) : at; };
  sooner(listen_openly_at_);
  if (link_ && linked_to_.transport == wire::transport::tcp) sooner(next_look_at_path_);
  if (const auto look = departure_.next_look(now); look && (selector_.waits() || link_)) sooner(*look);
  if (link_ && link_->fd() >= 0 && !attendance_.user_is_away()) {
    if (const auto look = attendance_.next(now)) sooner(*look);
  }
  return next;
}

wire::subscription_counters subscription::counters() {
  const std::lock_guard lock(mutex_);
  age_is_old_ = true;
  return {.subscription = id_,
          .sampled_ns = static_cast<std::uint64_t>(monotonic::now().time_since_epoch().count()),
          .received = received_,
          .bytes = bytes_,
          .missed = missed_,
          .malformed = malformed_ + (link_ ? link_->malformed() : 0),
          .age_ns = age_ns_,
          .transport = has_link() ? linked_to_.transport : wire::transport::none,
          .reason = has_link() ? public_reason_ : public_why_no_link(),
          .stale = stale_};
}

}  // namespace orc::detail
