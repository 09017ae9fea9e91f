// How a message is cut for forward error correction, and the parity that is made of the pieces.
#include <vector>

#include "support/catch.h"
#include "support/fec_datagrams.h"
#include "transport/multicast/fec/fec_code.h"

using namespace orc::test;
using namespace orc::detail::multicast;

namespace {

// The same field as ISA-L's, slowly.
[[nodiscard]] unsigned times(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a <<= 1;
    if ((a & 0x100) != 0) a ^= 0x11d;
  }
  return product;
}

[[nodiscard]] unsigned inverse(unsigned a) {
  for (unsigned b = 1; b < 256; ++b)
    if (times(a, b) == 1) return b;
  return 0;
}

}  // namespace

TEST_CASE("fec plan: every byte is in one data shard, and every shard is sent once", "[unit]") {
  for (const std::size_t size : fec_sizes) {
    for (const std::size_t shard_bytes : {std::size_t{200}, fec_shard, std::size_t{65'535}}) {
      const auto plan = fec_plan::make(size, shard_bytes, 20);
      REQUIRE(plan);
      INFO(size << " bytes in shards of " << plan->shard_bytes());
      CHECK(plan->shard_bytes() <= shard_bytes);
      CHECK(fec_plan::of(plan->size(), plan->shard_bytes(), plan->blocks(), plan->parity_shards()) == plan);

      std::size_t next = 0;
      for (std::uint16_t block = 0; block < plan->blocks(); ++block) {
        const unsigned k = plan->data_shards(block);
        REQUIRE((k >= 1 && k <= 128));
        CHECK(k <= plan->data_shards(0));
        CHECK(k + 1 >= plan->data_shards(0));
        for (std::uint8_t s = 0; s < k; ++s) {
          REQUIRE(plan->offset(block, s) == next);
          next += plan->data_bytes(block, s);
          REQUIRE((plan->data_bytes(block, s) == plan->shard_bytes() || next == size));
        }
      }
      CHECK(next == size);
      const unsigned most = plan->data_shards(0);
      CHECK(plan->parity_shards() == (most * 20 + 99) / 100 + 2);

      std::vector<std::vector<bool>> sent(plan->blocks(), std::vector<bool>(256));
      std::uint32_t count = 0;
      for (std::uint32_t i = 0; i < plan->datagrams(); ++i) {
        const auto [block, s] = plan->at(i);
        REQUIRE(block < plan->blocks());
        REQUIRE(s < plan->data_shards(block) + plan->parity_shards());
        if (!sent[block][s]) ++count;
        sent[block][s] = true;
        if (i > 0) CHECK((plan->blocks() == 1 || plan->at(i - 1).block != block));
      }
      CHECK(count == plan->datagrams());
    }
  }
}

TEST_CASE("fec plan: what does not fit is said, and much parity is cut to what there is room for", "[unit]") {
  CHECK_FALSE(fec_plan::make(1, 0, 20));
  CHECK_FALSE(fec_plan::make(1, 65'536, 20));
  CHECK_FALSE(fec_plan::make(0x1'0000'0000, 65'535, 20));
  CHECK(fec_plan::make(0xffff'ffff, 65'535, 20));
  CHECK_FALSE(fec_plan::make(65'535u * 128 + 1, 1, 20));
  CHECK(fec_plan::make(65'535u * 128, 1, 20));
  const auto plan = fec_plan::make(128 * 1400, 1400, 1000);
  REQUIRE(plan);
  CHECK(plan->data_shards(0) + plan->parity_shards() == 255);
}

TEST_CASE("fec code: parity is what the header says", "[unit]") {
  const auto message = fec_cut(patterned(1999), 200, 30);  // 10 shards, the last one short
  const auto& plan = message.plan;
  REQUIRE(plan.blocks() == 1);
  REQUIRE(plan.data_shards(0) == 10);
  REQUIRE(plan.data_bytes(0, 9) < plan.shard_bytes());
  auto padded = message.payload;
  padded.resize(std::size_t{10} * plan.shard_bytes());
  for (std::uint8_t p = 0; p < plan.parity_shards(); ++p) {
    const auto packet = decode_fec(message.datagrams[10u + p]);
    REQUIRE(packet);
    for (std::size_t i = 0; i < plan.shard_bytes(); ++i) {
      unsigned expected = 0;
      for (unsigned j = 0; j < 10; ++j) expected ^= times(padded[j * plan.shard_bytes() + i], inverse((10u + p) ^ j));
      REQUIRE(std::to_integer<unsigned>(packet->bytes[i]) == expected);
    }
  }
}

TEST_CASE("fec code: tables of one shape are not taken for another's", "[unit]") {
  fec_code used;
  for (const std::size_t size : {10'000u, 300'000u, 1400u, 10'000u, 299'000u, 0u, 10'000u}) {
    for (const unsigned percent : {5u, 20u, 100u}) {
      const auto payload = patterned(size);
      const auto plan = fec_plan::make(size, fec_shard, percent);
      REQUIRE(plan);
      for (std::uint16_t block = 0; block < plan->blocks(); ++block) {
        std::vector<std::byte> from_used(std::size_t{plan->parity_shards()} * plan->shard_bytes());
        auto from_fresh = from_used;
        REQUIRE(used.encode(*plan, std::as_bytes(std::span(payload)), block, from_used));
        REQUIRE(fec_code{}.encode(*plan, std::as_bytes(std::span(payload)), block, from_fresh));
        REQUIRE(from_used == from_fresh);
      }
    }
  }
}
