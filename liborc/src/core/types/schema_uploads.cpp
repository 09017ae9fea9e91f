#include "core/types/schema_uploads.h"

#include <algorithm>
#include <utility>

#include "base/text/printable.h"

namespace orc::detail {

namespace {

[[nodiscard]] std::size_t part_size(std::size_t whole, std::size_t offset) noexcept {
  return std::min(whole - offset, wire::max_schema_part);
}

}  // namespace

void schema_uploads::add(std::shared_ptr<const described_type> type, monotonic::time_point now) {
  const auto hash = type->reference.hash;
  if (std::any_of(all_.begin(), all_.end(), [&](const auto& each) { return each.type->reference.hash == hash; }))
    return;
  upload added;
  added.type = std::move(type);
  added.next = now;
  added.interval = first_interval_;
  all_.push_back(std::move(added));
}

// An upload under way goes on until the broker has all of it or refuses it.
bool schema_uploads::choose(monotonic::time_point now) {
  if (all_.empty()) return false;
  if (is_under_way() || all_.front().offset > 0) return all_.front().next <= now;
  const auto due = std::find_if(all_.begin(), all_.end(), [&](const upload& each) { return each.next <= now; });
  if (due == all_.end()) return false;
  std::rotate(all_.begin(), due, due + 1);
  return true;
}

void schema_uploads::step(monotonic::time_point now, const is_used& used, const send& to_broker) {
  while (choose(now) && !used(all_.front().type->reference.hash)) all_.erase(all_.begin());
  if (!choose(now)) return;
  upload& current = all_.front();
  const std::string& schema = current.type->description.schema;
  const auto request =
      to_broker(wire::schema_part{current.type->reference.hash, static_cast<std::uint32_t>(current.offset),
                                  schema.substr(current.offset, part_size(schema.size(), current.offset))});
  if (!request) return;  // next() stays due, and the session waits until the broker takes something
  if (current.copies.size() == max_copies) current.copies.erase(current.copies.begin());
  current.copies.push_back({*request, now});
  current.next = now + current.interval;
  current.interval =
      std::max(current.interval, std::min<monotonic::duration>(2 * current.interval, max_repeat_interval));
}

const schema_uploads::copy* schema_uploads::find_copy(std::uint64_t request) const noexcept {
  if (!is_under_way()) return nullptr;
  const auto& copies = all_.front().copies;
  const auto found =
      std::find_if(copies.begin(), copies.end(), [&](const copy& each) { return each.request == request; });
  return found == copies.end() ? nullptr : &*found;
}

void schema_uploads::on_ack(std::uint64_t request, monotonic::time_point now) {
  const copy* const confirmed = find_copy(request);
  if (confirmed == nullptr) return;
  const monotonic::duration took = now - confirmed->sent;
  first_interval_ =
      std::max<monotonic::duration>({repeat_after, took, std::min<monotonic::duration>(2 * took, max_repeat_interval)});
  upload& current = all_.front();
  const std::size_t whole = current.type->description.schema.size();
  current.offset += part_size(whole, current.offset);
  if (current.offset > current.furthest) {
    current.furthest = current.offset;
    current.refusals = 0;
  }
  current.copies.clear();
  current.interval = first_interval_;
  current.next = now;
  if (current.offset == whole) all_.erase(all_.begin());
}

// A part whose answer was lost is refused when it comes again, and a broker forgets an upload that pauses. Both end an
// upload, and it begins again. Errors about further copies of a confirmed part say nothing.
std::string schema_uploads::on_error(std::uint64_t request, const wire::error& why, monotonic::time_point now) {
  if (find_copy(request) == nullptr) return {};
  upload& current = all_.front();
  std::string said =
      "the broker does not take the schema of type " + escaped(current.type->reference.name) + ": " + escaped(why.text);
  if (why.code == wire::error_code::limit) {
    const bool is_first = current.pause == min_pause;
    put_off(now);
    return is_first ? said + "; it is sent again later" : std::string();
  }
  const bool may_have_lost_its_place = current.offset > 0 || current.copies.size() > 1;
  if (may_have_lost_its_place && ++current.refusals < max_refusals) {
    put_off(now);
    return {};
  }
  all_.erase(all_.begin());
  return said;
}

// Others may find room meanwhile.
void schema_uploads::put_off(monotonic::time_point now) {
  upload& current = all_.front();
  current.offset = 0;
  current.copies.clear();
  current.interval = first_interval_;
  current.next = now + current.pause;
  current.pause = std::min(2 * current.pause, max_pause);
  std::rotate(all_.begin(), all_.begin() + 1, all_.end());
}

monotonic::time_point schema_uploads::next() const noexcept {
  auto soonest = monotonic::time_point::max();
  if (is_under_way() || (!all_.empty() && all_.front().offset > 0)) return all_.front().next;
  for (const auto& each : all_) soonest = std::min(soonest, each.next);
  return soonest;
}

}  // namespace orc::detail
