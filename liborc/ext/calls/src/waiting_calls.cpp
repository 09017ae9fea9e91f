#include "waiting_calls.h"

#include <algorithm>

namespace orc::detail {

waiting_calls::admission waiting_calls::add(const std::shared_ptr<service_call>& call, steady::time_point now) {
  admission outcome;
  lane& to = lane_of(*call->client);
  calls one{call};
  if (replaces_ && !to.waiting.empty()) {
    outcome.replaced = to.waiting.front();
    move(to, to.waiting.begin(), outcome.removed);
    outcome.removed.clear();
  }
  const std::size_t bytes = bytes_of(*call);
  if (!has_room(to, bytes) && now >= late_at_) remove_late(now, outcome.removed);
  if (!has_room(to, bytes)) return outcome;
  to.waiting.splice(to.waiting.end(), one);
  to.bytes += bytes;
  bytes_ += bytes;
  ++size_;
  late_at_ = std::min(late_at_, call->deadline);
  outcome.admitted = true;
  return outcome;
}

bool waiting_calls::has_room(const lane& of, std::size_t bytes) const noexcept {
  if (of.waiting.size() >= share_of(most_, size_ - of.waiting.size())) return false;
  return of.bytes + bytes <= share_of(most_bytes_, bytes_ - of.bytes);
}

std::size_t waiting_calls::bytes_of(const service_call& call) const noexcept {
  return std::min(call.request().size(), share_of(most_bytes_, 0));
}

std::shared_ptr<service_call> waiting_calls::take_next() {
  for (auto next = lanes_.begin(); next != lanes_.end(); ++next) {
    if (next->waiting.empty()) continue;
    calls taken;
    move(*next, next->waiting.begin(), taken);
    lanes_.splice(lanes_.end(), lanes_, next);
    return std::move(taken.front());
  }
  return nullptr;
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
  return found != lanes_.end() ? *found : lanes_.emplace_back(lane{.client = &client});
}

waiting_calls::lanes::iterator waiting_calls::find(const service_client& client) noexcept {
  return std::ranges::find(lanes_, &client, &lane::client);
}

void waiting_calls::move(lane& from, calls::iterator at, calls& to) noexcept {
  const std::size_t bytes = bytes_of(**at);
  from.bytes -= bytes;
  bytes_ -= bytes;
  --size_;
  to.splice(to.end(), from.waiting, at);
}

void waiting_calls::remove_late(steady::time_point now, calls& to) noexcept {
  late_at_ = steady::time_point::max();
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
