#include "transport/multicast/datagram/reassembly.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "support/catch.h"
#include "support/payload.h"

namespace {

using namespace orc::detail;
using namespace orc::detail::multicast;
using outcome = reassembly::outcome;

// A message in fragments of `part` bytes.
struct cut_message {
  cut_message(std::uint32_t n, std::size_t size, std::size_t part, std::uint64_t seed = 0)
      : number(n), bytes(orc::test::patterned(size, seed)) {
    for (std::size_t at = 0; at < size; at += part) {
      const std::size_t length = std::min(part, size - at);
      lcm::datagram d;
      d.number = number;
      d.size = static_cast<std::uint32_t>(size);
      d.offset = static_cast<std::uint32_t>(at);
      d.fragment = static_cast<std::uint16_t>(at / part);
      d.fragments = static_cast<std::uint16_t>((size + part - 1) / part);
      d.payload = std::as_bytes(std::span(bytes)).subspan(at, length);
      fragments.push_back(d);
    }
  }
  [[nodiscard]] bool is(reassembly::message& m) const {
    return m.buffer.size() == bytes.size() && std::memcmp(m.buffer.payload(), bytes.data(), bytes.size()) == 0;
  }
  std::uint32_t number;
  orc::test::bytes bytes;
  std::vector<lcm::datagram> fragments;
};

constexpr source alice{{.bytes = {1}}, 10};
constexpr source bob{{.bytes = {1}}, 11};
const monotonic::time_point start{std::chrono::hours(1)};

}  // namespace

TEST_CASE("reassembly: any order, with duplicates", "[unit]") {
  std::mt19937 random(7);
  for (std::size_t round = 0; round < 200; ++round) {
    const cut_message message(5, 1000 + round, 37);
    auto order = message.fragments;
    order.insert(order.end(), message.fragments.begin(), message.fragments.begin() + 5);
    std::shuffle(order.begin(), order.end(), random);
    reassembly r(1 << 20);
    reassembly::message done;
    int completed = 0;
    for (const auto& d : order) {
      if (r.add(alice, d, 1, start, done) != outcome::complete) continue;
      ++completed;
      REQUIRE(message.is(done));
      break;
    }
    REQUIRE(completed == 1);
    REQUIRE(r.bytes() == 0);
    REQUIRE(r.messages() == 0);
  }
}

TEST_CASE("reassembly: senders and messages are kept apart", "[unit]") {
  const cut_message one(5, 100, 10, 1);
  const cut_message two(5, 100, 10, 2);    // the same number from somebody else
  const cut_message three(6, 100, 10, 3);  // and another message of the first
  reassembly r(1 << 20);
  reassembly::message done;
  for (std::size_t i = 0; i + 1 < one.fragments.size(); ++i) {
    REQUIRE(r.add(alice, one.fragments[i], 1, start, done) == outcome::more);
    REQUIRE(r.add(bob, two.fragments[i], 1, start, done) == outcome::more);
    REQUIRE(r.add(alice, three.fragments[i], 1, start, done) == outcome::more);
  }
  CHECK(r.messages() == 3);
  REQUIRE(r.add(bob, two.fragments.back(), 1, start, done) == outcome::complete);
  CHECK(two.is(done));
  REQUIRE(r.add(alice, three.fragments.back(), 1, start, done) == outcome::complete);
  CHECK(three.is(done));
  r.forget_through(alice, 6);
  CHECK(r.messages() == 0);
  CHECK(r.given_up() == 1);
}

TEST_CASE("reassembly: a sender that begins again with the same number is not mixed with what it was", "[unit]") {
  const cut_message before(0, 100, 10, 1);
  const cut_message after(0, 90, 10, 2);
  reassembly r(1 << 20);
  reassembly::message done;
  for (int i = 0; i < 9; ++i)
    REQUIRE(r.add(alice, before.fragments[static_cast<std::size_t>(i)], 1, start, done) == outcome::more);
  for (std::size_t i = 0; i < 8; ++i) REQUIRE(r.add(alice, after.fragments[i], 1, start, done) == outcome::more);
  REQUIRE(r.add(alice, after.fragments[8], 1, start, done) == outcome::complete);
  CHECK(after.is(done));
}

TEST_CASE("reassembly: fragments that overlap or leave a gap make no message", "[unit]") {
  const cut_message message(1, 30, 10);
  auto forged = message.fragments;
  forged[1].offset = 5;  // 0-10, 5-15, 20-30: as many bytes, but not the message
  reassembly r(1 << 20);
  reassembly::message done;
  CHECK(r.add(alice, forged[0], 1, start, done) == outcome::more);
  CHECK(r.add(alice, forged[1], 1, start, done) == outcome::more);
  CHECK(r.add(alice, forged[2], 1, start, done) == outcome::refused);
  CHECK(r.messages() == 0);
}

TEST_CASE("reassembly: bounded in bytes, messages and time", "[unit]") {
  reassembly r(100'000);
  reassembly::message done;
  lcm::datagram d;
  const std::byte one{1};
  d.payload = {&one, 1};
  d.fragments = 65535;
  d.size = UINT32_MAX;
  CHECK(r.add(alice, d, 1, start, done) == outcome::refused);  // announces 4 GB
  d.fragments = 2;
  d.size = 1000;
  auto now = start;
  for (std::uint32_t n = 0; n < 1'000'000; ++n) {  // half messages
    d.number = n;
    now += std::chrono::microseconds(1);
    const in_addr stranger{n};
    if (r.add({orc::detail::ip_address::of(stranger), 1}, d, 1, now, done) != outcome::more) FAIL("refused");
    if (r.messages() > reassembly::max_messages || r.bytes() > 100'000) FAIL("grows");
  }
  CHECK(r.messages() == reassembly::max_messages);
  r.expire(now + reassembly::longest + std::chrono::seconds(1));
  CHECK(r.messages() == 0);
  CHECK(r.bytes() == 0);
  d.size = 60'000;
  for (std::uint32_t n = 0; n < 10; ++n) {
    d.number = n;
    CHECK(r.add(alice, d, 1, now, done) == outcome::more);
    CHECK(r.bytes() <= 100'000);
  }
  CHECK(r.messages() == 1);
}

TEST_CASE("reassembly: what is missing is told in gaps, as much as was asked for", "[unit]") {
  const cut_message message(1, 100, 10);
  reassembly r(1 << 20);
  reassembly::message done;
  orc_datagram report{};
  r.missing(alice, 1, 4, report);
  REQUIRE(report.gap_count == 1);
  CHECK(report.gaps[0] == orc_datagram::gap{0, 4});  // how many there are is not known yet
  for (const std::size_t i : {0u, 3u, 4u, 9u})
    CHECK(r.add(alice, message.fragments[i], 1, start, done) == outcome::more);
  r.missing(alice, 1, 100, report);
  REQUIRE(report.gap_count == 2);
  CHECK(report.gaps[0] == orc_datagram::gap{1, 2});
  CHECK(report.gaps[1] == orc_datagram::gap{5, 4});
  r.missing(alice, 1, 3, report);
  REQUIRE(report.gap_count == 2);
  CHECK(report.gaps[1] == orc_datagram::gap{5, 1});
}
