// contract.md 6 over shared memory: what a subscriber says makes no sense, never ends, or asks for too much.
#include <fcntl.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/hostile_shm.h"
#include "support/ping_pong.h"
#include "support/wait_until.h"
#include "transport/shm/slot_reader.h"

using namespace orc::test;
namespace shm = orc::detail::shm;
using kind = hostile_shm::kind;

namespace {

struct scene : ping_pong {
  scene() : ping_pong(orc::transport::shm), target(address_broker().endpoint(), topic) {}
  void check_nobody_noticed() {
    CHECK(goes_on());
    std::string costs;
    const bool same = is_as_before(costs);
    INFO(costs);
    CHECK(same);
  }
  hostile_shm::target target;
};

// As on the wire, for those that are spoilt.
std::array<unsigned char, 64> bytes_of(const shm::packet& p) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
  const orc::detail::unique_fd in(ends[0]);
  const orc::detail::unique_fd out(ends[1]);
  std::array<unsigned char, 64> bytes{};
  REQUIRE(shm::send_packet(in.get(), p) == shm::delivered::yes);
  REQUIRE(::recv(out.get(), bytes.data(), bytes.size(), 0) == 64);
  return bytes;
}

}  // namespace

TEST_CASE("hostile shm: packets of every size and any content", "[fault]") {
  scene s;
  std::minstd_rand random(2);
  std::vector<unsigned char> bytes(150'000);
  for (std::size_t n = 0; n < rounds(300, 10'000); ++n) {
    hostile_shm hostile(s.target);
    if (!hostile.connected()) continue;
    if (n % 2 == 0) REQUIRE(hostile.join());
    for (auto& byte : bytes) byte = static_cast<unsigned char>(random());
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65},
                                   std::size_t{4096}, bytes.size(), std::size_t{random() % 200}})
      hostile.say_bytes(bytes.data(), n % 3 == 0 ? std::max<std::size_t>(size, 1) : size);
  }
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: packets of ours with a few bits turned", "[fault]") {
  scene s;
  std::minstd_rand random(3);
  for (std::size_t n = 0; n < rounds(300, 10'000); ++n) {
    hostile_shm hostile(s.target);
    if (!hostile.connected()) continue;
    if (n % 2 == 0) REQUIRE(hostile.join());
    for (int k = 0; k < 50; ++k) {
      auto bytes = bytes_of(hostile.packet(static_cast<kind>(1 + random() % 8), static_cast<std::uint32_t>(random()),
                                           static_cast<std::uint32_t>(random())));
      for (std::size_t turned = random() % 3; turned > 0; --turned)
        bytes[random() % bytes.size()] ^= static_cast<unsigned char>(1u << random() % 8);
      hostile.say_bytes(bytes.data(), bytes.size());
    }
  }
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: descriptors that it sends do not stay", "[fault]") {
  scene s;
  const orc::detail::unique_fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  hostile_shm joined(s.target);
  REQUIRE(joined.join());
  hostile_shm silent(s.target);
  CHECK(s.goes_on());
  const auto before = stats_of(s.publisher());
  for (std::size_t n = 0; n < 90; ++n) {
    const auto& from = n % 2 == 0 ? joined : silent;
    const auto attached = bytes_of(from.packet(kind::attached));
    // Linux 6.16 and later do not even let it.
    (void)from.say_with_fds(attached.data(), attached.size(), null.get(), n % 3 == 0 ? 1 : 253);
    CHECK(wait_until([&] { return stats_of(s.publisher()).fds <= before.fds + 1; }));
  }
  CHECK(s.goes_on());
  joined.hang_up();
  silent.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: it never reads its socket while the memory changes again and again", "[fault]") {
  scene s;
  hostile_shm deaf(s.target);  // said hello, took nothing
  hostile_shm liar(s.target);  // acknowledges what it never took
  hostile_shm dull(s.target);  // took the first and nothing more
  REQUIRE(deaf.say(deaf.packet(kind::hello, shm::max_pins_of_reader)));
  REQUIRE(liar.say(liar.packet(kind::hello, shm::max_pins_of_reader)));
  REQUIRE(dull.join());
  std::vector<std::unique_ptr<hostile_shm>> more;
  std::size_t size = 100;
  for (std::uint32_t generation = 1; generation < 36; ++generation) {
    size += size / 2;
    if (size > 20'000'000) break;
    s.resize(size);
    auto attached = liar.packet(kind::attached);
    for (const std::uint32_t guess : {generation, generation + 1, generation + 2, generation + 3}) {
      attached.generation = guess;
      liar.say(attached);
    }
    // New ones make it change as well.
    more.push_back(std::make_unique<hostile_shm>(s.target, hostile_shm::from::a_process_of_its_own));
    REQUIRE(more.back()->join(16));
    REQUIRE(s.goes_on(10));
    // Memory that was left is given back soon.
    CHECK(wait_until([&] {
      const auto now = stats_of(s.publisher());
      return now.shm_mapped <= 1 + 1 + 3 + more.size() && now.shm_fds <= 1;  // the segment, and a page each
    }));
  }
  s.resize(100);
  CHECK(s.goes_on());
  more.clear();
  deaf.hang_up();
  liar.hang_up();
  dull.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: who asks for too much, or is a crowd, is refused", "[fault]") {
  scene s;
  for (const std::uint32_t pins : {0u, shm::max_pins_of_reader + 1, 1'000'000u, ~0u}) {
    hostile_shm hostile(s.target);
    CHECK(!hostile.join(pins));
    CHECK(hostile.cut_off());
  }
  for (const std::uint32_t depth : {shm::max_history + 1, 1'000'000u, ~0u}) {
    hostile_shm hostile(s.target);
    CHECK(!hostile.join(8, depth));
  }
  auto other = s.target;
  other.publication = orc::wire::id::random();
  hostile_shm wrong(other);
  CHECK(!wrong.join());

  std::vector<std::unique_ptr<hostile_shm>> crowd;
  std::size_t joined = 0;
  for (int n = 0; n < 200; ++n) {
    crowd.push_back(std::make_unique<hostile_shm>(s.target));
    if (!crowd.back()->connected() || !crowd.back()->join(shm::max_pins_of_reader, shm::max_history)) continue;
    ++joined;
    for (auto& pin : crowd.back()->page().pins) pin = 1 + static_cast<std::uint32_t>(joined * 17) % 4000;
  }
  CHECK(joined > 0);
  CHECK(joined <= 64);
  CHECK(s.goes_on(1000));
  CHECK(stats_of(s.publisher()).shm_mapped <= 2 + joined);
  crowd.clear();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: a few processes take no more than half of the places", "[fault]") {
  scene s;
  const std::uint32_t pins = GENERATE(1u, 4u);  // 4 of each of 64 are the share of a process
  std::vector<std::vector<std::unique_ptr<hostile_shm>>> crowds;
  std::size_t joined = 0;
  for (int n = 0; n < 4; ++n) {
    crowds.push_back(hostile_shm::crowd(s.target, 64));
    for (auto& each : crowds.back()) joined += each->join(pins) ? 1u : 0u;
  }
  CHECK(joined >= 128);
  CHECK(joined <= 128 + 4);
  for (int n = 0; n < 32; ++n) {
    hostile_shm& honest = *crowds.emplace_back().emplace_back(
        std::make_unique<hostile_shm>(s.target, hostile_shm::from::a_process_of_its_own));
    CHECK(honest.join(10));
  }
  CHECK(s.goes_on());
  crowds.clear();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: thousands of connections, one after another", "[fault]") {
  scene s;
  const std::size_t connections = rounds(20'000, 200'000);
  std::size_t made = 0;
  for (std::size_t n = 0; n < connections; ++n) {
    hostile_shm hostile(s.target);
    made += hostile.connected() ? 1u : 0u;
    if (n % 2 == 0) hostile.say(hostile.packet(kind::hello, shm::max_pins_of_reader));
  }
  CHECK(made > 0);
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: who talks without end is cut off", "[fault]") {
  for (const bool joins : {false, true}) {
    scene s;
    hostile_shm hostile(s.target);
    if (joins) REQUIRE(hostile.join());
    const auto attached = hostile.packet(kind::attached);
    const auto end = std::chrono::steady_clock::now() + patience;
    bool cut_off = false;
    while (!cut_off && std::chrono::steady_clock::now() < end) {
      hostile.say(attached);
      cut_off = hostile.is_cut_off();
    }
    CHECK(cut_off);
    hostile.hang_up();
    s.check_nobody_noticed();
  }
}

TEST_CASE("hostile shm: its alerts are never taken", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join());
  hostile.say(hostile.packet(kind::want_alert));
  const auto alert = hostile.hear();
  REQUIRE(alert);
  REQUIRE(alert->packet.kind == kind::alert);
  const std::uint64_t until = s.count() + rounds(20'000, 200'000);
  CHECK(wait_until([&] {
    for (int n = 0; n < 1000; ++n) hostile.page().wants = ~0u;
    return s.count() >= until;
  }));
  ::shutdown(alert->fds[0].get(), SHUT_RDWR);
  hostile.page().wants = ~0u;
  CHECK(s.goes_on());
  hostile.hang_up();
  s.check_nobody_noticed();
}

// What it holds may be in use: a cut-off reader may be an honest one whose publisher lost patience.
TEST_CASE("hostile shm: slots of one that was cut off stay as they are until it closes", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join());
  const auto segment = shm::segment::map(hostile.segment.get(), hostile.segment_bytes);
  REQUIRE(segment);
  shm::pinned_sample held;
  REQUIRE(wait_until([&] {
    return shm::pin_sample(*segment, hostile.page().pins[0], 0, orc::detail::pick::newest, held) == shm::found::sample;
  }));
  const std::vector<std::byte> before(segment->payload(held.slot), segment->payload(held.slot) + held.size);
  const auto attached = hostile.packet(kind::attached);
  REQUIRE(wait_until([&] {
    hostile.say(attached);
    return hostile.is_cut_off();
  }));
  CHECK(s.goes_on(rounds(10'000, 100'000)));
  CHECK(std::equal(before.begin(), before.end(), segment->payload(held.slot)));
  hostile.hang_up();
  s.check_nobody_noticed();
}
