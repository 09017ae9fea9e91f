// What lagging in-order readers lack: each sample once, the oldest go when it is too much.
#include "transport/sample_backlog.h"

#include <array>
#include <cstring>
#include <vector>

#include "support/catch.h"

using orc::detail::allocate_frame;
using orc::detail::sample;
using orc::detail::sample_backlog;

namespace {

sample numbered(std::uint64_t sequence, std::size_t size = 1000) {
  sample s{allocate_frame(size), sequence, 5};
  std::memset(s.buffer.payload(), static_cast<int>(sequence), size);
  return s;
}

}  // namespace

TEST_CASE("sample backlog: keeps a sample once for all readers, until the last of them has it", "[unit]") {
  sample_backlog kept;
  sample first = numbered(1);
  sample second = numbered(2);
  for (int reader = 0; reader < 100; ++reader) REQUIRE(kept.start(first));
  CHECK(kept.bytes() == 1000);
  REQUIRE(kept.keep(second));
  CHECK(kept.oldest() == 1);
  CHECK(kept.newest() == 2);
  CHECK(kept.from(1)->buffer.payload() == first.buffer.payload());
  CHECK(kept.from(2)->sequence == 2);
  CHECK(kept.from(3) == nullptr);
  for (int reader = 0; reader < 99; ++reader) CHECK(kept.go_on(1, 2) == 2);
  CHECK(kept.oldest() == 1);
  CHECK(kept.go_on(1, 2) == 2);
  CHECK(kept.oldest() == 2);
  CHECK(kept.bytes() == 1000);
  for (int reader = 0; reader < 99; ++reader) kept.stop(2);
  CHECK(kept.go_on(2, 3) == 0);
  CHECK(kept.oldest() == 0);
  CHECK(kept.bytes() == 0);
}

TEST_CASE("sample backlog: a reader that catches up takes nothing from those that follow", "[unit]") {
  sample_backlog kept;
  sample first = numbered(1);
  sample second = numbered(2);
  REQUIRE(kept.start(first));       // one reader
  REQUIRE(kept.start(first));       // another one
  REQUIRE(kept.keep(second));       // for the one
  CHECK(kept.go_on(1, 2, 2) == 0);  // the other one has the first, and the second comes to it anyhow
  CHECK(kept.from(1)->sequence == 1);
  REQUIRE(kept.start(second));  // which has no room for it
  CHECK(kept.go_on(1, 2) == 2);
  CHECK(kept.go_on(2, 3) == 0);
  REQUIRE(kept.from(2) != nullptr);
  CHECK(kept.from(2)->buffer.payload() == second.buffer.payload());
  CHECK(kept.go_on(2, 3) == 0);
  CHECK(kept.bytes() == 0);
}

TEST_CASE("sample backlog: has one budget, and room for a sample that is larger", "[unit]") {
  sample_backlog kept;
  constexpr std::size_t size = sample_backlog::max_bytes / 4;
  sample first = numbered(1, size);
  REQUIRE(kept.start(first));
  for (std::uint64_t n = 2; n <= 10; ++n) {
    sample s = numbered(n, size);
    REQUIRE(kept.keep(s));
    CHECK(kept.bytes() <= sample_backlog::max_bytes);
  }
  CHECK(kept.oldest() == 7);
  CHECK(kept.newest() == 10);
  sample huge = numbered(11, sample_backlog::max_bytes + 1);
  REQUIRE(kept.keep(huge));
  CHECK(kept.oldest() == 11);
  CHECK(kept.go_on(1, 2) == 11);  // what it was to get is gone
  CHECK(kept.go_on(11, 12) == 0);
  CHECK(kept.bytes() == 0);
}

TEST_CASE("sample backlog: a sample in memory that is only lent is copied once", "[unit]") {
  sample_backlog kept;
  std::array<std::byte, 1000> slot{};
  slot[999] = std::byte{9};
  const orc::detail::sample_buffer::operations lent{
      .move = [](orc::detail::sample_buffer&, orc::detail::sample_buffer&) noexcept {},
      .drop = [](orc::detail::sample_buffer&) noexcept {},
      .payload = [](orc::detail::sample_buffer&) noexcept { return static_cast<std::byte*>(nullptr); }};
  sample of_slot{{}, 7, 5};
  of_slot.buffer.adopt(&lent, slot.data(), slot.size());
  sample* const frame = kept.frame_of(of_slot);
  REQUIRE(frame != nullptr);
  CHECK(frame != &of_slot);
  CHECK(std::memcmp(frame->buffer.payload(), slot.data(), slot.size()) == 0);
  CHECK(kept.frame_of(of_slot) == frame);
  REQUIRE(kept.start(of_slot));
  CHECK(kept.from(7)->buffer.payload() == frame->buffer.payload());
  sample own = numbered(8);
  CHECK(kept.frame_of(own) == &own);
}

TEST_CASE("sample backlog: bytes that are still the caller's are copied before they are kept", "[unit]") {
  sample_backlog kept;
  std::vector<std::byte> mine(1000, std::byte{1});
  sample s{{}, 7, 5};
  s.source = mine;
  CHECK(orc::detail::payload_of(s).data() == mine.data());
  REQUIRE(kept.start(s));
  mine.assign(mine.size(), std::byte{2});
  CHECK(orc::detail::payload_of(s).data() == s.buffer.payload());
  CHECK(kept.from(7)->buffer.payload()[999] == std::byte{1});
}

TEST_CASE("sample backlog: begun samples count once, and the idlest of too many is abandoned", "[unit]") {
  sample_backlog kept;
  constexpr std::size_t size = sample_backlog::max_bytes / 8;
  sample first = numbered(1, size);
  REQUIRE(kept.start(first));
  for (int reader = 0; reader < 100; ++reader) REQUIRE(kept.begin(first));
  CHECK(kept.bytes() == size);
  kept.stop(1);
  CHECK(kept.bytes() == size);
  // What is kept goes before what is begun.
  sample second = numbered(2, size);
  sample third = numbered(3, size);
  REQUIRE(kept.start(second));
  REQUIRE(kept.keep(third));
  for (std::uint64_t n = 4; n <= 9; ++n) {
    CHECK(kept.oldest() == 2);
    sample s = numbered(n, size);
    REQUIRE(kept.begin(s));
  }
  CHECK(kept.oldest() == 3);
  CHECK(kept.bytes() == sample_backlog::max_bytes);
  CHECK_FALSE(kept.has_abandoned());
  // The first goes on, so the fourth has stood still for longest.
  kept.advance(1);
  sample tenth = numbered(10, size);
  REQUIRE(kept.begin(tenth));
  CHECK(kept.has_abandoned());
  CHECK(kept.is_abandoned(4));
  CHECK_FALSE(kept.is_abandoned(1));
  CHECK(kept.bytes() == sample_backlog::max_bytes);
  kept.end(4);
  CHECK_FALSE(kept.has_abandoned());
  for (int reader = 0; reader < 100; ++reader) kept.end(1);
  for (std::uint64_t n = 5; n <= 10; ++n) kept.end(n);
  CHECK(kept.bytes() == size);
  kept.stop(3);
  CHECK(kept.bytes() == 0);
}

TEST_CASE("sample backlog: a few samples may be begun whatever their size", "[unit]") {
  sample_backlog kept;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    sample s = numbered(n, sample_backlog::max_bytes / 2);
    REQUIRE(kept.begin(s));
    CHECK_FALSE(kept.has_abandoned());
  }
  sample fifth = numbered(5, sample_backlog::max_bytes / 2);
  REQUIRE(kept.begin(fifth));
  CHECK(kept.is_abandoned(1));
  CHECK_FALSE(kept.is_abandoned(2));
}
