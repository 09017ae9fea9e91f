// The bounded queue behind in-order subscriptions and lagging readers.
#include <cstring>

#include "support/catch.h"
#include "transport/sample_ring.h"

namespace {

using orc::detail::allocate_frame;
using orc::detail::sample;
using orc::detail::sample_ring;

sample numbered(std::uint64_t sequence, std::size_t size = 100) { return {allocate_frame(size), sequence, 0, 0}; }

std::uint64_t next_of(sample_ring& ring) {
  sample s;
  return ring.pop(s) ? s.sequence : 0;
}

}  // namespace

TEST_CASE("sample ring: first in, first out, through every growth") {
  sample_ring ring(100);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (int round = 0; round < 200; ++round) {
    for (int n = 0; n < 1 + round % 7; ++n) {
      if (ring.size() < 100) CHECK(ring.push(numbered(++in)) == 0);
    }
    for (int n = 0; n < 1 + round % 5; ++n) {
      if (!ring.empty()) CHECK(next_of(ring) == ++out);
    }
  }
  while (!ring.empty()) CHECK(next_of(ring) == ++out);
  CHECK(in == out);
  CHECK(ring.bytes() == 0);
}

TEST_CASE("sample ring: a full one gives up its oldest") {
  sample_ring ring(3);
  for (std::uint64_t n = 1; n <= 3; ++n) CHECK(ring.push(numbered(n)) == 0);
  CHECK(ring.push(numbered(4)) == 1);
  CHECK(ring.push(numbered(5)) == 1);
  CHECK(ring.bytes() == 300);
  for (std::uint64_t n = 3; n <= 5; ++n) CHECK(next_of(ring) == n);
  CHECK(next_of(ring) == 0);
}

TEST_CASE("sample ring: one place holds the newest") {
  sample_ring ring(1);
  for (std::uint64_t n = 1; n <= 1000; ++n) CHECK(ring.push(numbered(n)) == (n == 1 ? 0 : 1));
  CHECK(next_of(ring) == 1000);
  CHECK(ring.empty());
}
