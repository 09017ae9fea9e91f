#include "calls/waiting_calls.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "calls/service_client.h"

namespace orc::detail {

void waiting_calls::room::take(const service_call& call) noexcept {
  --calls;
  bytes -= call.request().size();
}

waiting_calls::admission waiting_calls::add(const std::shared_ptr<service_call>& call, monotonic::time_point now) {
  admission outcome;
  lane& to = lane_of(*call->client);
  calls one{call};
  if (now >= late_at_) remove_late(now, outcome.late);
  const bool replaces = replaces_ && !to.waiting.empty();
  const std::size_t bytes = call->request().size();
  room needed{.calls = size_ + 1, .bytes = bytes_ + bytes};
  if (replaces) needed.take(*to.waiting.front());
  if (!fits(needed) && !make_room(to, needed, outcome.displaced)) return outcome;
  if (replaces) {
    calls taken;
    move(to, to.waiting.begin(), taken);
    outcome.replaced = std::move(taken.front());
  }
  to.waiting.splice(to.waiting.end(), one);
  to.bytes += bytes;
  bytes_ += bytes;
  ++size_;
  late_at_ = std::min(late_at_, call->deadline);
  outcome.admitted = true;
  return outcome;
}

bool waiting_calls::fits(const room& needed) const noexcept {
  return needed.calls <= most_ && (needed.calls == 1 || needed.bytes <= most_bytes_);
}

// Of the program that has most, and only as long as it has more than that of `to` would have. If it is the same, of its
// client that has most, by the same rule.
bool waiting_calls::make_room(const lane& to, room needed, calls& displaced) {
  const bool places = needed.calls > most_;
  const auto has = [&](const lane& each) { return places ? each.waiting.size() : each.bytes; };
  std::map<std::string_view, std::size_t> programs;
  for (const lane& each : lanes_) programs[each.program] += has(each);
  const auto greedy = std::ranges::max_element(programs, {}, [](const auto& each) { return each.second; });
  const bool is_own = greedy->first == to.program;
  const std::size_t added = places ? needed.calls - size_ : needed.bytes - bytes_;
  const std::size_t will_have = (is_own ? has(to) : programs[to.program]) + added;
  while (!fits(needed)) {
    lane& from = *std::ranges::max_element(
        lanes_, {}, [&](const lane& each) { return each.program == greedy->first ? has(each) : 0; });
    const bool is_more = (is_own ? has(from) : greedy->second) > will_have;
    if (&from == &to || !is_more || from.waiting.empty()) {
      give_back(displaced);
      return false;
    }
    const auto newest = std::prev(from.waiting.end());
    greedy->second -= places ? 1 : (*newest)->request().size();
    needed.take(**newest);
    move(from, newest, displaced);
  }
  return true;
}

void waiting_calls::give_back(calls& displaced) {
  while (!displaced.empty()) {
    const auto last = std::prev(displaced.end());
    lane& of = lane_of(*(*last)->client);
    const std::size_t bytes = (*last)->request().size();
    of.waiting.splice(of.waiting.end(), displaced, last);
    of.bytes += bytes;
    bytes_ += bytes;
    ++size_;
  }
}

std::shared_ptr<service_call> waiting_calls::take_next() {
  const auto next = std::ranges::find_if(lanes_, [](const lane& each) { return !each.waiting.empty(); });
  if (next == lanes_.end()) return nullptr;
  calls taken;
  move(*next, next->waiting.begin(), taken);
  // Behind those of other programs, and last of its own.
  const std::string_view program = next->program;
  lanes served;
  for (auto each = lanes_.begin(); each != lanes_.end();) {
    const auto at = each++;
    if (at != next && at->program == program) served.splice(served.end(), lanes_, at);
  }
  served.splice(served.end(), lanes_, next);
  lanes_.splice(lanes_.end(), served);
  return std::move(taken.front());
}

std::shared_ptr<service_call> waiting_calls::first_of(const service_client& client) const {
  if (empty()) return nullptr;
  const auto found = std::ranges::find(lanes_, &client, &lane::client);
  return found != lanes_.end() && !found->waiting.empty() ? found->waiting.front() : nullptr;
}

bool waiting_calls::remove(const service_call& call) {
  const auto from = find(*call.client);
  if (from == lanes_.end()) return false;
  const auto at = std::ranges::find(from->waiting, &call, [](const auto& each) { return each.get(); });
  if (at == from->waiting.end()) return false;
  calls taken;
  move(*from, at, taken);
  return true;
}

waiting_calls::calls waiting_calls::remove_all(const service_client& client) {
  calls taken;
  const auto from = find(client);
  if (from == lanes_.end()) return taken;
  size_ -= from->waiting.size();
  bytes_ -= from->bytes;
  taken.swap(from->waiting);
  lanes_.erase(from);
  return taken;
}

waiting_calls::lane& waiting_calls::lane_of(const service_client& client) {
  const auto found = find(client);
  return found != lanes_.end() ? *found : lanes_.emplace_back(lane{.client = &client, .program = client.program()});
}

waiting_calls::lanes::iterator waiting_calls::find(const service_client& client) noexcept {
  return std::ranges::find(lanes_, &client, &lane::client);
}

void waiting_calls::move(lane& from, calls::iterator at, calls& to) noexcept {
  const std::size_t bytes = (*at)->request().size();
  from.bytes -= bytes;
  bytes_ -= bytes;
  --size_;
  to.splice(to.end(), from.waiting, at);
}

void waiting_calls::remove_late(monotonic::time_point now, calls& to) noexcept {
  late_at_ = monotonic::time_point::max();
  for (lane& each : lanes_) {
    for (auto at = each.waiting.begin(); at != each.waiting.end();) {
      const auto next = std::next(at);
      if ((*at)->deadline <= now)
        move(each, at, to);
      else
        late_at_ = std::min(late_at_, (*at)->deadline);
      at = next;
    }
  }
}

}  // namespace orc::detail
