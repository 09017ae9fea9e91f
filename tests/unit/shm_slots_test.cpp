// The slots of shared memory, both ends in one process: which sample a reader finds, and that it stays as it is.
#include <array>
#include <cstring>
#include <memory>
#include <vector>

#include "support/catch.h"
#include "support/slots.h"
#include "support/value_of.h"

using namespace orc::test;
using orc::detail::pick;
namespace shm = orc::detail::shm;

namespace {

constexpr shm::slot_writer::needs small{.capacity = 64, .history = 4, .pins = 4};

}  // namespace

TEST_CASE("shm slots: a shape has the entries that its needs ask for", "[unit]") {
  const auto one = shm::slot_writer::shape_for({.capacity = 0, .history = 0, .pins = 0});
  CHECK(one.makes_sense());
  CHECK(one.history() == 1);
  CHECK(one.slots == 2 + 3 + shm::slot_writer::max_loans);
  for (const std::uint64_t capacity : {1ull, 200ull, 224ull, 225ull, 65'504ull, 65'505ull, 100'000ull, 8'000'000ull}) {
    for (const std::uint32_t history : {1u, 2u, 3u, 64u, 65u, 65'536u}) {
      const auto s = shm::slot_writer::shape_for({.capacity = capacity, .history = history, .pins = 10});
      INFO(capacity << " bytes, history " << history);
      CHECK(s.makes_sense());
      CHECK(s.capacity() >= capacity);
      CHECK(s.history() == history);
      CHECK(shm::slot_writer::pins_of(s) == 10);
      CHECK(s.bytes() >= s.slots_at() + s.slots * s.stride);
    }
  }
}

TEST_CASE("shm slots: the newest is found, and each once", "[unit]") {
  slots s(small);
  slots_reader reader(s.page(), 4);
  CHECK(reader.take(s.seen()) == shm::found::nothing);
  s.put(1);
  s.put(2);
  s.put(3);
  REQUIRE(reader.take(s.seen()) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 3);
  CHECK(reader.newest().header.stamp_ns == stamp_of(3));
  CHECK(reader.all_are_whole());
  CHECK(reader.take(s.seen()) == shm::found::nothing);
  s.put(4);
  REQUIRE(reader.take(s.seen()) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 4);
  CHECK(reader.all_are_whole());
}

// What the model calls RING_OF_H: a publisher that is preempted after it has entered the next sample and before it says
// so must not keep a reader in order busy.
TEST_CASE("shm slots: next finds the oldest while the newest is about to come", "[unit]") {
  for (const std::uint32_t history : {1u, 4u}) {
    slots s({.capacity = 64, .history = history, .pins = 4});
    slots_reader reader(s.page(), 4);
    for (std::uint64_t n = 1; n <= history + 1; ++n) s.put(n);
    // Back to between [C3] and [C4] of the last one.
    const_cast<std::atomic<std::uint64_t>&>(s.seen().header().newest).store(history);
    REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(reader.newest().header.sequence == 1);
    CHECK(reader.all_are_whole());
  }
}

TEST_CASE("shm slots: next goes on in order, from the oldest that is there", "[unit]") {
  slots s(small);
  slots_reader reader(s.page(), 4);
  for (std::uint64_t n = 1; n <= 10; ++n) s.put(n);
  for (const std::uint64_t expected : {7u, 8u, 9u}) {
    REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(reader.newest().header.sequence == expected);
    CHECK(reader.all_are_whole());
    reader.drop(0);
  }
  // What is held back is no hole for others, and newest after next does not go back.
  s.put(11);
  REQUIRE(reader.take(s.seen()) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 11);
  CHECK(reader.take(s.seen(), pick::next) == shm::found::nothing);
  s.put(12);
  s.put(13);
  REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 12);
  CHECK(reader.all_are_whole());
}

TEST_CASE("shm slots: what all readers in order have taken is used again, and what one wants stays", "[unit]") {
  slots s({.capacity = 64, .history = 100, .pins = 8});
  s.writer().keep(1);
  slots_reader first(s.page(4, true), 4);
  slots_reader second(s.page(4, true), 4);
  const auto take_next = [&](slots_reader& reader, std::uint64_t expected) {
    REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(reader.newest().header.sequence == expected);
    CHECK(reader.all_are_whole());
    reader.drop(0);
  };
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    REQUIRE(s.put(n));
    take_next(first, n);
    take_next(second, n);
  }
  CHECK(s.writer().used() <= 6);
  // One lags behind: it finds all, and the other one none twice.
  for (std::uint64_t n = 1001; n <= 1090; ++n) {
    REQUIRE(s.put(n));
    take_next(first, n);
  }
  for (std::uint64_t n = 1001; n <= 1090; ++n) take_next(second, n);
  const auto used = s.writer().used();
  for (std::uint64_t n = 1091; n <= 1300; ++n) {
    REQUIRE(s.put(n));
    take_next(first, n);
    take_next(second, n);
  }
  CHECK(s.writer().used() == used);
}

TEST_CASE("shm slots: a reader in order that has taken nothing keeps the history whole", "[unit]") {
  slots s({.capacity = 64, .history = 10, .pins = 8});
  s.writer().keep(1);
  slots_reader quick(s.page(4, true), 4);
  slots_reader late(s.page(4, true), 4);
  for (std::uint64_t n = 1; n <= 50; ++n) {
    REQUIRE(s.put(n));
    REQUIRE(quick.take(s.seen(), pick::next) == shm::found::sample);
    quick.drop(0);
  }
  for (std::uint64_t n = 41; n <= 50; ++n) {
    REQUIRE(late.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(late.newest().header.sequence == n);
    late.drop(0);
  }
}

TEST_CASE("shm slots: readers that are not in order find what is kept for them", "[unit]") {
  slots s({.capacity = 64, .history = 100, .pins = 8});
  s.writer().keep(3);
  slots_reader in_order(s.page(4, true), 4);
  slots_reader other(s.page(4), 4);
  for (std::uint64_t n = 1; n <= 50; ++n) {
    REQUIRE(s.put(n));
    REQUIRE(in_order.take(s.seen(), pick::next) == shm::found::sample);
    in_order.drop(0);
  }
  std::vector<std::uint64_t> found;
  while (other.take(s.seen(), pick::next) == shm::found::sample) {
    found.push_back(other.newest().header.sequence);
    other.drop(0);
  }
  REQUIRE(found.size() >= 3);
  CHECK(std::vector(found.end() - 3, found.end()) == std::vector<std::uint64_t>{48, 49, 50});
  CHECK(s.writer().used() <= 9);
}

TEST_CASE("shm slots: a reader that lies about what it has taken only harms itself", "[unit]") {
  slots s({.capacity = 64, .history = 10, .pins = 8});
  s.writer().keep(1);
  slots_reader honest(s.page(4, true), 4);
  s.page(4, true).taken = ~std::uint64_t{0};
  REQUIRE(s.put(1));
  REQUIRE(honest.take(s.seen(), pick::next) == shm::found::sample);
  honest.drop(0);
  for (std::uint64_t n = 2; n <= 9; ++n) REQUIRE(s.put(n));
  for (std::uint64_t n = 2; n <= 9; ++n) {
    REQUIRE(honest.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(honest.newest().header.sequence == n);
    honest.drop(0);
  }
}

TEST_CASE("shm slots: sequences that were never sent here are passed over", "[unit]") {
  // Nobody read from here while they were sent.
  slots s(small);
  slots_reader reader(s.page(), 4);
  for (const std::uint64_t n : {3u, 5u, 100u, 102u}) s.put(n);
  for (const std::uint64_t expected : {100u, 102u}) {
    REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
    CHECK(reader.newest().header.sequence == expected);
  }
  CHECK(reader.take(s.seen(), pick::next) == shm::found::nothing);
  slots_reader other(s.page(), 4);
  REQUIRE(other.take(s.seen()) == shm::found::sample);
  CHECK(other.newest().header.sequence == 102);
}

TEST_CASE("shm slots: there is always one more, whatever is pinned, lent and kept", "[unit]") {
  for (const std::uint32_t history : {1u, 2u, 8u}) {
    INFO("history " << history);
    slots s({.capacity = 64, .history = history, .pins = 12});
    std::vector<slots_reader> readers;
    for (int n = 0; n < 3; ++n) readers.emplace_back(s.page(4), 4);
    std::uint64_t sequence = 0;
    // All pins, each on a slot of its own.
    for (int k = 0; k < 4; ++k) {
      for (auto& reader : readers) {
        REQUIRE(s.put(++sequence));
        REQUIRE(reader.take(s.seen()) == shm::found::sample);
      }
    }
    std::vector<std::uint32_t> lent;
    while (s.writer().may_lend()) {
      const auto slot = s.take();
      REQUIRE(slot);
      s.writer().lend(*slot);
      lent.push_back(*slot);
    }
    CHECK(lent.size() == shm::slot_writer::max_loans);
    // And the last sample, which the publication keeps: it was lent as well.
    s.writer().let_go(lent.back());
    s.writer().hold(lent.back());
    for (int n = 0; n < 100; ++n) REQUIRE(s.put(++sequence));
    s.publish(lent.front(), ++sequence);
    for (int n = 0; n < 100; ++n) REQUIRE(s.put(++sequence));
    for (auto& reader : readers) CHECK(reader.all_are_whole());
    for (const auto slot : lent) s.writer().let_go(slot);
    for (int n = 0; n < 100; ++n) REQUIRE(s.put(++sequence));
    for (auto& reader : readers) CHECK(reader.all_are_whole());
  }
}

TEST_CASE("shm slots: pins that make no sense cost a place each, and no more", "[unit]") {
  slots s({.capacity = 64, .history = 2, .pins = shm::max_pins_of_reader + 4});
  shm::reader_page& hostile = s.page(shm::max_pins_of_reader);
  slots_reader honest(s.page(4), 4);
  std::minstd_rand random(5);
  for (std::uint64_t sequence = 1; sequence <= rounds(20'000, 1'000'000); ++sequence) {
    for (auto& pin : hostile.pins) pin = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 100);
    if (!s.put(sequence)) FAIL("no slot for " << sequence);
    if (random() % 2 == 0) s.writer().stock(s.pins());
    while (honest.held() > random() % 4) honest.drop(random() % honest.held());
    if (honest.take(s.seen()) != shm::found::sample) FAIL("not found: " << sequence);
    if (honest.newest().header.sequence != sequence || !honest.all_are_whole()) FAIL("wrong: " << sequence);
  }
}

TEST_CASE("shm slots: a pinned slot is left alone until it is let go, then used again", "[unit]") {
  slots s(small);
  slots_reader reader(s.page(), 4);
  s.put(1);
  REQUIRE(reader.take(s.seen()) == shm::found::sample);
  const auto pinned = reader.newest().slot;
  const auto used_within = [&](std::uint64_t from, std::uint64_t to) {
    bool used = false;
    for (auto n = from; n < to; ++n) used = s.put(n) == pinned || used;
    return used;
  };
  CHECK(!used_within(2, 200));
  CHECK(reader.all_are_whole());
  reader.drop(0);
  CHECK(used_within(200, 400));
}

TEST_CASE("shm slots: one that is not needed is put back, and nobody sees it", "[unit]") {
  slots s(small);
  slots_reader reader(s.page(), 4);
  s.put(1);
  // Far more often than there are slots.
  for (int n = 0; n < 1000; ++n) {
    const auto slot = s.take();
    REQUIRE(slot);
    std::memset(s.writer().payload(*slot), 0xEE, 64);
    s.writer().put_back(*slot);
  }
  REQUIRE(reader.take(s.seen(), pick::next) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 1);
  CHECK(reader.all_are_whole());
  CHECK(reader.take(s.seen()) == shm::found::nothing);
  for (std::uint64_t n = 2; n < 100; ++n) REQUIRE(s.put(n));
  CHECK(reader.all_are_whole());
}

TEST_CASE("shm slots: a new generation has the history of the old one", "[unit]") {
  for (const std::uint32_t history : {1u, 4u, 16u}) {
    slots older({.capacity = 64, .history = 4, .pins = 4});
    for (const std::uint64_t n : {1u, 2u, 3u, 7u, 8u, 10u}) older.put(n);
    slots younger({.capacity = 4096, .history = history, .pins = 8}, 2);
    REQUIRE(younger.writer().inherit(older.writer()));
    older.writer().move_on();
    INFO("history " << history);
    CHECK(older.seen().header().moved == 1);
    CHECK(younger.seen().header().moved == 0);
    CHECK(younger.seen().newest() == 10);
    CHECK(younger.seen().header().generation == 2);
    slots_reader reader(younger.page(), 8);
    std::vector<std::uint64_t> got;
    while (reader.take(younger.seen(), pick::next) == shm::found::sample)
      got.push_back(reader.newest().header.sequence);
    CHECK(got == (history == 1 ? std::vector<std::uint64_t>{10} : std::vector<std::uint64_t>{7, 8, 10}));
    CHECK(reader.all_are_whole());
    // It goes on where the old one ended.
    REQUIRE(younger.put(11));
    REQUIRE(reader.take(younger.seen()) == shm::found::sample);
    CHECK(reader.newest().header.sequence == 11);
  }
}

TEST_CASE("shm slots: an empty generation, and samples too large for a new one, leave nothing to inherit", "[unit]") {
  slots older(small);
  slots younger(small, 2);
  CHECK(younger.writer().inherit(older.writer()));
  CHECK(younger.seen().newest() == 0);
  slots large({.capacity = 100'000, .history = 4, .pins = 4});
  large.put(1, 8);
  large.put(2, 90'000);
  large.put(3, 16);
  slots next(small, 2);
  CHECK(next.writer().inherit(large.writer()));
  slots_reader reader(next.page(), 4);
  REQUIRE(reader.take(next.seen(), pick::next) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 1);
  REQUIRE(reader.take(next.seen(), pick::next) == shm::found::sample);
  CHECK(reader.newest().header.sequence == 3);
  CHECK(reader.all_are_whole());
}

TEST_CASE("A9: a generation that cannot take the history of the old one says so", "[unit]") {
  slots older(small);
  for (const std::uint64_t n : {1u, 2u, 3u, 4u}) older.put(n);
  // As when memory runs out on the way.
  const shm::shape narrow{.slots = 3, .entries = 5, .stride = 256};
  const auto younger = value_of(shm::slot_writer::make(narrow, 2, false));
  CHECK(!younger->inherit(older.writer()));
  CHECK(older.seen().newest() == 4);
  CHECK(older.seen().header().moved == 0);
}

TEST_CASE("shm slots: what no publisher of ours writes is told from a sample, and nothing stays pinned", "[unit]") {
  const auto outcome_of = [](auto&& spoil, pick which = pick::newest) {
    slots s(small);
    slots_reader reader(s.page(), 4);
    s.put(1);
    const auto slot = s.put(2);
    spoil(s, const_cast<shm::segment_header&>(s.seen().header()), const_cast<shm::slot_header&>(s.seen().slot(*slot)));
    const auto outcome = reader.take(s.seen(), which);
    if (outcome != shm::found::sample) {
      for (const auto& pin : s.pins()[0].page->pins) CHECK(pin == 0);
    }
    return outcome;
  };
  using head = shm::segment_header;
  using slot = shm::slot_header;
  CHECK(outcome_of([](slots&, head& h, slot&) { h.latest = 1'000'000; }) == shm::found::nonsense);
  CHECK(outcome_of([](slots& s, head& h, slot&) { h.latest = s.seen().form().slots; }) == shm::found::nonsense);
  CHECK(outcome_of([](slots&, head&, slot& s) { s.size = ~std::uint64_t{0}; }) == shm::found::nonsense);
  CHECK(outcome_of([](slots& all, head&, slot& s) { s.size = all.seen().form().capacity() + 1; }) ==
        shm::found::nonsense);
  CHECK(outcome_of([](slots&, head&, slot& s) { s.guard = 77; }) == shm::found::nonsense);
  // A publisher that was stopped, or died, between two steps: it is asked again later.
  CHECK(outcome_of([](slots&, head&, slot& s) { s.guard = 0; }) == shm::found::overtaken);
  // Counting up to it would not end.
  for (const auto which : {pick::newest, pick::next}) {
    CHECK(outcome_of([](slots&, head& h, slot&) { h.newest = ~std::uint64_t{0}; }, which) == shm::found::nonsense);
    CHECK(outcome_of([](slots&, head& h, slot&) { h.newest = ~std::uint64_t{1}; }, which) != shm::found::nothing);
  }
}
