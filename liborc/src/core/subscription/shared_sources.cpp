#include "core/subscription/shared_sources.h"

#include <sys/epoll.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/subscription/subscription.h"

namespace orc::detail {

namespace {

void add(wire::subscription_counters& to, const wire::subscription_counters& more) {
  to.received += more.received;
  to.bytes += more.bytes;
  to.missed += more.missed;
  to.malformed += more.malformed;
  to.stale += more.stale;
}

[[nodiscard]] std::string text_of(const publisher_info& who) { return who.name + " (" + std::to_string(who.pid) + ")"; }

}  // namespace

shared_sources::shared_sources(maker make, bool newest_of_all)
    : make_(std::move(make)), newest_of_all_(newest_of_all), events_(epoll_create1(EPOLL_CLOEXEC)) {}

shared_sources::~shared_sources() = default;

// ---- receiving ----

message shared_sources::take(pick which) noexcept {
  const std::lock_guard lock(mutex_);
  if (!find_ready()) return {};
  return newest_of_all_ && which == pick::newest ? take_newest() : take_next(which);
}

bool shared_sources::find_ready() noexcept {
  epoll_event events[max_sources];
  const int count = epoll_wait(events_.get(), events, static_cast<int>(max_sources), 0);
  for (auto& each : sources_) each.ready = false;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t number = events[i].data.u32;
    const auto at =
        std::find_if(sources_.begin(), sources_.end(), [&](const auto& s) { return s.who.number == number; });
    if (at != sources_.end()) at->ready = true;
  }
  return count > 0;
}

// The publishers take turns, so that none keeps the others out.
message shared_sources::take_next(pick which) noexcept {
  errc none = errc::nothing_new;
  const auto first =
      std::find_if(sources_.begin(), sources_.end(), [&](const auto& each) { return each.who.number > last_turn_; });
  const auto start = static_cast<std::size_t>(first - sources_.begin());
  for (std::size_t n = 0; n < sources_.size(); ++n) {
    source& from = sources_[(start + n) % sources_.size()];
    if (!from.ready) continue;
    message found = from.part->recv(std::chrono::nanoseconds(0), which);
    if (found.status() == errc::too_many_messages) none = errc::too_many_messages;
    if (!found) continue;
    last_turn_ = from.who.number;
    from.newest_ns = found.stamp_ns();
    message_access::set_publisher(found, from.who.number, found.missed() + std::exchange(from.skipped, 0));
    return found;
  }
  return message(none);
}

message shared_sources::take_newest() noexcept {
  errc none = errc::nothing_new;
  message best;
  source* from = nullptr;
  for (source& each : sources_) {
    if (!each.ready) continue;
    message found = each.part->recv(std::chrono::nanoseconds(0), pick::newest);
    if (found.status() == errc::too_many_messages) none = errc::too_many_messages;
    if (!found) continue;
    each.newest_ns = found.stamp_ns();
    const bool wins = from == nullptr ||
                      std::pair(found.stamp_ns(), each.publication) > std::pair(best.stamp_ns(), from->publication);
    source& loser = wins && from != nullptr ? *from : each;
    if (from != nullptr) loser.skipped += 1 + (wins ? best : found).missed();
    if (!wins) continue;
    best = std::move(found);
    from = &each;
  }
  if (from == nullptr) return message(none);
  if (is_overtaken(*from, best.stamp_ns())) {
    from->skipped += 1 + best.missed();
    return message(none);
  }
  message_access::set_publisher(best, from->who.number, best.missed() + std::exchange(from->skipped, 0));
  return best;
}

// A stamp ahead of this host's clock counts for nothing: the clock was set back, and a publisher that is silent since
// then must not keep the others out.
bool shared_sources::is_overtaken(const source& by, std::int64_t stamp_ns) const noexcept {
  std::int64_t newer_ns = newest_of_gone_ns_ > stamp_ns ? newest_of_gone_ns_ : std::numeric_limits<std::int64_t>::max();
  for (const source& each : sources_) {
    const bool is_newer =
        &each != &by && std::pair(each.newest_ns, each.publication) > std::pair(stamp_ns, by.publication);
    if (is_newer) newer_ns = std::min(newer_ns, each.newest_ns);
  }
  return newer_ns != std::numeric_limits<std::int64_t>::max() && newer_ns <= realtime_ns();
}

// ---- state ----

std::size_t shared_sources::connected() const noexcept {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(sources_.begin(), sources_.end(), [](const auto& each) { return each.part->connected(); }));
}

std::optional<error> shared_sources::mismatch() const noexcept {
  const std::lock_guard lock(mutex_);
  std::optional<error> first;
  for (const auto& each : sources_) {
    if (!each.listed) continue;
    const result checked = each.part->check_type();
    if (checked.code() != errc::type_mismatch) return std::nullopt;
    if (!first) first = checked.error();
  }
  return first;
}

bool shared_sources::compares_types() const noexcept {
  const std::lock_guard lock(mutex_);
  return std::any_of(sources_.begin(), sources_.end(),
                     [](const auto& each) { return each.listed && each.part->compares_types(); });
}

link_info shared_sources::link() const {
  const std::lock_guard lock(mutex_);
  link_info all;
  std::size_t up = 0;
  std::size_t listed = 0;
  for (const auto& each : sources_) {
    link_info one = each.part->link();
    all.stale += one.stale;
    if (one.connected) ++up;
    if (one.connected && !std::exchange(all.connected, true)) all.transport = one.transport;
    if (!each.listed) continue;
    ++listed;
    all.reason += "; " + text_of(each.who) + ": " + one.reason;
  }
  all.reason = std::to_string(up) + " of " + std::to_string(listed) + " publishers linked" + all.reason;
  if (listed == 0 && up == 0) all.reason = "no publisher";
  all.stale += of_gone_.stale;
  return all;
}

std::vector<publisher_info> shared_sources::publishers() const {
  const std::lock_guard lock(mutex_);
  std::vector<publisher_info> all;
  for (const auto& each : sources_) {
    if (!each.listed) continue;
    all.push_back(each.who);
    all.back().connected = each.part->connected();
  }
  return all;
}

publisher_info shared_sources::publisher(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  for (const auto& each : sources_) {
    if (each.who.number != number) continue;
    publisher_info found = each.who;
    found.connected = each.part->connected();
    return found;
  }
  for (const auto& each : gone_) {
    if (each.number == number) return each;
  }
  return {};
}

void shared_sources::report(wire::subscription_counters& to) const {
  const std::lock_guard lock(mutex_);
  add(to, of_gone_);
  std::size_t up = 0;
  std::size_t listed = 0;
  std::string problem;
  for (const auto& each : sources_) {
    const auto one = each.part->counters();
    add(to, one);
    to.age_ns = std::max(to.age_ns, one.age_ns);
    if (one.transport != wire::transport::none) {
      ++up;
      if (to.transport == wire::transport::none) to.transport = one.transport;
    } else if (each.listed && problem.empty()) {
      problem = "; " + text_of(each.who) + ": " + one.reason;
    }
    if (each.listed) ++listed;
  }
  to.reason = std::to_string(up) + " of " + std::to_string(listed) + " publishers linked" + problem;
}

void shared_sources::close() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& each : sources_) each.part->close();
}

// ---- housekeeping ----

void shared_sources::follow(const wire::topic_state& state, bool pushed, const std::string& run_directory,
                            type_checks& checks, monotonic::time_point now) {
  for (const auto& each : state.publications) {
    source& one = find_or_make(each.publication);
    {
      const std::lock_guard lock(mutex_);
      one.listed = true;
      one.who.name = each.participant_name;
      one.who.host = each.host;
      one.who.pid = each.pid;
    }
    wire::topic_state part{state.topic, each, {}, 0};
    one.part->update(part, true, run_directory, checks, now);
  }
  if (!pushed) return;  // a broker that has just started may not know all of them yet
  for (auto& each : sources_) {
    const auto is_it = [&](const auto& one) { return one.publication == each.publication; };
    if (!each.listed || std::any_of(state.publications.begin(), state.publications.end(), is_it)) continue;
    {
      const std::lock_guard lock(mutex_);
      each.listed = false;
    }
    each.part->update({state.topic, {}, {}, 0}, true, run_directory, checks, now);
  }
}

shared_sources::source& shared_sources::find_or_make(const wire::id& publication) {
  const auto known =
      std::find_if(sources_.begin(), sources_.end(), [&](const auto& each) { return each.publication == publication; });
  if (known != sources_.end()) return *known;
  if (sources_.size() == max_sources) make_room();
  source made;
  made.publication = publication;
  made.who.id = publication.hex();
  made.part = make_();
  const std::lock_guard lock(mutex_);
  sources_.push_back(std::move(made));
  last_number_ = last_number_ % message_access::max_publisher + 1;
  sources_.back().who.number = last_number_;
  return sources_.back();
}

// The broker names fewer than max_sources, so one of them has left.
void shared_sources::make_room() {
  for (std::size_t which = 0; which < sources_.size(); ++which) {
    if (!sources_[which].listed) return remove(which);
  }
  remove(0);
}

void shared_sources::remove(std::size_t which) {
  const std::lock_guard lock(mutex_);
  source& gone = sources_[which];
  const auto counters = gone.part->counters();
  gone.who.connected = false;
  gone_.push_back(gone.who);
  if (gone_.size() > remembered) gone_.pop_front();
  add(of_gone_, counters);
  if (gone.watched) epoll_ctl(events_.get(), EPOLL_CTL_DEL, gone.part->fd(), nullptr);
  newest_of_gone_ns_ = std::max(newest_of_gone_ns_, gone.newest_ns);
  gone.part->close();
  sources_.erase(sources_.begin() + static_cast<std::ptrdiff_t>(which));
}

bool shared_sources::step(monotonic::time_point now) {
  for (auto& each : sources_) {
    each.part->step(now);
    if (each.watched) continue;
    const std::lock_guard lock(mutex_);
    watch(each);
  }
  for (std::size_t which = sources_.size(); which-- > 0;) {
    if (!sources_[which].listed && sources_[which].part->is_over()) remove(which);
  }
  const std::pair is{connected(), compares_types()};
  return std::exchange(was_, is) != is;
}

void shared_sources::watch(source& one) noexcept {
  const int descriptor = one.part->fd();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = one.who.number;
  one.watched = descriptor >= 0 && epoll_ctl(events_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

void shared_sources::clear() {
  while (!sources_.empty()) remove(sources_.size() - 1);
}

void shared_sources::append_fds(std::vector<int>& to) const {
  for (const auto& each : sources_) each.part->append_fds(to);
}

monotonic::time_point shared_sources::next_step(monotonic::time_point now) const {
  auto next = monotonic::time_point::max();
  for (const auto& each : sources_) next = std::min(next, each.part->next_step(now));
  return next;
}

}  // namespace orc::detail
