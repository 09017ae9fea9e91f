#include "core/directory/directory_watcher.h"

#include <algorithm>
#include <utility>

#include "core/directory/directory.h"
#include "core/directory/directory_state.h"
#include "wire/name_pattern.h"
#include "wire/name_space.h"

namespace orc::detail {

namespace {

using namespace std::chrono_literals;
using kind = directory_change::kind;

constexpr auto broker_waits = 1'000ms;
constexpr auto answer_patience = broker_waits + 1'000ms;
constexpr auto after_refusal = 1'000ms;

[[nodiscard]] result check(const watch_options& wanted) {
  if (wanted.topics.size() > wire::max_patterns)
    return {errc::bad_argument, "a watch has at most " + std::to_string(wire::max_patterns) + " patterns, not " +
                                    std::to_string(wanted.topics.size())};
  for (const auto& each : wanted.topics) {
    if (auto checked = wire::check_name_pattern(each); !checked) return checked;
  }
  return {};
}

[[nodiscard]] watch_options with_full_names(watch_options wanted) {
  for (auto& each : wanted.topics) each = wire::without_slash(each);
  return wanted;
}

}  // namespace

// ---- what is new ----

void directory_memory::take(wire::changes&& page, std::deque<change>& to) {
  position_ = page.position;
  if (page.reset) {
    ++round_;
    complete_ = false;
  }
  // A participant comes before its topics, and goes after them.
  const auto gone = std::stable_partition(page.participants.begin(), page.participants.end(),
                                          [](const auto& each) { return !each.gone; });
  for (auto each = page.participants.begin(); each != gone; ++each) take(std::move(*each), to);
  for (auto& each : page.topics) take(std::move(each), to);
  for (auto each = gone; each != page.participants.end(); ++each) take(std::move(*each), to);
  if (page.more || complete_) return;
  report_missing_as_gone(to);
  to.push_back({});
  complete_ = true;
}

void directory_memory::take(wire::topic_state&& now, std::deque<change>& to) {
  const auto at = topics_.find(now.topic);
  if (!now.publication && now.publications.empty() && now.subscription_count == 0) {
    if (at == topics_.end()) return;
    topics_.erase(at);
    to.push_back({.what = kind::topic_gone, .topic = state_of(std::move(now))});
    return;
  }
  const bool same = at != topics_.end() && at->second.state == now;
  if (!same) to.push_back({.what = kind::topic, .topic = state_of(now)});
  auto name = now.topic;
  topics_.insert_or_assign(std::move(name), known<wire::topic_state>{std::move(now), round_});
}

void directory_memory::take(wire::participant_info&& now, std::deque<change>& to) {
  const auto at = participants_.find(now.participant);
  const bool was_there = at != participants_.end();
  if (now.gone && !was_there) return;
  const auto before = was_there ? at->second.state : now;
  if (now.gone) {
    participants_.erase(at);
  } else {
    participants_.insert_or_assign(now.participant, known<wire::participant_info>{now, round_});
  }
  if (participants_wanted_ && (now.gone || !was_there || before != now))
    to.push_back({.what = now.gone ? kind::participant_gone : kind::participant,
                  .participant = state_of(now.gone ? before : now)});
  if (was_there && !now.gone && before.host == now.host) return;
  if (was_there) count(before.host, false, to);
  if (!now.gone) count(now.host, true, to);
}

void directory_memory::count(const std::string& host, bool more, std::deque<change>& to) {
  const auto at = hosts_.try_emplace(host, 0).first;
  at->second += more ? 1 : std::size_t(-1);
  const host_state now{host, at->second};
  if (now.participants == 0) hosts_.erase(at);
  if (hosts_wanted_) to.push_back({.what = now.participants == 0 ? kind::host_gone : kind::host, .host = now});
}

// Reports as gone what the full report did not contain.
void directory_memory::report_missing_as_gone(std::deque<change>& to) {
  for (auto at = topics_.begin(); at != topics_.end();) {
    if (at->second.reported_in == round_) {
      ++at;
      continue;
    }
    to.push_back({.what = kind::topic_gone, .topic = {.name = at->first}});
    at = topics_.erase(at);
  }
  std::vector<wire::participant_info> gone;
  for (const auto& [id, each] : participants_) {
    if (each.reported_in != round_) gone.push_back({id, true, {}, {}, 0, {}});
  }
  for (auto& each : gone) take(std::move(each), to);
}

// ---- the broker ----

directory_watcher::directory_watcher(const directory_options& options, watch_options wanted)
    : wanted_(with_full_names(std::move(wanted))),
      stop_fd_(options.stop_fd),
      generation_(fork_generation()),
      memory_(wanted_) {
  ready_ = check(wanted_);
  if (!ready_) return;
  auto made = client_for(options);
  if (made)
    client_ = *std::move(made);
  else
    ready_ = made.error();
}

wire::watch directory_watcher::question() const {
  return {wanted_.topics, wanted_.participants || wanted_.hosts, memory_.position(),
          static_cast<std::uint32_t>(broker_waits.count())};
}

void directory_watcher::step(monotonic::time_point now) {
  // Asks only when the program has read everything, so no more than a page is kept for a slow program.
  if (!client_->is_asking() && now >= ask_at_) client_->ask(question(), answer_patience);
  if (auto answer = client_->step(now)) {
    if (auto* const page = std::get_if<wire::changes>(&*answer)) {
      memory_.take(std::move(*page), changes_);
    } else if (const auto* const error = std::get_if<wire::error>(&*answer)) {
      status_ = refusal(*error, *client_);
      ask_at_ = now + after_refusal;
    }
  }
  if (std::exchange(was_up_, client_->is_up()) && !was_up_) {
    memory_.lost();
    changes_.push_back({.what = kind::broker_lost});
  }
}

result directory_watcher::next_change(directory_change& change, std::chrono::nanoseconds timeout) {
  if (forked()) return errc::forked;
  if (timeout.count() < 0) return {errc::bad_argument, "a timeout is 0 or more; orc::forever waits without limit"};
  const std::lock_guard lock(mutex_);
  if (!ready_) return ready_;
  const deadline until(timeout);
  for (;;) {
    if (changes_.empty()) step(monotonic::now());
    if (!changes_.empty()) {
      change = std::move(changes_.front());
      changes_.pop_front();
      client_->look_again();  // fd() stays readable: there may be more
      return {};
    }
    if (!status_) return std::exchange(status_, result());
    switch (const errc waited = client_->wait(until, stop_fd_)) {
      case errc::ok: break;
      case errc::timed_out:
        if (timeout.count() == 0) return errc::nothing_new;
        return client_->is_up() ? result(errc::timed_out) : result(errc::timed_out, client_->why_silent());
      default: return waited;
    }
  }
}

}  // namespace orc::detail
