// Messages put together from what a lossy network leaves of them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "support/alloc_counter.h"
#include "support/catch.h"
#include "support/fec_datagrams.h"
#include "transport/multicast/fec/fec_assembly.h"

using namespace orc::test;
using namespace orc::detail::multicast;

namespace {

// Memory that ends at a page that nobody may touch, with known bytes before it: ISA-L is not compiled with the
// sanitizers, and would write unseen.
class fenced {
 public:
  explicit fenced(std::size_t size) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t usable = (size / page + 2) * page;
    mapped_bytes_ = usable + page;
    void* const at = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    mapped_ = static_cast<std::byte*>(at);
    if (::mprotect(mapped_ + usable, page, PROT_NONE) != 0) throw std::bad_alloc();
    before_ = {mapped_, usable - size};
    std::memset(mapped_, 0xa5, usable);
    inside_ = {mapped_ + usable - size, size};
  }
  ~fenced() { ::munmap(mapped_, mapped_bytes_); }
  fenced(const fenced&) = delete;
  fenced& operator=(const fenced&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return inside_; }
  [[nodiscard]] bool intact() const {
    return std::all_of(before_.begin(), before_.end(), [](std::byte b) { return b == std::byte{0xa5}; });
  }

 private:
  std::byte* mapped_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::span<std::byte> before_;
  std::span<std::byte> inside_;
};

[[nodiscard]] bool same(std::span<const std::byte> a, const bytes& b) {
  return a.size() == b.size() && (b.empty() || std::memcmp(a.data(), b.data(), b.size()) == 0);
}

// The receiver of one message.
struct receiver {
  explicit receiver(const fec_message& message)
      : first(*decode_fec(message.datagrams.front())),
        memory(message.payload.size()),
        assembly(fec_assembly::make(first, memory.bytes())) {}

  [[nodiscard]] fec_added add(const datagram& d) {
    const auto packet = decode_fec(d);
    REQUIRE(packet);
    const auto result = assembly->add(*packet, code);
    peak_held = std::max(peak_held, assembly->held_bytes());
    return result;
  }

  fec_packet first;
  fenced memory;
  fec_code code;
  std::optional<fec_assembly> assembly;
  std::size_t peak_held = 0;
};

// Adds them in this order; true when the message is complete, which is then said once and byte for byte true.
[[nodiscard]] bool arrives(const fec_message& message, const std::vector<datagram>& delivered) {
  receiver r(message);
  std::size_t said = 0;
  for (const auto& d : delivered) {
    const auto result = r.add(d);
    CHECK(result != fec_added::mismatch);
    if (result == fec_added::complete) ++said;
  }
  CHECK(r.memory.intact());
  CHECK(r.peak_held <= fec_assembly::max_held_bytes(message.plan));
  CHECK(said == (r.assembly->complete() ? 1 : 0));
  if (r.assembly->complete()) CHECK(same(r.memory.bytes(), message.payload));
  return r.assembly->complete();
}

[[nodiscard]] std::vector<datagram> shuffled(std::vector<datagram> datagrams, std::mt19937_64& random) {
  std::shuffle(datagrams.begin(), datagrams.end(), random);
  return datagrams;
}

// Without `losses` random shards of each block (of block 0 `more_of_first` more).
[[nodiscard]] std::vector<datagram> with_losses(const fec_message& message, unsigned losses, std::mt19937_64& random,
                                                unsigned more_of_first = 0) {
  std::vector<unsigned> still(message.plan.blocks(), losses);
  still[0] += more_of_first;
  std::vector<datagram> left;
  for (auto& d : shuffled(message.datagrams, random)) {
    const auto packet = decode_fec(d);
    REQUIRE(packet);
    if (still[packet->block] > 0)
      --still[packet->block];
    else
      left.push_back(std::move(d));
  }
  return left;
}

}  // namespace

TEST_CASE("fec: a message of any size comes back, whatever up to the parity of each block is lost", "[unit]") {
  std::mt19937_64 random(20260503);
  for (const std::size_t size : fec_sizes) {
    const auto message = fec_cut(patterned(size), fec_shard, 20);
    INFO(size << " bytes, " << message.plan.blocks() << " blocks");
    CHECK(arrives(message, message.datagrams));
    CHECK(arrives(message, {message.datagrams.rbegin(), message.datagrams.rend()}));  // parity first
    for (unsigned losses = 0; losses <= message.plan.parity_shards(); losses += 1 + losses / 4)
      CHECK(arrives(message, with_losses(message, losses, random)));
    CHECK(arrives(message, with_losses(message, message.plan.parity_shards(), random)));
  }
}

TEST_CASE("fec: every pattern of loss that leaves k shards of a small block is recovered", "[unit]") {
  for (const std::size_t size : {0u, 1u, 49u, 50u}) {
    const auto message = fec_cut(patterned(size), 10, 50);
    const auto count = static_cast<unsigned>(message.datagrams.size());
    const unsigned k = message.plan.data_shards(0);
    REQUIRE(count <= 10);
    for (unsigned left = 0; left < 1u << count; ++left) {
      std::vector<datagram> delivered;
      for (unsigned i = 0; i < count; ++i)
        if ((left >> i & 1) != 0) delivered.push_back(message.datagrams[i]);
      INFO(size << " bytes, shards left: " << left);
      REQUIRE(arrives(message, delivered) == (delivered.size() >= k));
    }
  }
}

TEST_CASE("fec: one loss too many in one block, and the message is never complete", "[unit]") {
  std::mt19937_64 random(20260504);
  for (const std::size_t size : {std::size_t{1}, fec_shard, 20 * fec_shard, 200 * fec_shard, std::size_t{1'000'000}}) {
    const auto message = fec_cut(patterned(size), fec_shard, 20);
    for (int i = 0; i < 10; ++i)
      CHECK_FALSE(arrives(message, with_losses(message, message.plan.parity_shards(), random, 1)));
  }
}

TEST_CASE("fec: a burst of losses as long as the parity of all blocks is recovered", "[unit]") {
  const auto message = fec_cut(patterned(1'000'000), fec_shard, 20);
  const std::size_t burst = std::size_t{message.plan.blocks()} * message.plan.parity_shards();
  for (std::size_t from = 0; from + burst <= message.datagrams.size(); from += 31) {
    auto left = message.datagrams;
    const auto first = left.begin() + static_cast<std::ptrdiff_t>(from);
    left.erase(first, first + static_cast<std::ptrdiff_t>(burst));
    INFO("from datagram " << from);
    CHECK(arrives(message, left));
  }
}

TEST_CASE("fec: duplicates are told, before and after the message is complete", "[unit]") {
  std::mt19937_64 random(20260505);
  const auto message = fec_cut(patterned(100'000), fec_shard, 20);
  receiver r(message);
  const unsigned k = message.plan.data_shards(0);
  unsigned added = 0;
  for (const auto& d : shuffled(message.datagrams, random)) {
    const bool enough = added == k;
    const auto result = r.add(d);
    CHECK(result == (enough ? fec_added::duplicate : ++added == k ? fec_added::complete : fec_added::more));
    CHECK(r.add(d) == fec_added::duplicate);
  }
  CHECK(same(r.memory.bytes(), message.payload));
}

TEST_CASE("fec: packets of another message change nothing", "[unit]") {
  std::mt19937_64 random(20260506);
  const auto ours = fec_cut(patterned(100'000, 1), fec_shard, 20, 1);
  const std::vector<fec_message> others{
      fec_cut(patterned(100'000, 2), fec_shard, 20, 2), fec_cut(patterned(100'000, 2), fec_shard, 20, 1, -6),
      fec_cut(patterned(100'001, 2), fec_shard, 20, 1), fec_cut(patterned(100'000, 2), fec_shard / 2, 20, 1),
      fec_cut(patterned(100'000, 2), fec_shard, 25, 1)};
  for (const auto& other : others) {
    receiver r(ours);
    auto both = ours.datagrams;
    both.insert(both.end(), other.datagrams.begin(), other.datagrams.end());
    unsigned mismatches = 0;
    for (const auto& d : shuffled(both, random)) {
      const bool is_other = std::find(other.datagrams.begin(), other.datagrams.end(), d) != other.datagrams.end();
      const auto result = r.add(d);
      CHECK((result == fec_added::mismatch) == is_other);
      if (result == fec_added::mismatch) ++mismatches;
    }
    CHECK(mismatches == other.datagrams.size());
    CHECK(r.assembly->complete());
    CHECK(same(r.memory.bytes(), ours.payload));
  }
}

TEST_CASE("fec: a stream of equal messages allocates nothing but what is kept of each", "[unit]") {
  if (!alloc_counter::counts()) return skip("operator new is the sanitizer's");
  const auto message = fec_cut(patterned(1'000'000), fec_shard, 20);
  const auto& plan = message.plan;
  std::vector<std::byte> parity(std::size_t{plan.parity_shards()} * plan.shard_bytes());
  std::vector<std::byte> into(plan.size());
  std::vector<fec_packet> left;
  for (std::size_t i = 0; i < message.datagrams.size(); ++i)
    if (i % 19 != 7) left.push_back(*decode_fec(message.datagrams[i]));
  fec_code code;
  const auto one_message = [&] {
    bool done = true;
    for (std::uint16_t block = 0; block < plan.blocks(); ++block)
      done = code.encode(plan, std::as_bytes(std::span(message.payload)), block, parity) && done;
    auto assembly = fec_assembly::make(left.front(), into);
    for (const auto& packet : left) (void)assembly->add(packet, code);
    return done && assembly->complete();
  };
  REQUIRE(one_message());
  const alloc_counter counter;
  const bool done = one_message();
  const std::size_t count = counter.count();
  CHECK(done);
  CHECK(count == 1u + plan.blocks());  // the blocks, and the parity of each
}

TEST_CASE("fec: what is kept beside the message is bounded, and gone with the message", "[unit]") {
  std::mt19937_64 random(20260507);
  for (const std::size_t shard_bytes : {std::size_t{1}, std::size_t{100}, fec_shard}) {
    const auto message = fec_cut(patterned(shard_bytes * 700 + 1), shard_bytes, 100);
    const std::size_t bound = fec_assembly::max_held_bytes(message.plan);
    CHECK(bound <= message.plan.blocks() * 128 * (message.plan.shard_bytes() + 2u));
    receiver r(message);
    const std::size_t before = r.assembly->held_bytes();
    for (const auto& d : shuffled(message.datagrams, random)) {
      (void)r.add(d);
      REQUIRE(r.assembly->held_bytes() <= bound);
    }
    CHECK(r.assembly->complete());
    CHECK(r.peak_held > before);
    CHECK(r.assembly->held_bytes() == before);
  }
}

// Whatever a stranger sends: contradictions do not get here, and packets of our own message with other contents spoil
// that message, but nothing else.
TEST_CASE("fec: no packet writes outside of the message", "[unit]") {
  std::mt19937_64 random(20260508);
  for (int round = 0; round < 300; ++round) {
    const auto message = fec_cut(patterned(random() % 4000), 1 + random() % 50, 20);
    receiver r(message);
    for (int i = 0; i < 300; ++i) {
      auto d = message.datagrams[random() % message.datagrams.size()];
      for (std::uint64_t changes = random() % 4; changes > 0; --changes)
        d[random() % d.size()] = static_cast<std::byte>(random());
      if (random() % 8 == 0) d.resize(random() % 200);
      if (decode_fec(d)) (void)r.add(d);
    }
    REQUIRE(r.memory.intact());
    REQUIRE(r.assembly->held_bytes() <= fec_assembly::max_held_bytes(message.plan));
  }
}
