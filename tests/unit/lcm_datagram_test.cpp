#include "transport/multicast/datagram/lcm_datagram.h"

#include <cstring>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/payload.h"

namespace {

using namespace orc::detail;
using bytes_t = std::vector<std::byte>;

bytes_t of_text(std::string_view text) {
  bytes_t b(text.size());
  std::memcpy(b.data(), text.data(), text.size());
  return b;
}

const orc::test::bytes fifteen{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

std::vector<bytes_t> datagrams_of(std::string_view channel, const orc::test::bytes& message, std::uint32_t number,
                                  std::size_t most) {
  const lcm::layout cut(channel.size(), message.size(), most);
  std::vector<bytes_t> all;
  for (std::size_t i = 0; i < cut.datagrams(); ++i) {
    multicast::datagram_head head;
    lcm::write_head(head, cut, i, number, message.size(), channel);
    const auto part = cut.payload_of(i);
    bytes_t datagram(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
    const auto* const from = reinterpret_cast<const std::byte*>(message.data()) + part.offset;
    datagram.insert(datagram.end(), from, from + part.size);
    all.push_back(std::move(datagram));
  }
  return all;
}

}  // namespace

TEST_CASE("lcm datagram: the bytes of a small message are LCM's", "[unit]") {
  const auto all = datagrams_of("POSE", {0xAA, 0xBB}, 0x01020304, 65507);
  REQUIRE(all.size() == 1);
  CHECK(all[0] == of_text({"LC02\x01\x02\x03\x04POSE\0\xAA\xBB", 15}));
}

TEST_CASE("lcm datagram: the bytes of fragments are LCM's", "[unit]") {
  const auto all = datagrams_of("C", fifteen, 9, 24);  // 20 of header; channel and NUL in the first
  REQUIRE(all.size() == 5);
  CHECK(all[0] == of_text({"LC03\0\0\0\x09\0\0\0\x0F\0\0\0\0\0\0\0\x05"
                           "C\0\x01\x02",
                           24}));
  CHECK(all[1] == of_text({"LC03\0\0\0\x09\0\0\0\x0F\0\0\0\x02\0\x01\0\x05\x03\x04\x05\x06", 24}));
  CHECK(all[4] == of_text({"LC03\0\0\0\x09\0\0\0\x0F\0\0\0\x0E\0\x04\0\x05\x0F", 21}));
}

TEST_CASE("lcm datagram: every size is cut into parts that follow each other", "[unit]") {
  for (const std::size_t most : {100u, 1472u, 65507u}) {
    for (const std::size_t size : {0u, 1u, 60u, 86u, 87u, 88u, 89u, 1000u, 65490u, 65495u, 65500u, 1'000'000u}) {
      const auto message = orc::test::patterned(size);
      const auto all = datagrams_of("channel", message, 7, most);
      REQUIRE(!all.empty());
      std::size_t next = 0;
      for (std::size_t i = 0; i < all.size(); ++i) {
        REQUIRE(all[i].size() <= most);
        const auto d = lcm::decode(all[i]);
        REQUIRE(d);
        REQUIRE(d->number == 7);
        REQUIRE(d->size == size);
        REQUIRE(d->offset == next);
        REQUIRE(d->fragment == i);
        REQUIRE(d->fragments == all.size());
        REQUIRE(d->channel == (i == 0 ? "channel" : ""));
        REQUIRE((d->payload.empty() || std::memcmp(d->payload.data(), message.data() + next, d->payload.size()) == 0));
        next += d->payload.size();
      }
      REQUIRE(next == size);
    }
  }
}

TEST_CASE("lcm datagram: the largest message has a layout, one byte more has none", "[unit]") {
  for (const std::size_t most : {100u, 1444u}) {
    const std::size_t largest = lcm::layout::largest(7, most);
    CHECK(lcm::layout(7, largest, most).datagrams() == lcm::max_fragments);
    CHECK(lcm::layout(7, largest + 1, most).datagrams() == 0);
  }
  CHECK(lcm::layout::largest(7, 65507) == std::size_t{65535} * (65507 - 20) - 8);
}

TEST_CASE("lcm datagram: what contradicts itself is none", "[unit]") {
  const auto single =
      of_text({"LC02\0\0\0\x01"
               "C\0x",
               11});
  CHECK(lcm::decode(single));
  CHECK(!lcm::decode(bytes_t(single.begin(), single.begin() + 9)));  // no NUL
  CHECK(!lcm::decode(bytes_t(single.begin(), single.begin() + 7)));
  CHECK(!lcm::decode(of_text("LC04" + std::string(40, '\0'))));
  CHECK(!lcm::decode(of_text({"LC02\0\0\0\x01", 8})));
  CHECK(!lcm::decode(of_text(std::string("LC02\0\0\0\x01", 8) + std::string(64, 'c') + std::string(2, '\0'))));
  const auto fragments = datagrams_of("C", fifteen, 9, 24);
  const auto changed = [&](std::size_t which, std::size_t at, int value) {
    bytes_t copy = fragments[which];
    copy[at] = static_cast<std::byte>(value);
    return lcm::decode(copy).has_value();
  };
  CHECK(changed(1, 15, 3));                                // another offset, still inside
  CHECK(!changed(1, 17, 5));                               // fragment 5 of 5
  CHECK(!changed(1, 19, 0));                               // of none
  CHECK(!changed(1, 15, 12));                              // reaches behind the end
  CHECK(!changed(1, 12, 0xff));                            // far behind it
  CHECK(!changed(1, 11, 5));                               // of a shorter message
  CHECK(!changed(0, 15, 1));                               // the first one is not at 0
  CHECK(!changed(0, 21, 'x'));                             // its channel has no end
  CHECK(!lcm::decode(std::span(fragments[1]).first(20)));  // without payload
}
