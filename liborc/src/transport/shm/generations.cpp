#include "transport/shm/generations.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include "base/copy.h"
#include "transport/shm/loaned_slot.h"

namespace orc::detail::shm {

namespace {

// Pins for later subscribers, because a new generation costs more than addresses.
constexpr std::uint32_t pins_in_advance = 32;
// Subscribers for which slots are made at a time. With large samples, slots for a whole crowd would take all memory.
constexpr std::uint32_t max_planned_for = 4;
// Locked pins for later subscribers: for one of them, because they take memory.
constexpr std::uint32_t locked_in_advance = 10;
// Of a history of large samples, bytes that exist before they are used.
constexpr std::uint64_t history_in_advance = std::uint64_t{16} << 20;

// Bytes copied in one visit, with the lock held.
constexpr std::uint64_t bytes_per_visit = 64 * 1024;
constexpr int samples_per_visit = 64;
// Larger samples are copied without the lock.
constexpr std::uint64_t small_sample = 64 * 1024;
// Samples copied beyond twice the history. Then the publisher is too fast, and waits once.
constexpr std::uint32_t max_overtaken = 16;
// A loan that is out for longer may find its segment replaced. Sending it then makes a copy.
constexpr auto patience_with_loans = std::chrono::seconds(1);
// Memory prepared for subscribers that gave up is kept for the next ones, so that subscribers that come and go do not
// make it begin anew.
constexpr auto kept_for = std::chrono::seconds(2);

[[nodiscard]] std::uint32_t within_history_bytes(std::uint32_t history, std::uint64_t capacity) noexcept {
  const std::uint64_t stride = slot_writer::shape_for({.capacity = capacity}).stride;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(history, 1, std::max<std::uint64_t>(1, generations::max_history_bytes / stride)));
}

}  // namespace

result generations::reserve() {
  if (expected_size_ == 0) return {};
  const slot_writer::needs needs{.capacity = expected_size_, .history = history_, .pins = pins_in_advance};
  auto made = slot_writer::make(slot_writer::shape_for(needs), ++number_, options_.huge_pages);
  if (!made) return made.error();
  current_ = *std::move(made);
  current_->keep(history_);
  if (!options_.lock) return {};
  const std::uint32_t slots = slots_to_take(*current_, {});
  if (auto locked = current_->take_memory(0, current_->end_of(slots), true); !locked) return locked;
  current_->note_taken(slots);
  return {};
}

// ---- sizes ----

slot_writer::needs generations::needs_of(const demand& d) const noexcept {
  // In powers of two, so that subscribers that each go back a little further do not each cost a generation.
  const std::uint32_t history = d.depth > history_ ? std::min(std::bit_ceil(d.depth), max_history) : history_;
  slot_writer::needs n{.capacity = d.size, .history = history, .pins = d.pins};
  if (current_) {
    const std::uint64_t capacity = current_->form().capacity();
    n.capacity = std::max(d.size, capacity);
    // Samples that grow a little again and again must not cost a generation every time.
    if (d.size > capacity && d.size >= large_slot) n.capacity = d.size + d.size / 4;
  } else {
    n.capacity = std::max<std::uint64_t>(d.size, expected_size_);
  }
  n.history = within_history_bytes(n.history, n.capacity);
  return n;
}

bool generations::fits(const demand& d, std::uint32_t parts) const noexcept {
  return d.size <= max_sample_bytes && d.pins <= max_pins / parts &&
         d.pins * slot_writer::shape_for(needs_of(d)).stride <= max_pinned_bytes / parts;
}

bool generations::suffices(const slot_writer& of, const slot_writer::needs& n) const noexcept {
  return n.capacity <= of.form().capacity() && n.pins <= slot_writer::pins_of(of.form()) &&
         n.history <= of.form().history();
}

std::shared_ptr<slot_writer> generations::make(slot_writer::needs n) {
  retired_.reserve(retired_.size() + 2);
  n.pins = std::max(pins_in_advance, 2 * n.pins);
  // No less than before: otherwise alternating demands for pins and history would each cost a generation.
  for (const auto& older : {current_, next_}) {
    if (!older) continue;
    n.pins = std::max(n.pins, slot_writer::pins_of(older->form()));
    n.history = std::max(n.history, within_history_bytes(older->form().history(), n.capacity));
  }
  auto made = slot_writer::make(slot_writer::shape_for(n), number_ + 1, options_.huge_pages);
  if (!made) return nullptr;
  (*made)->keep(history_);
  return *std::move(made);
}

// Slots to take before they are used, so that send does not wait for the kernel. With lock: all that can be in use at a
// time. Otherwise, for large samples only: those used so far, the next ones of a history, and two for each of a few
// joining subscribers.
std::uint32_t generations::slots_to_take(const slot_writer& of, const demand& d) const noexcept {
  const shape& form = of.form();
  if (options_.lock) {
    const slot_writer::needs n{
        .capacity = form.capacity(), .history = form.history(), .pins = std::max(d.pins, locked_in_advance)};
    return std::min(form.slots, slot_writer::shape_for(n).slots);
  }
  if (form.stride < large_slot) return 0;
  const std::uint32_t used = std::max(of.used(), current_ ? current_->used() : 0);
  const auto ahead =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(form.history() - 1, used + history_in_advance / form.stride));
  return std::min(form.slots, std::max(used, ahead) + 2 * std::min(d.joining, max_planned_for) + 2);
}

// ---- for the sender ----

bool generations::make_room(const demand& d) noexcept try {
  if (d.size > max_sample_bytes) return false;
  if (current_ && d.size <= current_->form().capacity()) return true;
  auto fresh = make(needs_of(d));
  if (!fresh) return false;
  if (options_.lock) {
    const std::uint32_t slots = slots_to_take(*fresh, d);
    if (fresh->take_memory(0, fresh->end_of(slots), true).code() == errc::no_memory) return false;
    fresh->note_taken(slots);
  }
  if (current_ && !fresh->inherit(*current_)) return false;  // [M1]
  retire(std::exchange(next_, std::move(fresh)));
  adopt();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

// No reader sees the next segment before its hand-over, so the sample is in it when they find it. Readers do not want
// earlier samples: the newest wins, or for_loans() did not lend the slot.
void generations::publish_in_next(std::uint32_t slot, std::uint64_t size, const wire::sample_header& header) noexcept {
  next_->publish(slot, size, header);
  adopt();
}

void generations::adopt() noexcept {
  left_ = std::exchange(current_, std::exchange(next_, nullptr));
  if (left_) retired_.push_back(left_);  // make() reserved a place
  number_ = current_->generation();
  redirects_ = false;
}

void generations::retire(std::shared_ptr<slot_writer> segment) noexcept {
  if (segment) retired_.push_back(std::move(segment));  // make() reserved a place
  redirects_ = false;
}

// ---- for subscribers that wait ----

generations::progress generations::prepare(const demand& d, sample* last, std::span<const pin_table> pins) noexcept
    try {
  if (std::exchange(kept_since_, {}) != monotonic::time_point{}) {
    overtaken_ = 0;
    caught_up_at_ = {};
  }
  if (work_ && !work_->done()) return progress::working;
  if (!finish()) {
    give_up();
    return progress::failed;
  }
  const slot_writer::needs n = needs_of(d);
  if (!current_ || !suffices(*current_, n)) {
    const progress outcome = prepare_next(d, n);
    if (outcome == progress::failed) give_up();
    if (outcome != progress::ready) return outcome;
  } else if (const std::uint32_t slots = slots_to_take(*current_, d); current_->taken() < slots) {
    start_taking(current_, slots);
    return progress::working;
  }
  return bring(last, pins);
} catch (const std::bad_alloc&) {
  give_up();
  return progress::failed;
}

generations::progress generations::prepare_next(const demand& d, const slot_writer::needs& n) {
  if (!next_ || !suffices(*next_, n)) {
    auto fresh = make(n);
    if (!fresh) return progress::failed;
    retire(std::exchange(next_, std::move(fresh)));
    copied_ = 0;
    overtaken_ = 0;
    caught_up_at_ = {};
  }
  if (const std::uint32_t slots = slots_to_take(*next_, d); next_->taken() < slots && !redirects_) {
    start_taking(next_, slots);
    return progress::working;
  }
  if (current_) {
    redirects_ = current_->form().history() == 1 && next_->form().history() == 1;
    if (const progress outcome = catch_up(); outcome != progress::ready) return outcome;
  }
  adopt();  // [M1]
  return progress::ready;
}

// Copies the samples that next_ lacks: small ones here, a large one without the lock.
generations::progress generations::catch_up() {
  std::uint64_t bytes = 0;
  for (int n = 0; const auto each = current_->first_after(copied_, next_->form()); ++n) {
    const bool too_fast = overtaken_++ >= max_overtaken + 2 * next_->form().history();
    if (!too_fast && (n == samples_per_visit || (n != 0 && bytes + each->size > bytes_per_visit)))
      return progress::working;
    if (each->size > small_sample && !too_fast) {
      const auto slot = next_->take({});
      if (!slot) return progress::failed;
      if (!next_->ensure_backed(*slot, each->size)) {
        next_->put_back(*slot);
        return progress::failed;
      }
      current_->hold(each->slot);
      start_copy(next_, *slot,
                 {loaned_buffer(current_, each->slot, each->size), each->header.sequence, each->header.stamp_ns});
      return progress::working;
    }
    if (!next_->inherit(*current_, *each)) return progress::failed;
    copied_ = each->header.sequence;
    bytes += each->size;
  }
  if (!redirects_ || current_->lent() == 0) return progress::ready;
  // Sending a loan of the current segment would then make a copy.
  const auto now = monotonic::now();
  if (caught_up_at_ == monotonic::time_point{}) caught_up_at_ = now;
  return now - caught_up_at_ < patience_with_loans ? progress::waiting : progress::ready;
}

// The last sample was sent while no reader was there: puts it into the current segment.
generations::progress generations::bring(sample* last, std::span<const pin_table> pins) {
  if (last == nullptr || current_->newest() >= last->sequence) return progress::ready;
  const std::uint64_t size = last->buffer.size();
  const auto slot = current_->take(pins);
  if (!slot) return progress::failed;
  if (!current_->ensure_backed(*slot, size)) {
    current_->put_back(*slot);
    return progress::failed;
  }
  if (size <= small_sample) {
    copy_bytes(current_->payload(*slot), last->buffer.payload(), size);
    current_->publish(*slot, size, {last->sequence, last->stamp_ns});
    return progress::ready;
  }
  expects_readers_ = true;
  start_copy(current_, *slot, {share(last->buffer), last->sequence, last->stamp_ns});
  return progress::working;
}

void generations::rest() noexcept {
  expects_readers_ = false;
  redirects_ = false;
  if (next_ && kept_since_ == monotonic::time_point{}) kept_since_ = monotonic::now();
}

void generations::give_up() noexcept {
  expects_readers_ = false;
  kept_since_ = {};
  retire(std::exchange(next_, nullptr));
}

// A history that fills: its sender made the segment, or used what was taken.
void generations::take_ahead() {
  if (!current_ || next_ || options_.lock || current_->form().history() == 1) return;
  if (const std::uint32_t slots = slots_to_take(*current_, {}); current_->taken() < slots)
    start_taking(current_, slots);
}

// ---- work ----

void generations::start(std::uint64_t begin, std::uint64_t end, task what, sliced_work::slice each) {
  work_ = std::make_shared<sliced_work>(begin, end, std::move(each));
  task_ = std::move(what);
}

void generations::start_taking(const std::shared_ptr<slot_writer>& in, std::uint32_t slots) {
  const std::uint64_t begin = in->taken() == 0 ? 0 : in->end_of(in->taken());
  start(begin, in->end_of(slots), {.in = in, .taken = slots, .slot = {}, .size = 0, .header = {}},
        [in, locks = options_.lock](std::uint64_t at, std::uint64_t size) {
          return in->take_memory(at, size, locks).code() != errc::no_memory;
        });
}

void generations::start_copy(const std::shared_ptr<slot_writer>& to, std::uint32_t slot, sample from) {
  const auto source = std::make_shared<sample>(std::move(from));
  const std::uint64_t size = source->buffer.size();
  std::byte* const payload = to->payload(slot);
  start(0, size, {.in = to, .taken = 0, .slot = slot, .size = size, .header = {source->sequence, source->stamp_ns}},
        [to, payload, source](std::uint64_t at, std::uint64_t bytes) {
          copy_bytes(payload + at, source->buffer.payload() + at, bytes);
          return true;
        });
}

// False: the work failed. Its purpose may be gone by now.
bool generations::finish() noexcept {
  const auto work = std::exchange(work_, nullptr);
  const task done = std::exchange(task_, {});
  if (!work || !done.in) return true;
  if (work->failed()) return done.in != current_ && done.in != next_;
  done.in->note_taken(done.taken);
  if (!done.slot) return true;
  if (done.in->newest() >= done.header.sequence) {
    done.in->put_back(*done.slot);  // a newer one came first
  } else {
    done.in->publish(*done.slot, done.size, done.header);
  }
  if (done.in == next_) copied_ = done.header.sequence;
  return true;
}

// A segment that only this class knows can have no new user.
void generations::tidy(monotonic::time_point now) noexcept try {
  if (work_) {
    if (!work_->done()) return;
    if (!finish()) return;  // no memory: not again at once
  }
  if (kept_since_ != monotonic::time_point{} && now - kept_since_ >= kept_for) give_up();
  const auto unused =
      std::find_if(retired_.begin(), retired_.end(), [](const auto& each) { return each.use_count() == 1; });
  if (unused == retired_.end()) return take_ahead();
  const auto segment = *unused;
  const std::uint64_t end = segment->end_of(std::max(segment->used(), segment->taken())) / page_size * page_size;
  start(0, end, {}, [segment, end](std::uint64_t at, std::uint64_t size) {
    segment->trim(end - at - size);
    return true;
  });
  retired_.erase(unused);
} catch (const std::bad_alloc&) {
}

}  // namespace orc::detail::shm
