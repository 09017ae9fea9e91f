// The slots of shared memory with a publisher and readers that run at the same time. ThreadSanitizer follows: both ends
// use one mapping.
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "support/slots.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::detail::pick;
namespace shm = orc::detail::shm;

namespace {

constexpr std::uint32_t pins = 5;

struct outcome {
  std::uint64_t taken = 0;
  std::uint64_t torn = 0;
  std::uint64_t backwards = 0;
  std::uint64_t nonsense = 0;
};

// Holds a random number of samples and looks at each when it comes, again and again, and before it goes.
class random_reader {
 public:
  random_reader(shm::reader_page& page, unsigned seed) : reader_(page, pins), random_(seed) {}

  void look_at(const shm::segment& from) {
    if (reader_.room() == 0 || (reader_.held() != 0 && random_() % 3 == 0)) return drop_one();
    const auto before = reader_.last();
    switch (reader_.take(from, random_() % 2 == 0 ? pick::newest : pick::next)) {
      case shm::found::sample: break;
      case shm::found::nonsense: ++out.nonsense; return;
      default: return;
    }
    ++out.taken;
    if (reader_.last() <= before) ++out.backwards;
    if (!reader_.is_whole(reader_.held() - 1)) ++out.torn;
  }
  void drop_all() {
    while (reader_.held() != 0) drop_one();
  }
  [[nodiscard]] std::uint64_t last() const { return reader_.last(); }

  outcome out;

 private:
  void drop_one() {
    const auto n = random_() % reader_.held();
    if (!reader_.is_whole(n)) ++out.torn;
    reader_.drop(n);
  }

  slots_reader reader_;
  std::minstd_rand random_;
};

void check(const outcome& out) {
  CHECK(out.taken > 0);
  CHECK(out.torn == 0);
  CHECK(out.backwards == 0);
  CHECK(out.nonsense == 0);
}

}  // namespace

TEST_CASE("shm slots: readers that pin at random see whole samples in order, beside loans", "[unit][threads]") {
  constexpr std::size_t readers = 3;
  constexpr std::size_t largest = 2000;
  for (const std::uint32_t history : {1u, 8u}) {
    slots s({.capacity = largest, .history = history, .pins = readers * pins});
    std::vector<random_reader> ends;
    for (unsigned n = 0; n < readers; ++n) ends.emplace_back(s.page(pins), n + 1);
    const std::uint64_t last = rounds(500'000, 20'000'000);
    std::vector<std::thread> threads;
    for (auto& end : ends) {
      threads.emplace_back([&] {
        while (end.last() != last) end.look_at(s.seen());
        end.drop_all();
      });
    }
    std::minstd_rand random(history);
    std::vector<std::uint32_t> lent;
    std::uint64_t without = 0;
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
      const std::size_t bytes = 8 * (random() % (largest / 8));
      if (s.writer().may_lend() && random() % 4 == 0) {
        if (const auto slot = s.take()) {
          s.writer().lend(*slot);
          lent.push_back(*slot);
        }
      }
      if (!lent.empty() && random() % 4 == 0) {
        const auto slot = lent.back();
        lent.pop_back();
        if (random() % 2 == 0) {
          s.publish(slot, sequence, bytes);
          s.writer().let_go(slot);
          continue;
        }
        s.writer().let_go(slot);
      }
      if (!s.put(sequence, bytes)) ++without;
      if (random() % 2 == 0) s.writer().stock(s.pins());
    }
    if (without != 0) s.put(last);  // else the readers would wait for ever
    for (auto& thread : threads) thread.join();
    INFO("history " << history);
    CHECK(without == 0);
    for (const auto& end : ends) check(end.out);
  }
}

TEST_CASE("shm slots: readers in order miss nothing that the history holds, while what they took is used again",
          "[unit][threads]") {
  constexpr std::size_t readers = 2;
  constexpr std::uint32_t history = 16;
  slots s({.capacity = 256, .history = history, .pins = readers * pins});
  s.writer().keep(1);
  std::vector<shm::reader_page*> pages;
  for (std::size_t n = 0; n < readers; ++n) pages.push_back(&s.page(pins, true));
  const std::uint64_t last = rounds(300'000, 10'000'000);
  std::atomic<std::uint64_t> skipped{0}, torn{0}, nonsense{0};
  std::vector<std::thread> threads;
  for (shm::reader_page* const page : pages) {
    threads.emplace_back([&, page] {
      slots_reader reader(*page, pins);
      while (reader.last() != last) {
        const std::uint64_t before = reader.last();
        const auto outcome = reader.take(s.seen(), pick::next);
        if (outcome == shm::found::nonsense) ++nonsense;
        if (outcome != shm::found::sample) continue;
        // Only what was too old is missing.
        if (reader.last() > before + 1 && reader.last() - 1 + history > s.seen().newest()) ++skipped;
        if (!reader.all_are_whole()) ++torn;
        reader.drop(0);
      }
    });
  }
  std::uint64_t without = 0;
  for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
    if (!s.put(sequence, 200)) ++without;
    if (sequence % 2 == 0) s.writer().stock(s.pins());
  }
  if (without != 0) s.put(last);
  for (auto& thread : threads) thread.join();
  CHECK(without == 0);
  CHECK(skipped == 0);
  CHECK(torn == 0);
  CHECK(nonsense == 0);
}

TEST_CASE("shm slots: readers follow from generation to generation and keep what they hold of the old ones",
          "[unit][threads]") {
  constexpr std::size_t readers = 2;
  const auto needs = [](std::size_t generation) {
    return shm::slot_writer::needs{.capacity = 64 + 40 * (generation % 100), .history = 4, .pins = readers * pins};
  };
  // What goes over the socket otherwise: the current generation, to those who ask.
  std::mutex socket;
  std::deque<std::unique_ptr<slots>> generations;
  generations.push_back(std::make_unique<slots>(needs(0)));
  std::vector<shm::pin_table> tables;
  std::vector<random_reader> ends;
  for (unsigned n = 0; n < readers; ++n) ends.emplace_back(generations[0]->page(pins), n + 1);
  tables = generations[0]->pins();
  const auto current = [&]() -> slots& {
    const std::lock_guard lock(socket);
    return *generations.back();
  };

  const std::size_t max_generations = rounds(2000, 20'000, 200);
  const std::uint64_t last = max_generations * 100;
  std::vector<std::thread> threads;
  for (auto& end : ends) {
    threads.emplace_back([&] {
      const shm::segment* from = &current().seen();
      while (end.last() != last) {
        end.look_at(*from);
        if (from->header().moved != 0 && from->newest() <= end.last()) from = &current().seen();
      }
      end.drop_all();
    });
  }
  std::uint64_t without = 0;
  for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
    slots& now = *generations.back();
    const auto slot = now.writer().take(tables);
    if (slot)
      now.publish(*slot, sequence, 64 + 8 * (sequence % 5));
    else
      ++without;
    if (sequence % 100 != 0 || sequence == last) continue;
    auto next = std::make_unique<slots>(needs(sequence / 100), static_cast<std::uint32_t>(sequence / 100 + 1));
    if (!next->writer().inherit(now.writer())) FAIL("not inherited");
    {
      const std::lock_guard lock(socket);
      generations.push_back(std::move(next));
    }
    now.writer().move_on();
  }
  for (auto& thread : threads) thread.join();
  CHECK(without == 0);
  for (const auto& end : ends) check(end.out);
}
