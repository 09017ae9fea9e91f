#include "transport/shm/shm_publisher_link.h"

#include <utility>

#include "base/copy.h"
#include "transport/shm/loaned_slot.h"

namespace orc::detail::shm {

shm_publisher_link::shm_publisher_link(acceptor door, const publication_spec& spec, wire::endpoint where)
    : keep_last_(spec.options.keep_last),
      where_(std::move(where)),
      memory_(spec.options.expected_size, static_cast<std::uint32_t>(spec.options.history), spec.options.memory),
      subscribers_(std::move(door), spec, where_.address, memory_) {}

// ---- sending ----

sample_buffer shm_publisher_link::try_loan(std::size_t payload_size) noexcept {
  if ((readers() == 0 && !memory_.expects_readers()) || !make_room(payload_size)) return {};
  const auto& writer = memory_.for_loans();
  if (!writer->may_lend()) return {};
  const auto slot = free_slot(*writer, payload_size);
  if (!slot) return {};
  writer->lend(*slot);
  return loaned_buffer(writer, *slot, payload_size);
}

// No subscriber pins anything in a segment that is not in use yet.
std::optional<std::uint32_t> shm_publisher_link::free_slot(slot_writer& of, std::uint64_t size) noexcept {
  const auto slot = of.take(&of == memory_.current().get() ? subscribers_.pins() : std::span<const pin_table>());
  if (!slot || of.ensure_backed(*slot, size)) return slot;
  of.put_back(*slot);
  return std::nullopt;
}

void shm_publisher_link::commit(sample& s) noexcept {
  const wire::sample_header header{s.sequence, s.stamp_ns};
  const auto& current = memory_.current();
  const auto& next = memory_.for_loans();
  if (const std::uint32_t* const lent = slot_of(s.buffer, current.get())) {
    publish(*lent, s.buffer.size(), header);
  } else if (const std::uint32_t* const early = slot_of(s.buffer, next.get())) {
    memory_.publish_in_next(*early, s.buffer.size(), header);
    hand_over();
    behind_ = false;
    memory_.current()->stock(subscribers_.pins());
    subscribers_.want_turn(true);
  } else if (readers() == 0) {
    behind_ = false;  // service() copies it for those that join
  } else if (!copy_in(s)) {
    dropped_.fetch_add(behind_ ? 1 : 0, std::memory_order_relaxed);
    behind_ = true;
  }
}

// The slot then has the bytes for the publication as well.
bool shm_publisher_link::copy_in(sample& s) noexcept {
  const auto bytes = payload_of(s);
  if (!make_room(bytes.size())) return false;
  const auto& current = memory_.current();
  const auto slot = free_slot(*current, bytes.size());
  if (!slot) return false;
  copy_bytes(current->payload(*slot), bytes.data(), bytes.size());
  publish(*slot, bytes.size(), {s.sequence, s.stamp_ns});
  if (s.source.data() != nullptr) s.source = {current->payload(*slot), bytes.size()};
  return true;
}

void shm_publisher_link::publish(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept {
  memory_.current()->publish(slot, size, header);
  behind_ = false;
  subscribers_.alert_all();
  memory_.current()->stock(subscribers_.pins());
}

bool shm_publisher_link::make_room(std::uint64_t size) noexcept {
  const auto& current = memory_.current();
  if (current && size <= current->form().capacity()) return true;
  // Samples grew since the subscribers joined. Subscribers with the most pins go until the others may pin larger
  // samples.
  while (size <= generations::max_sample_bytes && !memory_.acceptable(subscribers_.demand_for(size))) {
    if (!subscribers_.end_greediest()) break;
  }
  if (!memory_.make_room(subscribers_.demand_for(size))) return false;
  hand_over();
  subscribers_.want_turn(true);
  return true;
}

void shm_publisher_link::hand_over() noexcept {
  const auto left = memory_.take_left();
  if (!left) return;
  subscribers_.hand_over();  // [M2]
  left->move_on();           // [M3]
  subscribers_.alert_all();  // [M4]
}

unfinished shm_publisher_link::service(sample* last) noexcept {
  visit now_here;
  const std::uint64_t size = last != nullptr ? last->buffer.size() : 0;
  subscribers_.hear(now_here, size, last != nullptr ? last->sequence : 0);
  if (behind_ && last != nullptr) commit(*last);
  const bool more = admit(last, size);
  memory_.tidy();
  subscribers_.want_turn(more || memory_.work() != nullptr);
  subscribers_.close_gone();
  return {.behind = behind_ || subscribers_.behind(), .pause = now_here.rest(), .work = memory_.work()};
}

// Welcomes waiting subscribers as soon as there is memory for all of them. True: more work remains at once.
bool shm_publisher_link::admit(sample* last, std::uint64_t size) noexcept {
  const demand d = subscribers_.demand_for(size);
  if (d.joining == 0) {
    memory_.rest();
    return false;
  }
  const auto outcome = memory_.prepare(d, keep_last_ ? last : nullptr, subscribers_.pins());
  hand_over();
  subscribers_.admit(outcome);
  if (outcome == generations::progress::ready) memory_.rest();
  return outcome == generations::progress::working;
}

}  // namespace orc::detail::shm
