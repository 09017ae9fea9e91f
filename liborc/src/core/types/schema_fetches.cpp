#include "core/types/schema_fetches.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace orc::detail {

bool schema_fetches::order::operator()(const wire::type_reference& a, const wire::type_reference& b) const noexcept {
  const auto parts = [](const wire::type_reference& of) {
    return std::tie(of.hash, of.schema_size, of.name, of.schema_encoding, of.message_encoding);
  };
  return parts(a) < parts(b);
}

const type_description* schema_fetches::want(const wire::type_reference& type, monotonic::time_point now) {
  const auto [at, is_new] = all_.try_emplace(type);
  fetch& wanted = at->second;
  if (is_new) wanted.next = now;
  wanted.is_wanted = true;
  return wanted.found ? &*wanted.found : nullptr;
}

void schema_fetches::release(const wire::type_reference& type) noexcept {
  if (const auto used = all_.find(type); used != all_.end()) used->second.is_wanted = false;
}

bool schema_fetches::has_found() const noexcept {
  return std::any_of(all_.begin(), all_.end(), [](const auto& each) { return each.second.found.has_value(); });
}

void schema_fetches::forget_unwanted() {
  for (auto each = all_.begin(); each != all_.end();) {
    const bool stays = std::exchange(each->second.is_wanted, false);
    each = stays ? std::next(each) : all_.erase(each);
  }
  if (!asked()) asked_.reset();
}

void schema_fetches::begin_again(monotonic::time_point now) {
  asked_.reset();
  for (auto& [type, each] : all_) {
    each.bytes.clear();
    each.next = now;
    each.pause = min_pause;
  }
}

schema_fetches::fetch* schema_fetches::asked() noexcept {
  if (!asked_) return nullptr;
  const auto found = all_.find(*asked_);
  return found == all_.end() ? nullptr : &found->second;
}

// One after the other, so that schemas do not add up.
void schema_fetches::choose(monotonic::time_point now) {
  if (has_found()) return;
  auto soonest = all_.end();
  for (auto each = all_.begin(); each != all_.end(); ++each) {
    if (each->second.next > now) continue;
    if (soonest == all_.end() || each->second.next < soonest->second.next) soonest = each;
  }
  if (soonest == all_.end()) return;
  asked_ = soonest->first;
  request_.reset();
  interval_ = repeat_after;
  ask_at_ = now;
}

void schema_fetches::step(monotonic::time_point now, const send& to_broker) {
  if (!asked_) choose(now);
  const fetch* const current = asked();
  if (current == nullptr || now < ask_at_) return;
  const auto request = to_broker(wire::get_schema{asked_->hash, static_cast<std::uint32_t>(current->bytes.size())});
  if (!request) return;  // next() stays due, and the session waits until the broker takes something
  ask_at_ = now + interval_;
  interval_ = std::min(2 * interval_, max_repeat_interval);
  request_ = request;
}

void schema_fetches::on_part(std::uint64_t request, wire::schema_part&& part, monotonic::time_point now) {
  fetch* const current = asked();
  if (current == nullptr || request_ != request) return;
  const std::size_t lacks = asked_->schema_size - current->bytes.size();
  if (part.hash != asked_->hash || part.offset != current->bytes.size() ||
      part.bytes.size() != std::min(lacks, wire::max_schema_part))  // short parts would take a million questions
    return put_off(*current, now);
  current->bytes += part.bytes;
  request_.reset();
  interval_ = repeat_after;
  ask_at_ = now;
  if (part.bytes.size() < lacks) return;
  complete(*asked_, *current);
  if (!current->found) return put_off(*current, now);
  asked_.reset();
}

void schema_fetches::complete(const wire::type_reference& type, fetch& all_there) {
  type_description whole{type.name, type.schema_encoding, type.message_encoding, std::exchange(all_there.bytes, {})};
  if (hash_of(whole) == type.hash) all_there.found.emplace(std::move(whole));
}

void schema_fetches::on_error(std::uint64_t request, monotonic::time_point now) {
  fetch* const current = asked();
  if (current != nullptr && request_ == request) put_off(*current, now);
}

void schema_fetches::put_off(fetch& failed, monotonic::time_point now) {
  failed.bytes = {};
  failed.next = now + failed.pause;
  failed.pause = std::min(2 * failed.pause, max_pause);
  asked_.reset();
}

monotonic::time_point schema_fetches::next() const noexcept {
  if (asked_) return ask_at_;
  auto soonest = monotonic::time_point::max();
  if (has_found()) return soonest;
  for (const auto& [type, each] : all_) soonest = std::min(soonest, each.next);
  return soonest;
}

}  // namespace orc::detail
