// Strangers on a multicast group, and at the port of a publication: counted, bounded, and nobody else notices.
#include <array>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/proc_stats.h"
#include "support/raw_client.h"
#include "support/test_group.h"
#include "support/udp_stranger.h"
#include "support/wait_until.h"
#include "transport/multicast/datagram/big_endian.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/datagram/orc_datagram.h"

using namespace orc::test;
using namespace orc::detail;

namespace {

constexpr const char* topic = "hostile";
constexpr std::size_t bounded_kib = 128 * 1024;

// A fragment with any numbers.
void fragment(udp_stranger& by, std::uint32_t number, std::uint32_t size, std::uint32_t offset, std::uint16_t which,
              std::uint16_t of, std::span<const std::byte> payload) {
  std::vector<std::byte> d(lcm::fragment_header);
  put_big_endian(d.data(), lcm::magic_fragment);
  put_big_endian(d.data() + 4, number);
  put_big_endian(d.data() + 8, size);
  put_big_endian(d.data() + 12, offset);
  put_big_endian(d.data() + 16, which);
  put_big_endian(d.data() + 18, of);
  if (which == 0) {
    for (const char c : std::string_view(topic)) d.push_back(static_cast<std::byte>(c));
    d.push_back(std::byte{0});
  }
  d.insert(d.end(), payload.begin(), payload.end());
  by.to_group(d);
}

// A publication and a subscription that go on while `attack` is called again and again.
template <typename Attack>
void exchange_during(Attack attack, int rounds) {
  orc::participant sender(alone());
  orc::participant receiver(alone());
  REQUIRE(sender.register_topic(topic).result());
  REQUIRE(receiver.request_topic(topic, {.connected_within = patience}).result());
  auto publisher = sender.publisher(topic);
  const auto sample = patterned(150'000);
  const std::size_t before = stats_of().rss_kib;
  for (int n = 0; n < rounds; ++n) {
    attack(n);
    REQUIRE(publisher.send(sample.data(), sample.size()));
    REQUIRE(wait_until([&] { return holds(receiver.recv_msg(topic, 100), sample); }));
  }
  CHECK(stats_of().rss_kib < before + bounded_kib);
}

const std::vector<std::byte> payload(1000, std::byte{0xAB});

}  // namespace

TEST_CASE("hostile multicast: fragments with any counts, offsets and sizes", "[fault][threads]") {
  udp_stranger other(test_group());
  std::mt19937 random(11);
  exchange_during(
      [&](int) {
        for (int i = 0; i < 200; ++i) {
          fragment(other, static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()),
                   static_cast<std::uint32_t>(random()), static_cast<std::uint16_t>(random()),
                   static_cast<std::uint16_t>(random()), std::span(payload).first(random() % 1000));
          fragment(other, static_cast<std::uint32_t>(random()), UINT32_MAX, 0, 0, UINT16_MAX, payload);  // 4 GB
          fragment(other, static_cast<std::uint32_t>(random()), 10'000'000, 0, 0, 100, payload);  // never goes on
        }
      },
      static_cast<int>(orc::test::rounds(100, 100, 20)));
}

TEST_CASE("hostile multicast: a million half messages", "[fault][threads]") {
  udp_stranger other(test_group());
  std::uint32_t number = 0;
  const auto half_messages = orc::test::rounds(500, 5000);
  exchange_during(
      [&](int) {
        for (std::size_t i = 0; i < half_messages; ++i) fragment(other, ++number, 2000, 0, 0, 2, payload);
      },
      200);
}

TEST_CASE("hostile multicast: random bytes, and names without an end", "[fault][threads]") {
  udp_stranger other(test_group());
  std::mt19937 random(12);
  exchange_during(
      [&](int) {
        for (int i = 0; i < 300; ++i) {
          std::vector<std::byte> bytes(random() % 200);
          for (auto& each : bytes) each = static_cast<std::byte>(random());
          constexpr std::array magics{lcm::magic_single, lcm::magic_fragment, multicast::magic, 0x4f524346u};
          if (bytes.size() >= 4 && i % 5 != 0) put_big_endian(bytes.data(), magics[random() % magics.size()]);
          other.to_group(bytes);
        }
        std::vector<std::byte> endless(60'000, std::byte{'c'});
        put_big_endian(endless.data(), lcm::magic_single);
        other.to_group(endless);
      },
      100);
}

TEST_CASE("hostile multicast: at the port of a publication", "[fault][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("sender"));
  orc::participant receiver(address_broker.options("receiver"));
  REQUIRE(sender.register_topic(topic, {.transports = {orc::transport::multicast}}).result());
  REQUIRE(receiver.request_topic(topic, {.connected_within = patience}).result());
  auto publisher = sender.publisher(topic);
  const auto url =
      orc::wire::multicast_url::parse(address_of(address_broker.endpoint(), topic, orc::wire::transport::multicast));
  REQUIRE(url);
  REQUIRE(url->from);
  raw_client client(address_broker.endpoint());
  const auto state = described(client, topic);
  REQUIRE(state.publication);
  udp_stranger other(test_group());
  std::mt19937 random(13);
  const std::size_t before = stats_of().rss_kib;
  std::array<std::byte, multicast::max_orc_datagram> bytes;
  for (std::uint64_t value = 1; value <= 300; ++value) {
    for (int i = 0; i < 20; ++i) {
      // Nonsense; reports to somebody else; and well-formed reports of thousands of subscribers that do not exist.
      std::vector<std::byte> nonsense(random() % 300);
      for (auto& each : nonsense) each = static_cast<std::byte>(random());
      other.send(nonsense, *url->from);
      multicast::orc_datagram report{};
      report.kind = multicast::datagram_kind::report;
      report.publication = i % 2 == 0 ? orc::wire::id::random() : state.publication->publication;
      report.link = orc::wire::id::random();
      report.wanted = value;
      report.gap_count = 1;
      report.gaps[0] = {0, UINT16_MAX};
      other.send({bytes.data(), multicast::encode(report, bytes)}, *url->from);
    }
    REQUIRE(send_value(publisher, value));
    const auto got = receiver.recv_msg(topic, patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) <= value);
    REQUIRE(publisher.readers() == 1);
  }
  CHECK(stats_of().rss_kib < before + bounded_kib);
}
