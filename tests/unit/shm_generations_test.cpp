// The segments of a publication: grown at once by its sender, or prepared in slices for subscribers that wait.
#include "transport/shm/generations.h"

#include <cstring>
#include <vector>

#include "support/catch.h"
#include "support/slots.h"
#include "transport/shm/loaned_slot.h"

using namespace orc::test;
namespace shm = orc::detail::shm;
using progress = shm::generations::progress;

namespace {

void put(shm::slot_writer& in, std::uint64_t sequence, std::size_t size) {
  const auto slot = in.take({});
  REQUIRE(slot);
  REQUIRE(in.ensure_backed(*slot, size));
  std::memset(in.payload(*slot), static_cast<int>(sequence), size);
  in.publish(*slot, size, {sequence, stamp_of(sequence)});
}

// Prepares until it is done, or waits for something else. `between`: what the sender does meanwhile.
template <class Between>
progress prepare(shm::generations& memory, const shm::demand& d, Between between) {
  for (;;) {
    const progress outcome = memory.prepare(d, nullptr, {});
    if (outcome != progress::working) return outcome;
    if (const auto work = memory.work()) work->step();
    between();
  }
}
progress prepare(shm::generations& memory, const shm::demand& d) {
  return prepare(memory, d, [] {});
}

bool is_filled_with(const shm::slot_writer& in, const shm::slot_writer::published& sample) {
  const std::byte* const bytes = in.payload(sample.slot);
  for (std::uint64_t n = 0; n < sample.size; ++n) {
    if (bytes[n] != static_cast<std::byte>(sample.header.sequence)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("A9: when there is no memory for larger samples the old generation goes on with its newest", "[unit]") {
  shm::generations memory(0, 4, {});
  REQUIRE(memory.make_room({.size = 1000}));
  const auto before = memory.current();
  put(*before, 1, 1000);
  CHECK(!memory.make_room({.size = shm::generations::max_sample_bytes}));
  CHECK(!memory.make_room({.size = shm::generations::max_sample_bytes + 1}));
  CHECK(memory.current() == before);
  CHECK(memory.number() == 1);
  CHECK(memory.take_left() == nullptr);
  CHECK(before->newest() == 1);
  REQUIRE(memory.make_room({.size = 100'000}));
  CHECK(memory.take_left() == before);
  CHECK(memory.number() == 2);
  CHECK(memory.current()->newest() == 1);
}

TEST_CASE("A1: a generation for more subscribers has the history, also what was sent while it was prepared", "[unit]") {
  for (const bool lock : {false, true}) {
    for (const std::size_t size : {std::size_t{100}, std::size_t{50'000}, std::size_t{3'000'000}}) {
      INFO("samples of " << size << " bytes, lock " << lock);
      shm::generations memory(0, 4, {.lock = lock});
      REQUIRE(memory.make_room({.size = size}));
      const auto before = memory.current();
      std::uint64_t sequence = 0;
      while (sequence < 10) put(*before, ++sequence, size);
      int turns = 0;
      const auto outcome = prepare(memory, {.size = size, .pins = 100, .joining = 10}, [&] {
        if (++turns % 20 == 1 && sequence < 14) put(*before, ++sequence, size);
      });
      REQUIRE(outcome == progress::ready);
      const auto now = memory.current();
      CHECK(now != before);
      CHECK(memory.take_left() == before);
      CHECK(shm::slot_writer::pins_of(now->form()) >= 100);
      CHECK(now->newest() == sequence);
      std::uint64_t found = 0;
      for (auto each = now->first_after(0, now->form()); each;
           each = now->first_after(each->header.sequence, now->form())) {
        ++found;
        CHECK(each->header.sequence == sequence - 4 + found);
        CHECK(is_filled_with(*now, *each));
      }
      CHECK(found == 4);
    }
  }
}

TEST_CASE("A1: where the newest wins the first loan of the prepared segment makes it current", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 3'000'000}));
  const auto before = memory.current();
  put(*before, 1, 3'000'000);
  const auto lent = before->take({});
  before->lend(*lent);  // it is being written
  const shm::demand d{.size = 3'000'000, .pins = 100, .joining = 10};
  CHECK(prepare(memory, d) == progress::waiting);
  CHECK(memory.current() == before);
  const auto next = memory.for_loans();
  REQUIRE(next != before);
  before->publish(*lent, 3'000'000, {2, stamp_of(2)});
  const auto slot = next->take({});
  REQUIRE(slot);
  memory.publish_in_next(*slot, 3'000'000, {3, stamp_of(3)});
  CHECK(memory.take_left() == before);
  CHECK(memory.current() == next);
  CHECK(memory.for_loans() == next);
  CHECK(next->newest() == 3);
  CHECK(prepare(memory, d) == progress::ready);
}

TEST_CASE("A1: segments that were left are given back when the last loan of them is", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 3'000'000}));
  std::weak_ptr<shm::slot_writer> first = memory.current();
  put(*memory.current(), 1, 3'000'000);
  const auto slot = memory.current()->take({});
  REQUIRE(slot);
  memory.current()->lend(*slot);
  auto loan = shm::loaned_buffer(memory.current(), *slot, 100);
  REQUIRE(memory.make_room({.size = 5'000'000}));
  CHECK(memory.take_left() != nullptr);
  memory.tidy();
  CHECK(memory.work() == nullptr);
  CHECK(!first.expired());
  loan.reset();
  memory.tidy();
  REQUIRE(memory.work() != nullptr);
  for (int n = 0; n < 10'000 && !memory.work()->done(); ++n) memory.work()->step();
  CHECK(first.expired());
}

TEST_CASE("A1: however deep subscribers want to go back one after the other, generations are few", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 100}));
  for (std::uint32_t depth = 1; depth <= 300; ++depth) {
    REQUIRE(prepare(memory, {.size = 100, .pins = 10, .depth = depth, .joining = 1}) == progress::ready);
    CHECK(memory.current()->form().history() >= depth);
    memory.rest();
  }
  CHECK(memory.number() <= 11);
  // Nor does it help to want many pins now and much history then.
  const auto before = memory.number();
  for (int n = 0; n < 20; ++n) {
    REQUIRE(prepare(memory, {.size = 100, .pins = 200, .joining = 1}) == progress::ready);
    REQUIRE(prepare(memory, {.size = 100, .pins = 10, .depth = 1000, .joining = 1}) == progress::ready);
  }
  CHECK(memory.number() <= before + 2);
}

TEST_CASE("A1: a history that nobody configured stays within its bytes when samples grow", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 100}));
  REQUIRE(prepare(memory, {.size = 100, .depth = 60'000, .joining = 1}) == progress::ready);
  REQUIRE(memory.make_room({.size = 1'000'000}));
  const auto& form = memory.current()->form();
  CHECK(form.history() * form.stride <= shm::generations::max_history_bytes);
}

TEST_CASE("A1: who joins after somebody who gave up finds the memory that was prepared", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 3'000'000}));
  put(*memory.current(), 1, 3'000'000);
  const shm::demand d{.size = 3'000'000, .pins = 100, .joining = 1};
  const auto work_of_one_that_gives_up = [&] {
    (void)memory.prepare(d, nullptr, {});
    memory.rest();
    int steps = 0;
    for (memory.tidy(); memory.work() != nullptr; memory.tidy()) {
      memory.work()->step();
      ++steps;
    }
    return steps;
  };
  const int first = work_of_one_that_gives_up();
  REQUIRE(first > 10);
  CHECK(work_of_one_that_gives_up() <= 3);  // a copy of the sample
  REQUIRE(memory.work() == nullptr);
  memory.tidy(orc::detail::monotonic::now() + std::chrono::minutes(1));
  CHECK(memory.work() != nullptr);  // it is given back
  while (memory.work() != nullptr) {
    memory.work()->step();
    memory.tidy();
  }
  CHECK(work_of_one_that_gives_up() == first);
  CHECK(work_of_one_that_gives_up() <= 3);
  CHECK(memory.prepare(d, nullptr, {}) == progress::ready);
  CHECK(memory.current()->newest() == 1);
}

TEST_CASE("A1: memory is taken for few of those that join at a time", "[unit]") {
  shm::generations memory(0, 1, {});
  REQUIRE(memory.make_room({.size = 3'000'000}));
  REQUIRE(prepare(memory, {.size = 3'000'000, .pins = 64, .joining = 64}) == progress::ready);
  CHECK(memory.current()->taken() >= 4);
  CHECK(memory.current()->taken() <= 12);
}

TEST_CASE("A1: a history of large samples exists before it fills, within its bytes", "[unit]") {
  for (const std::size_t size : {std::size_t{100'000}, std::size_t{3'000'000}}) {
    INFO("samples of " << size << " bytes");
    shm::generations memory(0, 1, {});
    REQUIRE(memory.make_room({.size = size}));
    REQUIRE(prepare(memory, {.size = size, .pins = 4, .depth = 64, .joining = 1}) == progress::ready);
    CHECK(memory.current()->taken() * size >= std::min(64 * size, std::size_t{12'000'000}));
    CHECK(memory.current()->taken() * size <= 16'800'000 + 6 * size);
  }
}

TEST_CASE("A1: a history of large samples exists ahead of its sender, who made the segment", "[unit]") {
  shm::generations memory(0, 1, {});
  constexpr std::size_t size = 1'000'000;
  REQUIRE(memory.make_room({.size = size, .pins = 4, .depth = 60}));
  const auto work_off = [&] {
    memory.tidy();
    if (const auto work = memory.work())
      while (!work->done()) work->step();
    memory.tidy();
  };
  std::uint64_t sequence = 0;
  for (const std::uint32_t used : {1U, 20U, 40U}) {
    while (sequence < used) put(*memory.current(), ++sequence, size);
    work_off();
    CHECK(memory.current()->taken() >= used + 8);
    CHECK(memory.current()->taken() <= used + 20);
  }
  const std::uint32_t before = memory.current()->taken();
  work_off();
  CHECK(memory.current()->taken() == before);
}
