#include "transport/multicast/reader_table.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace orc::detail::multicast {

namespace {

constexpr std::size_t max_hosts = 2 * reader_table::most;

const source past_all = [] {
  source last{.address = {.scope = UINT32_MAX}, .port = UINT16_MAX};
  last.address.bytes.fill(UINT8_MAX);
  return last;
}();

}  // namespace

ip_address reader_table::host_of(const source& at) noexcept {
  if (at.address.is_v4()) return at.address.is_loopback() ? ip_address::loopback_v4() : at.address;
  ip_address network = at.address;
  std::fill(network.bytes.begin() + 8, network.bytes.end(), std::uint8_t{0});
  return network;
}

reader* reader_table::find(const source& at) noexcept {
  const auto found = readers_.find({host_of(at), at});
  return found == readers_.end() ? nullptr : &found->second;
}

reader* reader_table::add(const source& at, monotonic::time_point now) noexcept {
  const key where{host_of(at), at};
  remove(at);
  if (readers_.size() >= most && !make_room_for(where.host)) return nullptr;
  if (hosts_.size() >= max_hosts) forget_idle_hosts(now);
  if (hosts_.size() >= max_hosts && !hosts_.contains(where.host)) return nullptr;
  try {
    host& mine = hosts_.try_emplace(where.host).first->second;
    reader& fresh = readers_[where];
    fresh.at = at;
    ++mine.readers;
    return &fresh;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool reader_table::make_room_for(const ip_address& newcomer) noexcept {
  const auto largest = std::max_element(
      hosts_.begin(), hosts_.end(), [](const auto& a, const auto& b) { return a.second.readers < b.second.readers; });
  const auto mine = hosts_.find(newcomer);
  const std::size_t own = mine == hosts_.end() ? 0 : mine->second.readers;
  if (largest->second.readers <= own + 1) return false;
  erase(std::prev(readers_.upper_bound({largest->first, past_all})));
  return true;
}

void reader_table::remove(const source& at) noexcept {
  if (const auto found = readers_.find({host_of(at), at}); found != readers_.end()) erase(found);
}

void reader_table::remove_silent(monotonic::time_point since) noexcept {
  for (auto each = readers_.begin(); each != readers_.end();)
    each = each->second.heard < since ? erase(each) : std::next(each);
}

// Its host stays, so that a reader that leaves and joins again does not get its bytes anew.
reader_table::readers::iterator reader_table::erase(readers::iterator which) noexcept {
  end_request(which->second);
  --hosts_.find(which->first.host)->second.readers;
  return readers_.erase(which);
}

void reader_table::forget_idle_hosts(monotonic::time_point now) noexcept {
  for (auto each = hosts_.begin(); each != hosts_.end();) {
    refill(each->second, now);
    const bool is_idle =
        each->second.readers == 0 && each->second.bytes_left == burst && each->second.type_bytes_left == type_burst;
    each = is_idle ? hosts_.erase(each) : std::next(each);
  }
}

void reader_table::refill(host& which, monotonic::time_point now) noexcept {
  const auto since = std::min<monotonic::duration>(now - which.refilled, std::chrono::seconds(1));
  const auto us = std::chrono::duration_cast<std::chrono::microseconds>(since).count();
  if (us <= 0) return;
  which.refilled = now;
  which.bytes_left = std::min(burst, which.bytes_left + us * bytes_per_second / 1'000'000);
  which.type_bytes_left = std::min(type_burst, which.type_bytes_left + us * type_bytes_per_second / 1'000'000);
}

void reader_table::request(reader& whom, const repair_request& what) noexcept {
  end_request(whom);
  whom.repair = what;
  if (what.sequence == 0) return;
  ++requests_;
  ++hosts_.find(host_of(whom.at))->second.requests;
}

void reader_table::end_request(reader& whom) noexcept {
  if (whom.repair.sequence == 0) return;
  whom.repair.sequence = 0;
  --requests_;
  --hosts_.find(host_of(whom.at))->second.requests;
}

void reader_table::begin_repairs_anew() noexcept {
  for (auto& [where, each] : readers_) {
    end_request(each);
    each.progress = {};
  }
}

reader* reader_table::next_to_repair(monotonic::time_point now) noexcept {
  if (requests_ == 0) return nullptr;
  auto next = hosts_.upper_bound(repaired_);
  for (std::size_t n = hosts_.size(); n > 0; --n, ++next) {
    if (next == hosts_.end()) next = hosts_.begin();
    auto& [address, which] = *next;
    if (which.requests == 0) continue;
    refill(which, now);
    if (which.bytes_left <= 0) continue;
    repaired_ = address;
    return next_of(address, which);
  }
  return nullptr;
}

// One of them waits.
reader* reader_table::next_of(const ip_address& address, host& which) noexcept {
  auto next = readers_.upper_bound(which.repaired);
  for (;; ++next) {
    if (next == readers_.end() || next->first.host != address) next = readers_.lower_bound({address, {}});
    if (next->second.repair.sequence == 0) continue;
    which.repaired = next->first;
    return &next->second;
  }
}

void reader_table::charge(const reader& whom, std::size_t bytes) noexcept {
  hosts_.find(host_of(whom.at))->second.bytes_left -= static_cast<std::int64_t>(bytes);
}

bool reader_table::spend(const source& at, std::size_t bytes, monotonic::time_point now) noexcept {
  const auto address = host_of(at);
  if (hosts_.size() >= max_hosts) forget_idle_hosts(now);
  if (hosts_.size() >= max_hosts && !hosts_.contains(address)) return false;
  try {
    host& which = hosts_.try_emplace(address).first->second;
    refill(which, now);
    if (which.type_bytes_left <= 0) return false;
    which.type_bytes_left -= static_cast<std::int64_t>(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace orc::detail::multicast
