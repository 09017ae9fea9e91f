// contract.md, "What does missed() count?"
#include <tuple>

#include "core/subscription/gap_counter.h"

#include "support/catch.h"

using orc::detail::gap_counter;
using orc::detail::sample;

namespace {

sample numbered(std::uint64_t sequence) { return {{}, sequence, 0}; }

sample arrived(gap_counter& gaps, std::uint64_t sequence) {
  sample s = numbered(sequence);
  REQUIRE(gaps.arrived(s));
  return s;
}

std::uint64_t returned(gap_counter& gaps, std::uint64_t sequence) { return gaps.returned(arrived(gaps, sequence)); }

}  // namespace

TEST_CASE("gap counter: samples between two that are returned are missed", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(0);
  CHECK(returned(gaps, 1) == 0);
  CHECK(returned(gaps, 2) == 0);
  CHECK(returned(gaps, 6) == 3);
  static_cast<void>(arrived(gaps, 7));  // a newer one replaces it
  CHECK(returned(gaps, 8) == 1);
  CHECK(gaps.missed() == 4);
  CHECK(gaps.newest() == 8);
}

TEST_CASE("gap counter: samples before the link came up are not missed", "[unit]") {
  for (const auto& [newest_at_join, first, missed] :
       {std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>{10, 10, 0},
        {10, 13, 3},
        {1, 1, 0},
        {0, 1, 0},
        {0, 4, 3}}) {
    gap_counter gaps;
    gaps.begin_publication();
    gaps.begin_link(newest_at_join);
    CHECK(returned(gaps, first) == missed);
  }
}

TEST_CASE("gap counter: samples between two links of one publication are missed", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(5);
  CHECK(returned(gaps, 5) == 0);
  gaps.begin_link(20);
  CHECK(returned(gaps, 20) == 14);
}

TEST_CASE("gap counter: the second link counts from the first one's start when that brought nothing", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(5);
  gaps.begin_link(20);
  CHECK(returned(gaps, 20) == 15);
}

TEST_CASE("gap counter: a sample arrives once, and none that is older", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  CHECK(returned(gaps, 3) == 0);
  for (const std::uint64_t sequence : {1U, 2U, 3U}) {
    sample again = numbered(sequence);
    CHECK_FALSE(gaps.arrived(again));
  }
  CHECK(gaps.newest() == 3);
}

TEST_CASE("gap counter: another publication counts from 1, and the last one's unseen samples are not missed",
          "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(0);
  CHECK(returned(gaps, 7) == 6);
  const sample left = arrived(gaps, 8);
  CHECK_FALSE(gaps.is_of_earlier_publication(left));
  gaps.begin_publication();
  CHECK(gaps.newest() == 0);
  CHECK(gaps.is_of_earlier_publication(left));
  gaps.begin_link(2);
  CHECK(returned(gaps, 3) == 1);
  CHECK(returned(gaps, 4) == 0);
}

TEST_CASE("gap counter: a sample of the last publication that is returned late counts in its own numbers", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  CHECK(returned(gaps, 1) == 0);
  const sample late = arrived(gaps, 4);
  gaps.begin_publication();
  gaps.begin_link(1);
  const sample first = arrived(gaps, 1);
  CHECK(gaps.returned(late) == 2);
  CHECK(gaps.returned(first) == 0);
}

TEST_CASE("gap counter: a publication whose samples came before counts on in its own numbers", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication(7);
  gaps.begin_link(9);
  sample again = numbered(7);
  CHECK_FALSE(gaps.arrived(again));
  CHECK(returned(gaps, 10) == 2);
}

TEST_CASE("gap counter: what was lost while the numbers were others counts with the next sample", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(5);
  CHECK(returned(gaps, 5) == 0);
  CHECK(returned(gaps, 6) == 0);
  gaps.begin_publication(20, 13);
  CHECK(returned(gaps, 22) == 14);
  CHECK(gaps.missed() == 14);
}

TEST_CASE("gap counter: a dropped sample counts with the next one, of whichever publication", "[unit]") {
  gap_counter gaps;
  gaps.begin_publication();
  gaps.begin_link(0);
  CHECK(returned(gaps, 1) == 0);
  gaps.dropped(arrived(gaps, 3));  // and 2 never came
  CHECK(gaps.missed() == 0);
  gaps.begin_publication();
  gaps.begin_link(0);
  CHECK(returned(gaps, 1) == 2);
  CHECK(returned(gaps, 2) == 0);
  CHECK(gaps.missed() == 2);
}
