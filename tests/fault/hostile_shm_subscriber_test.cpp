// contract.md 6 over shared memory: a subscriber that writes where it can, says what it wants and never lets go costs
// neither the publisher nor an honest subscriber a sample, and nothing is left of it.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/hostile_shm.h"
#include "support/ping_pong.h"
#include "transport/shm/slot_reader.h"

using namespace orc::test;
namespace shm = orc::detail::shm;
using kind = hostile_shm::kind;

namespace {

struct scene : ping_pong {
  scene() : ping_pong(orc::transport::shm), target(address_broker().endpoint(), topic) {}
  ~scene() { std::printf("%lu samples, slowest %ld us\n", count(), static_cast<long>(slowest_us())); }

  // Everything goes on as if nobody had been there.
  void check_nobody_noticed() {
    CHECK(goes_on());
    std::string costs;
    const bool same = is_as_before(costs);
    INFO(costs);
    CHECK(same);
  }

  hostile_shm::target target;
};

// Until the honest ones have exchanged so many samples. False: something went wrong for them.
template <class Act>
bool while_they_talk(scene& s, std::uint64_t samples, Act act) {
  const std::uint64_t until = s.count() + samples;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (s.count() < until) {
    if (std::chrono::steady_clock::now() > end) return false;
    act();
  }
  return s.goes_on();
}

}  // namespace

TEST_CASE("hostile shm: garbage in its page, all the time", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join(shm::max_pins_of_reader));
  hostile.say(hostile.packet(kind::want_alert));
  std::minstd_rand random(1);
  CHECK(while_they_talk(s, rounds(200'000, 1'000'000), [&] {
    auto& page = hostile.page();
    page.word = static_cast<std::uint32_t>(random());
    page.wants = static_cast<std::uint32_t>(random());
    for (auto& pin : page.pins) pin = static_cast<std::uint32_t>(random() % 4 == 0 ? random() : random() % 200);
    auto* const bytes = reinterpret_cast<volatile unsigned char*>(hostile.page_memory.bytes());
    for (int n = 0; n < 100; ++n) bytes[random() % shm::page_size] = static_cast<unsigned char>(random());
  }));
  hostile.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: it pins each slot that the publisher is about to write", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join(shm::max_pins_of_reader));
  const auto seen = shm::segment::map(hostile.segment.get(), hostile.segment_bytes);
  REQUIRE(seen);
  std::uint32_t next = 0;
  CHECK(while_they_talk(s, rounds(200'000, 1'000'000), [&] {
    for (std::uint32_t slot = 0; slot < seen->form().slots; ++slot) {
      if (seen->slot(slot).guard.load(std::memory_order_relaxed) == 0)
        hostile.page().pins[next++ % shm::max_pins_of_reader].store(slot + 1, std::memory_order_relaxed);
    }
  }));
  hostile.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: the samples cannot be written", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join());
  const auto size = static_cast<std::size_t>(::lseek(hostile.segment.get(), 0, SEEK_END));
  REQUIRE(size >= 3 * shm::page_size);
  const std::string reopened = "/proc/self/fd/" + std::to_string(hostile.segment.get());
  const orc::detail::unique_fd again(::open(reopened.c_str(), O_RDWR | O_CLOEXEC));
  const std::vector<char> zeros(size);
  CHECK(while_they_talk(s, 1000, [&] {
    for (const int fd : {hostile.segment.get(), again.get()}) {
      if (fd < 0) continue;
      for (const int how : {PROT_WRITE, PROT_READ | PROT_WRITE})
        CHECK(::mmap(nullptr, size, how, MAP_SHARED, fd, 0) == MAP_FAILED);
      void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
      REQUIRE(at != MAP_FAILED);
      CHECK(::mprotect(at, size, PROT_READ | PROT_WRITE) != 0);
      CHECK(::madvise(at, size, MADV_REMOVE) != 0);
      ::munmap(at, size);
      // Its own copy it may have.
      void* const copy = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
      REQUIRE(copy != MAP_FAILED);
      std::memset(copy, 0xEE, size);
      ::munmap(copy, size);
      CHECK(::pwrite(fd, zeros.data(), zeros.size(), 0) < 0);
      CHECK(::lseek(fd, 0, SEEK_SET) == 0);
      CHECK(::write(fd, zeros.data(), zeros.size()) < 0);
      for (const off_t to : {off_t{0}, static_cast<off_t>(size / 2), static_cast<off_t>(size * 2)})
        CHECK(::ftruncate(fd, to) != 0);
      CHECK(::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size)) != 0);
      CHECK(::fallocate(fd, 0, static_cast<off_t>(size), 4096) != 0);
      for (const int seal : {F_SEAL_WRITE, F_SEAL_SEAL, F_SEAL_SHRINK}) CHECK(::fcntl(fd, F_ADD_SEALS, seal) != 0);
    }
    CHECK(::truncate(reopened.c_str(), 0) != 0);
    CHECK(::open(reopened.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC) < 0);
  }));
  hostile.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: its page cannot be taken away from under the publisher", "[fault]") {
  scene s;
  hostile_shm hostile(s.target);
  REQUIRE(hostile.join());
  const int page = hostile.page_fd.get();
  CHECK(while_they_talk(s, rounds(5000, 100'000), [&] {
    CHECK(::ftruncate(page, 0) != 0);
    CHECK(::ftruncate(page, 1 << 20) != 0);
    for (const int seal : {F_SEAL_WRITE, F_SEAL_FUTURE_WRITE}) CHECK(::fcntl(page, F_ADD_SEALS, seal) != 0);
    // Emptied it is the same page with zeros in it.
    CHECK(::fallocate(page, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, shm::page_size) == 0);
  }));
  hostile.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: whatever it pins for ever, there is room for the next sample", "[fault]") {
  scene s;
  std::vector<std::unique_ptr<hostile_shm>> crowd;
  for (int n = 0; n < 15; ++n) {  // together they may pin 1024
    crowd.push_back(std::make_unique<hostile_shm>(s.target, hostile_shm::from::a_process_of_its_own));
    REQUIRE(crowd.back()->join(shm::max_pins_of_reader));
    for (std::uint32_t k = 0; k < shm::max_pins_of_reader; ++k)
      crowd.back()->page().pins[k] = static_cast<std::uint32_t>(n) * shm::max_pins_of_reader + k + 1;
    REQUIRE(s.goes_on());
  }
  s.resize(under_sanitizer ? 20'000 : 100'000);  // also in a new generation, of which it knows nothing
  CHECK(s.goes_on(rounds(1000, 10'000)));
  // A pinned sample stays as it is.
  hostile_shm last(s.target);
  REQUIRE(last.join());
  const auto seen = shm::segment::map(last.segment.get(), last.segment_bytes);
  REQUIRE(seen);
  shm::pinned_sample pinned;
  REQUIRE(shm::pin_sample(*seen, last.page().pins[0], 0, orc::detail::pick::newest, pinned) == shm::found::sample);
  const auto* const at = seen->payload(pinned.slot);
  const std::vector<std::byte> copy(at, at + pinned.size);
  CHECK(s.goes_on(rounds(1000, 10'000)));
  CHECK(std::memcmp(at, copy.data(), copy.size()) == 0);
  crowd.clear();
  last.hang_up();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: it goes away at each step of the handshake", "[fault]") {
  scene s;
  for (std::size_t n = 0; n < rounds(300, 10'000); ++n) {
    hostile_shm hostile(s.target);
    if (!hostile.connected()) continue;  // the backlog is full for the moment
    const std::size_t step = n % 10;
    if (step >= 1) hostile.say(hostile.packet(kind::hello));
    if (step == 2) ::shutdown(hostile.fd(), SHUT_RD);
    if (step == 3) ::shutdown(hostile.fd(), SHUT_WR);
    if (step >= 4) REQUIRE(hostile.hear());
    auto attached = hostile.packet(kind::attached);
    attached.generation = static_cast<std::uint32_t>(n * 7);
    if (step >= 5) hostile.say(attached);
    if (step >= 6) hostile.say(hostile.packet(kind::want_alert));
    if (step >= 7) hostile.say(hostile.packet(kind::want_alert));
    if (step >= 8) hostile.say(hostile.packet(kind::goodbye));
    if (step >= 9) hostile.say(hostile.packet(kind::goodbye));
  }
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: those that said goodbye and stay take the places of readers", "[fault]") {
  rlimit files{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &files) == 0);
  if (files.rlim_max < 4'096) return skip("this test needs more descriptors");
  files.rlim_cur = std::max<rlim_t>(files.rlim_cur, 4'096);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &files) == 0);
  scene s;
  std::vector<std::unique_ptr<hostile_shm>> left;
  std::size_t joined = 0;
  for (int n = 0; n < 300; ++n) {
    left.push_back(std::make_unique<hostile_shm>(s.target, hostile_shm::from::a_process_of_its_own));
    if (!left.back()->join(1)) break;
    ++joined;
    left.back()->say(left.back()->packet(kind::goodbye));
  }
  CHECK(joined >= 250);
  CHECK(joined <= 256);
  CHECK(s.goes_on());
  left.clear();
  s.check_nobody_noticed();
}

TEST_CASE("hostile shm: who says nothing, or goodbye and stays, is no reader", "[fault]") {
  scene s;
  hostile_shm silent(s.target);
  hostile_shm leaving(s.target);
  REQUIRE(leaving.join());
  leaving.page().pins[0] = 1;
  leaving.say(leaving.packet(kind::goodbye));
  CHECK(silent.cut_off());
  CHECK(s.goes_on());
  leaving.hang_up();
  s.check_nobody_noticed();
}
