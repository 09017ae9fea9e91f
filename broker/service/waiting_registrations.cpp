#include "broker/service/waiting_registrations.h"

#include <algorithm>

namespace orc {

std::size_t waiting_registrations::bytes_of(const registration& of) {
  std::size_t bytes = sizeof of + 2 * of.what.topic.size();
  for (const auto& each : of.what.endpoints) bytes += sizeof each + each.address.size();
  if (const auto& type = of.what.type)
    bytes += type->name.size() + type->schema_encoding.size() + type->message_encoding.size();
  return bytes;
}

topic_map::done waiting_registrations::add(const wire::id& holder, registration asked, time deadline) {
  const std::size_t bytes = bytes_of(asked);
  const auto known = clients_.find(asked.client);
  const use own = known == clients_.end() ? use{} : known->second;
  if (own.count >= client_table::share(most, all_.count - own.count) ||
      own.bytes + bytes > client_table::share(max_bytes, all_.bytes - own.bytes)) {
    return wire::error{wire::error_code::limit, "too many registrations wait for the holders of their topics (" +
                                                    asked.client + " has " + std::to_string(own.count) +
                                                    " of them): try again"};
  }
  auto& of_client = clients_[asked.client];
  const auto [at, first] = probes_.try_emplace(holder);
  auto& running = at->second;
  if (first) {
    running.number = ++last_probe_;
    running.deadline = deadline;
    deadlines_.emplace_back(deadline, holder);
  }
  const auto [indexed, added] = running.index.try_emplace({asked.from, asked.what.topic}, running.waiting.size());
  if (added) {
    running.waiting.push_back(std::move(asked));
  } else {
    auto& before = running.waiting[indexed->second];
    const std::size_t replaced = bytes_of(before);
    before = std::move(asked);
    of_client.bytes -= replaced;
    all_.bytes -= replaced;
  }
  of_client.count += added ? 1 : 0;
  all_.count += added ? 1 : 0;
  of_client.bytes += bytes;
  all_.bytes += bytes;
  return wire::ack{};
}

std::optional<std::uint64_t> waiting_registrations::take_probe(const wire::id& holder) {
  const auto at = probes_.find(holder);
  if (at == probes_.end() || at->second.sent) return std::nullopt;
  at->second.sent = true;
  return at->second.number;
}

void waiting_registrations::settle(const wire::id& holder, bool alive) {
  const auto at = probes_.find(holder);
  if (at == probes_.end()) return;
  settled_.push_back({alive ? std::optional(holder) : std::nullopt, {}});
  settled_.back().waiting = std::move(at->second.waiting);
  probes_.erase(at);
}

std::optional<wire::id> waiting_registrations::overdue(time now) {
  while (!deadlines_.empty() && deadlines_.front().first <= now) {
    const auto [deadline, holder] = deadlines_.front();
    deadlines_.pop_front();
    const auto at = probes_.find(holder);
    if (at != probes_.end() && at->second.deadline == deadline) return holder;
  }
  return std::nullopt;
}

void waiting_registrations::extend(const wire::id& holder, time deadline) {
  const auto at = probes_.find(holder);
  if (at == probes_.end()) return;
  deadlines_.emplace_back(deadline, holder);
  at->second.deadline = deadline;
}

void waiting_registrations::extend_all(time deadline) {
  std::deque<std::pair<time, wire::id>> all;
  for (const auto& [holder, running] : probes_) all.emplace_back(deadline, holder);
  for (auto& [holder, running] : probes_) running.deadline = deadline;
  deadlines_.swap(all);
}

std::optional<waiting_registrations::settled> waiting_registrations::next() {
  while (!settled_.empty()) {
    auto& first = settled_.front();
    if (first.done < first.waiting.size()) {
      auto& asked = first.waiting[first.done++];
      forget(asked);
      return settled{std::move(asked), first.alive_holder};
    }
    settled_.pop_front();
  }
  return std::nullopt;
}

void waiting_registrations::forget(const registration& gone) noexcept {
  const std::size_t bytes = bytes_of(gone);
  const auto own = clients_.find(gone.client);
  --all_.count;
  all_.bytes -= bytes;
  own->second.bytes -= bytes;
  if (--own->second.count == 0) clients_.erase(own);
}

}  // namespace orc
