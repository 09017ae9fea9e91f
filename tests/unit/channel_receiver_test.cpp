#include "transport/multicast/channel_receiver.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "transport/multicast/big_endian.h"

namespace {

using namespace orc::detail;
using namespace orc::detail::multicast;
using bytes_t = std::vector<std::byte>;

constexpr orc::wire::id publication{1, 2};
constexpr orc::wire::id subscription{3, 4};
constexpr source here{1, 10};
constexpr source there{1, 11};

bytes_t message(std::uint32_t number, std::string_view payload, std::string_view channel = "c") {
  const lcm::layout cut(channel.size(), payload.size(), 1000);
  datagram_head head;
  lcm::write_head(head, cut, 0, number, payload.size(), channel);
  bytes_t d(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
  for (const char c : payload) d.push_back(static_cast<std::byte>(c));
  return d;
}

bytes_t own(datagram_kind kind, std::uint64_t sequence, const bytes_t& inside = {}) {
  orc_datagram d{};
  d.kind = kind;
  d.publication = publication;
  d.subscription = subscription;
  d.sequence = sequence;
  if (kind == datagram_kind::announce) d.channel = "c";
  std::array<std::byte, longest_orc_datagram> bytes;
  const std::size_t size = encode(d, bytes);
  bytes_t all(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  all.insert(all.end(), inside.begin(), inside.end());
  return all;
}

class listener {
 public:
  explicit listener(orc::wire::id whom, std::uint32_t depth = 0)
      : receiver({.channel = "c",
                  .publication = whom,
                  .subscription = subscription,
                  .depth = depth,
                  .alone = true,
                  .most_bytes = 1 << 20}) {
    if (whom) receiver.expect(here, 0);
  }
  void hears(const bytes_t& d, const source& from = here) { receiver.on_group(d, from, 1, now); }
  void gets(const bytes_t& d) { receiver.on_direct(d, now); }
  // "text sequence", or empty.
  std::string takes() {
    sample s;
    if (!receiver.ready().pop(s)) return {};
    return std::string(reinterpret_cast<const char*>(s.buffer.payload()), s.buffer.size()) + ' ' +
           std::to_string(s.sequence);
  }
  std::optional<orc_datagram> reports() {
    std::optional<orc_datagram> said;
    receiver.report(1'000'000, [&](const source&, const orc_datagram& d) { said = d; });
    return said;
  }

  channel_receiver receiver;
  monotonic::time_point now{std::chrono::hours(1)};
};

}  // namespace

TEST_CASE("channel receiver: samples of a publication count once it has announced itself through the group", "[unit]") {
  listener l(publication);
  l.hears(message(4, "early"));
  CHECK(l.takes().empty());
  CHECK(!l.receiver.connected());
  l.hears(own(datagram_kind::announce, 4));
  CHECK(l.receiver.connected());
  CHECK(l.receiver.newest_at_join() == 4);
  l.hears(message(5, "five"), there);  // somebody else
  CHECK(l.takes().empty());
  l.hears(message(5, "five"));
  CHECK(l.takes() == "five 5");
  l.hears(message(5, "five"));  // twice
  l.hears(message(3, "old"));
  CHECK(l.takes().empty());
}

TEST_CASE("channel receiver: numbers go on beyond 32 bits", "[unit]") {
  constexpr std::uint64_t last = 0x7'ffff'ffff;
  listener l(publication);
  l.hears(own(datagram_kind::announce, last - 1));
  l.hears(message(0xffff'ffff, "a"));
  CHECK(l.takes() == "a " + std::to_string(last));
  l.hears(message(0, "b"));
  CHECK(l.takes() == "b " + std::to_string(last + 1));
  l.hears(message(0xffff'ffff, "a"));
  CHECK(l.takes().empty());
}

TEST_CASE("channel receiver: what is missing of the newest is reported, and repaired", "[unit]") {
  listener l(publication);
  l.hears(own(datagram_kind::announce, 0));
  l.gets(own(datagram_kind::status, 0));
  auto report = l.reports();
  REQUIRE(report);
  CHECK(report->kind == datagram_kind::report);
  CHECK(report->sequence == 0);
  CHECK(report->wanted == 0);
  CHECK(!l.reports());  // once
  l.gets(own(datagram_kind::status, 7));
  report = l.reports();
  REQUIRE(report);
  CHECK(report->wanted == 7);
  REQUIRE(report->gap_count == 1);
  CHECK(report->gaps[0].first == 0);
  bytes_t stamp(8);
  bytes_t inside = message(7, "seven");
  inside.insert(inside.begin(), stamp.begin(), stamp.end());
  bytes_t repair = own(datagram_kind::repair, 7);
  repair.resize(repair.size() - 8);  // the stamp that encode() put there
  repair.insert(repair.end(), inside.begin(), inside.end());
  l.gets(repair);
  CHECK(l.takes() == "seven 7");
  l.gets(own(datagram_kind::status, 7));
  report = l.reports();
  REQUIRE(report);
  CHECK(report->sequence == 7);
  CHECK(report->wanted == 0);
}

TEST_CASE("channel receiver: a publication that falls silent is noticed, and reminded before", "[unit]") {
  listener l(publication);
  l.hears(own(datagram_kind::announce, 0));
  l.now += std::chrono::seconds(2);
  CHECK(!l.receiver.is_silent(l.now));
  l.receiver.remind(l.now, false);
  CHECK(l.reports());
  l.now += std::chrono::seconds(4);
  CHECK(l.receiver.is_silent(l.now));
}

TEST_CASE("channel receiver: open, all senders are heard and counted together", "[unit]") {
  listener l({}, 16);
  l.hears(message(0, "first of here"));
  l.hears(message(900, "first of there"), there);
  l.hears(message(3, "second of here"));
  l.hears(message(4, "another channel", "d"));
  CHECK(l.takes() == "first of here 1");
  CHECK(l.takes() == "first of there 2");
  CHECK(l.takes() == "second of here 3");
  CHECK(l.takes().empty());
}

TEST_CASE("channel receiver: open, what a publication of ORC's kind lost is counted", "[unit]") {
  listener l({}, 16);
  l.hears(own(datagram_kind::announce, 4));
  CHECK(l.receiver.newest_at_join() == 4);
  l.hears(message(5, "five"));
  l.hears(message(9, "nine"));
  CHECK(l.takes() == "five 5");
  CHECK(l.takes() == "nine 9");
}

TEST_CASE("channel receiver: open, a program that begins again is heard again", "[unit]") {
  listener l({});
  l.hears(message(1000, "before"));
  CHECK(l.takes() == "before 1");
  l.hears(message(0, "too early to tell"));
  CHECK(l.takes().empty());
  l.now += std::chrono::seconds(2);
  l.hears(message(0, "after"));
  CHECK(l.takes() == "after 2");
}

TEST_CASE("channel receiver: fragments of another channel are dropped, whichever comes first", "[unit]") {
  listener l({});
  const std::string large(3000, 'x');
  const lcm::layout cut(1, large.size(), 1000);
  std::vector<bytes_t> all;
  for (std::size_t i = 0; i < cut.datagrams(); ++i) {
    datagram_head head;
    lcm::write_head(head, cut, i, 5, large.size(), "d");
    bytes_t one(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
    one.resize(one.size() + cut.payload_of(i).size);
    all.push_back(std::move(one));
  }
  REQUIRE(all.size() > 2);
  l.hears(all[1]);
  CHECK(l.receiver.bytes() > 0);  // it may be ours
  l.hears(all[0]);
  CHECK(l.receiver.bytes() == 0);
  l.hears(all[2]);
  CHECK(l.receiver.bytes() == 0);
}

TEST_CASE("channel receiver: nonsense is counted", "[unit]") {
  listener l(publication);
  l.hears(bytes_t(10));
  l.gets(bytes_t(100));
  l.gets(own(datagram_kind::announce, 1));  // not to one alone
  l.hears(own(datagram_kind::status, 1));   // not to the group
  CHECK(l.receiver.malformed() == 4);
}

TEST_CASE("channel receiver: a fragment without a channel is no message, though it says that it is all of it",
          "[unit]") {
  listener l({});
  bytes_t d(lcm::fragment_header);
  put_big_endian(d.data(), lcm::magic_fragment);
  put_big_endian(d.data() + 8, std::uint32_t{4});   // size
  put_big_endian(d.data() + 16, std::uint16_t{1});  // fragment 1 of 2, at 0
  put_big_endian(d.data() + 18, std::uint16_t{2});
  d.resize(d.size() + 4);
  l.hears(d);
  CHECK(l.takes().empty());
}

TEST_CASE("channel receiver: incomplete messages expire without a further datagram", "[unit]") {
  listener l({});
  const lcm::layout cut(1, 3000, 1000);
  datagram_head head;
  lcm::write_head(head, cut, 0, 5, 3000, "c");
  bytes_t d(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
  d.resize(d.size() + cut.payload_of(0).size);
  l.hears(d);
  CHECK(l.receiver.bytes() > 0);
  l.now += std::chrono::seconds(5);
  l.receiver.remind(l.now, false);
  CHECK(l.receiver.bytes() == 0);
}

TEST_CASE("channel receiver: a sample that there is no room for is not asked for again", "[unit]") {
  listener l(publication);
  l.hears(own(datagram_kind::announce, 0));
  const lcm::layout cut(1, 2'000'000, 60'000);
  datagram_head head;
  lcm::write_head(head, cut, 0, 1, 2'000'000, "c");
  bytes_t d(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
  d.resize(d.size() + cut.payload_of(0).size);
  l.hears(d);
  l.gets(own(datagram_kind::status, 1));
  const auto report = l.reports();
  REQUIRE(report);
  CHECK(report->wanted == 0);
}

TEST_CASE("channel receiver: what a broker tells of is left to it, unless there is none", "[unit]") {
  channel_receiver receiver({.channel = "c", .publication = {}, .subscription = subscription, .most_bytes = 1 << 20});
  orc_datagram d{};
  d.registered = true;
  d.publication = publication;
  d.channel = "c";
  std::array<std::byte, longest_orc_datagram> bytes;
  const std::size_t size = encode(d, bytes);
  const monotonic::time_point now{std::chrono::hours(1)};
  receiver.on_group({bytes.data(), size}, here, 1, now);
  CHECK(!receiver.connected());
  receiver.on_group(message(1, "registered"), here, 1, now);
  sample s;
  CHECK(!receiver.ready().pop(s));
  receiver.on_group(message(1, "of LCM"), there, 1, now);
  CHECK(receiver.ready().pop(s));
}
