// The datagrams of forward error correction: their bytes, and what is refused.
#include <algorithm>
#include <array>
#include <random>

#include "support/catch.h"
#include "support/fec_datagrams.h"
#include "transport/multicast/fec/fec_packet.h"

using namespace orc::test;
using namespace orc::detail::multicast;

namespace {

fec_message one_shard() { return fec_cut(patterned(5), 1400, 20); }

}  // namespace

TEST_CASE("fec packet: has the bytes that its header tells", "[unit]") {
  const auto plan = fec_plan::make(0x01020304, 60'000, 20);  // 282 shards of 59,962 bytes in 3 blocks
  REQUIRE(plan);
  const fec_packet packet{.channel = "SCAN",
                          .sequence = 0x1112131415161718,
                          .stamp_ns = -2,
                          .plan = *plan,
                          .block = 2,
                          .shard = 0x6f,
                          .bytes = {}};
  std::array<std::byte, fec_packet::max_header_bytes> header{};
  REQUIRE(encode_header(packet, header) == 40);
  const std::array<unsigned, 40> expected{
      'O',  'R',  'C',  'F',  1,    4,    0xea, 0x3a,  // magic, version, channel, bytes of a shard
      0x01, 0x02, 0x03, 0x04,                          // size
      0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,  // sequence
      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,  // stamp
      0,    3,    0,    2,    94,   21,   0x6f, 0,     // blocks, block, k, m, shard, reserved
      'S',  'C',  'A',  'N'};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO("byte " << i);
    CHECK(std::to_integer<unsigned>(header[i]) == expected[i]);
  }
}

TEST_CASE("fec packet: decodes to what was encoded", "[unit]") {
  const auto message = fec_cut(patterned(300'001), fec_shard, 20, 99);
  for (std::uint32_t i = 0; i < message.plan.datagrams(); ++i) {
    const auto packet = decode_fec(message.datagrams[i]);
    REQUIRE(packet);
    CHECK(packet->channel == "SCAN");
    CHECK(packet->sequence == 99);
    CHECK(packet->stamp_ns == -5);
    CHECK(packet->plan == message.plan);
    CHECK(packet->block == message.plan.at(i).block);
    CHECK(packet->shard == message.plan.at(i).shard);
    CHECK(packet->is_parity() == (packet->shard >= message.plan.data_shards(packet->block)));
  }
}

TEST_CASE("fec packet: what is cut short or too long is refused", "[unit]") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{2801}}) {
    for (const auto& whole : fec_cut(patterned(size), fec_shard, 20).datagrams) {
      for (std::size_t length = 0; length < whole.size(); ++length) {
        const datagram cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length));  // seen by asan
        CHECK_FALSE(decode_fec(cut));
      }
      auto longer = whole;
      longer.push_back(std::byte{0});
      CHECK_FALSE(decode_fec(longer));
    }
  }
}

TEST_CASE("fec packet: any other byte in the header is refused or means what it says", "[unit]") {
  std::size_t accepted = 0;
  const auto message = fec_cut(patterned(10'001), 1000, 20);
  for (const auto& good : {message.datagrams.front(), message.datagrams[10], message.datagrams.back()}) {
    for (std::size_t at = 0; at < fec_packet::fixed_bytes + 4; ++at) {
      for (unsigned value = 0; value < 256; ++value) {
        auto changed = good;
        changed[at] = static_cast<std::byte>(value);
        const auto packet = decode_fec(changed);
        if (!packet) continue;
        INFO("byte " << at << " is " << value);
        ++accepted;
        datagram again(fec_packet::max_header_bytes);
        again.resize(encode_header(*packet, again));
        again.insert(again.end(), packet->bytes.begin(), packet->bytes.end());
        REQUIRE(again == changed);
        REQUIRE(packet->block < packet->plan.blocks());
        REQUIRE(packet->bytes.size() == packet->plan.sent_bytes(packet->block, packet->shard));
      }
    }
  }
  CHECK(accepted > 3 * 8 * 255);  // any sequence, at least
}

TEST_CASE("fec packet: each contradiction is refused", "[unit]") {
  const auto good = one_shard().datagrams.front();
  REQUIRE(decode_fec(good));
  const auto with = [&](std::size_t at, unsigned value) {
    auto changed = good;
    changed[at] = static_cast<std::byte>(value);
    return decode_fec(changed).has_value();
  };
  CHECK_FALSE(with(3, 'M'));        // magic
  CHECK_FALSE(with(4, 2));          // version
  CHECK_FALSE(with(5, 0));          // channel
  CHECK_FALSE(with(5, 64));         //
  CHECK_FALSE(with(7, 0));          // bytes of a shard
  CHECK_FALSE(with(8, 1));          // size that these shards are too few for
  CHECK_FALSE(with(29, 0));         // blocks
  CHECK_FALSE(with(29, 2));         //
  CHECK_FALSE(with(31, 1));         // block
  CHECK_FALSE(with(32, 0));         // data shards
  CHECK_FALSE(with(32, 2));         //
  CHECK_FALSE(with(33, 255));       // parity shards
  CHECK(with(33, 254));             //
  CHECK_FALSE(with(34, 4));         // shard
  CHECK_FALSE(with(35, 1));         // reserved
  CHECK_FALSE(with(36 + 3, '\0'));  // channel
}

TEST_CASE("fec packet: random bytes are no packet and do no harm", "[unit]") {
  std::mt19937_64 random(20260502);
  const auto start = one_shard().datagrams.front();
  for (int i = 0; i < 100'000; ++i) {
    datagram d(random() % 120);
    for (auto& byte : d) byte = static_cast<std::byte>(random());
    if (i % 2 == 0) std::copy_n(start.begin(), std::min<std::size_t>(6, d.size()), d.begin());
    if (const auto packet = decode_fec(d)) REQUIRE(packet->block < packet->plan.blocks());
  }
}
