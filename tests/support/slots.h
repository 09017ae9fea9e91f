// A segment's two ends over one mapping, so that ThreadSanitizer sees that both touch the same bytes; and samples whose
// every word tells which one they are.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "support/budget.h"
#include "support/value_of.h"
#include "transport/shm/slot_reader.h"
#include "transport/shm/slot_writer.h"

namespace orc::test {

[[nodiscard]] constexpr std::int64_t stamp_of(std::uint64_t sequence) {
  return static_cast<std::int64_t>(sequence * 1'000'003);
}
[[nodiscard]] constexpr std::uint64_t word_of(std::uint64_t sequence, std::size_t n) {
  return (sequence + 1) * 0x9E3779B97F4A7C15u + n * 0xD1B54A32D192ED03u;
}

// The publisher's end. One thread, but for seen(), and page() before others look.
class slots {
 public:
  explicit slots(const detail::shm::slot_writer::needs& needs, std::uint32_t generation = 1)
      : slots(detail::shm::slot_writer::shape_for(needs), generation) {}
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;

  [[nodiscard]] detail::shm::slot_writer& writer() { return *writer_; }
  [[nodiscard]] const detail::shm::segment& seen() const { return *seen_; }
  // A page for one more reader. Stays where it is.
  [[nodiscard]] detail::shm::reader_page& page(std::uint32_t pins = 4, bool in_order = false) {
    pages_.push_back(std::make_unique<detail::shm::reader_page>());
    pins_.push_back({pages_.back().get(), pins, in_order});
    return *pages_.back();
  }
  [[nodiscard]] const std::vector<detail::shm::pin_table>& pins() const { return pins_; }
  [[nodiscard]] std::optional<std::uint32_t> take() { return writer_->take(pins_); }

  void publish(std::uint32_t slot, std::uint64_t sequence, std::size_t bytes = 64) {
    auto* const words = reinterpret_cast<std::uint64_t*>(writer_->payload(slot));
    for (std::size_t n = 0; n < bytes / 8; ++n) words[n] = word_of(sequence, n);
    writer_->publish(slot, bytes, {sequence, stamp_of(sequence)});
  }
  std::optional<std::uint32_t> put(std::uint64_t sequence, std::size_t bytes = 64) {
    const auto slot = take();
    if (slot) publish(*slot, sequence, bytes);
    return slot;
  }

 private:
  slots(const detail::shm::shape& form, std::uint32_t generation) {
    auto memory = value_of(detail::shm::make_shared_memory(form.bytes(), detail::shm::others::read_and_write));
    // Never ended: the mapping is the writer's.
    seen_ =
        ::new (memory_) detail::shm::segment(detail::shm::mapping(memory.memory.bytes(), memory.memory.size()), form);
    writer_ = std::make_shared<detail::shm::slot_writer>(form, generation, std::move(memory));
  }

  alignas(detail::shm::segment) std::byte memory_[sizeof(detail::shm::segment)];
  const detail::shm::segment* seen_ = nullptr;
  std::shared_ptr<detail::shm::slot_writer> writer_;
  std::vector<std::unique_ptr<detail::shm::reader_page>> pages_;
  std::vector<detail::shm::pin_table> pins_;
};

// A subscriber's end: what it holds, of whatever segment. One thread.
class slots_reader {
 public:
  slots_reader(detail::shm::reader_page& page, std::uint32_t pins) : page_(&page) {
    for (std::uint32_t pin = 0; pin < pins; ++pin) free_.push_back(pin);
  }

  // The sample after the last one that was taken, held until drop(). There must be a pin left.
  [[nodiscard]] detail::shm::found take(const detail::shm::segment& from, detail::pick which = detail::pick::newest) {
    held_sample fresh{&from, {}, free_.back()};
    const auto outcome = detail::shm::pin_sample(from, page_->pins[fresh.pin], last_, which, fresh.what);
    if (outcome != detail::shm::found::sample) return outcome;
    free_.pop_back();
    last_ = fresh.what.header.sequence;
    if (which == detail::pick::next) page_->taken = last_;
    held_.push_back(fresh);
    return outcome;
  }
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  [[nodiscard]] std::size_t room() const { return free_.size(); }
  [[nodiscard]] std::uint64_t last() const { return last_; }
  [[nodiscard]] const detail::shm::pinned_sample& newest() const { return held_.back().what; }
  [[nodiscard]] bool is_whole(std::size_t n) const {
    const auto& [in, what, pin] = held_[n];
    const auto* const words = reinterpret_cast<const std::uint64_t*>(in->payload(what.slot));
    // Not the guard: the publisher may have set it to 0 before it saw the pin.
    bool whole = in->slot(what.slot).size == what.size && what.header.stamp_ns == stamp_of(what.header.sequence);
    for (std::size_t i = 0; i < what.size / 8; ++i) whole = whole && words[i] == word_of(what.header.sequence, i);
    return whole;
  }
  [[nodiscard]] bool all_are_whole() const {
    for (std::size_t n = 0; n < held_.size(); ++n) {
      if (!is_whole(n)) return false;
    }
    return true;
  }
  void drop(std::size_t n) {
    detail::shm::unpin(page_->pins[held_[n].pin]);
    free_.push_back(held_[n].pin);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(n));
  }

 private:
  struct held_sample {
    const detail::shm::segment* in;
    detail::shm::pinned_sample what;
    std::uint32_t pin;
  };
  detail::shm::reader_page* page_;
  std::vector<std::uint32_t> free_;
  std::vector<held_sample> held_;
  std::uint64_t last_ = 0;
};

}  // namespace orc::test
