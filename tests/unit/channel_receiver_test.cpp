#include "transport/multicast/channel_receiver.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "support/catch.h"
#include "transport/multicast/datagram/big_endian.h"

namespace {

using namespace orc::detail;
using namespace orc::detail::multicast;
using bytes_t = std::vector<std::byte>;

constexpr orc::wire::id publication{1, 2};
constexpr orc::wire::id link_id{3, 4};
constexpr source here{{.bytes = {1}}, 10};
constexpr source there{{.bytes = {1}}, 11};
constexpr source reports_at{{.bytes = {1}}, 12};

bytes_t message(std::uint32_t number, std::string_view payload, std::string_view channel = "c") {
  const lcm::layout cut(channel.size(), payload.size(), 1000);
  datagram_head head;
  lcm::write_head(head, cut, 0, number, payload.size(), channel);
  bytes_t d(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
  for (const char c : payload) d.push_back(static_cast<std::byte>(c));
  return d;
}

bytes_t own(
    datagram_kind kind, std::uint64_t sequence, const bytes_t& inside = {},
    void (*change)(orc_datagram&) = [](orc_datagram&) {}) {
  orc_datagram d{};
  d.kind = kind;
  d.publication = publication;
  d.link = link_id;
  d.sequence = sequence;
  if (kind == datagram_kind::announce) {
    d.channel = "c";
    d.reports_at = reports_at.port;
  }
  change(d);
  std::array<std::byte, max_orc_datagram> bytes;
  const std::size_t size = encode(d, bytes);
  bytes_t all(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
  all.insert(all.end(), inside.begin(), inside.end());
  return all;
}

class listener {
 public:
  explicit listener(orc::wire::id whom, std::uint32_t depth = 0, bool alone = true)
      : receiver({.channel = "c",
                  .publication = whom,
                  .link = link_id,
                  .depth = depth,
                  .alone = alone,
                  .max_bytes = 1 << 20}) {
    if (whom) receiver.expect(here, reports_at, 0);
  }
  void hears(const bytes_t& d, const source& from = here) { receiver.on_group(d, from, 1, now); }
  void gets(const bytes_t& d, const source& from = reports_at) { receiver.on_direct(d, from, now); }
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

TEST_CASE("channel receiver: open, a publication that was silent counts on, whatever its silence", "[unit]") {
  listener l({}, 8);
  l.hears(own(datagram_kind::announce, 4));
  l.hears(message(5, "a"));
  CHECK(l.takes() == "a 5");
  for (int second = 0; second < 60; ++second) {
    l.now += std::chrono::seconds(1);
    l.receiver.remind(l.now, false);
  }
  CHECK_FALSE(l.reports());  // nobody would answer
  l.hears(message(9, "b"));  // before its announcement
  CHECK(l.takes() == "b 9");
  l.hears(own(datagram_kind::announce, 9));
  CHECK(l.reports());
  l.hears(message(9, "b"));
  CHECK(l.takes().empty());
  CHECK(l.receiver.heard_of(publication, {}).newest == 9);
  // From another address.
  l.hears(own(datagram_kind::announce, 9), there);
  l.hears(message(9, "b"), there);
  CHECK(l.takes().empty());
  l.hears(message(12, "c"), there);
  CHECK(l.takes() == "c 12");
  // Another program at its address begins at 0.
  l.now += std::chrono::seconds(10);
  l.hears(message(0, "d"), there);
  CHECK(l.takes() == "d 13");
}

TEST_CASE("channel receiver: open, a publication that was followed before goes on from there", "[unit]") {
  channel_receiver receiver({.channel = "c", .publication = {}, .link = link_id, .newest = 7, .max_bytes = 1 << 20});
  const monotonic::time_point now{std::chrono::hours(1)};
  receiver.expect_again(publication, here, reports_at, now);
  CHECK(receiver.heard_of(publication, {}).newest == 7);
  CHECK_FALSE(receiver.connected());
  sample s;
  receiver.on_group(message(7, "old"), here, 1, now);
  CHECK_FALSE(receiver.ready().pop(s));
  receiver.on_group(message(10, "new"), here, 1, now);
  REQUIRE(receiver.ready().pop(s));
  CHECK(s.sequence == 10);
  CHECK(receiver.connected());
  receiver.on_group(message(3, "of LCM"), there, 1, now);
  REQUIRE(receiver.ready().pop(s));
  CHECK(s.sequence == 11);
}

TEST_CASE("channel receiver: open, what a publication lost while its address changed is counted", "[unit]") {
  listener l({}, 8);
  l.hears(own(datagram_kind::announce, 4));
  l.hears(message(5, "a"));
  CHECK(l.takes() == "a 5");
  // From another address, before it is announced there.
  l.hears(message(9, "b"), there);
  l.hears(message(11, "c"), there);
  CHECK(l.takes() == "b 6");
  CHECK(l.takes() == "c 7");
  // The broker may say so first.
  CHECK(l.receiver.heard_of(publication, {}).newest == 5);
  CHECK(l.receiver.heard_of(publication, there).newest == 11);
  CHECK(l.receiver.heard_of(publication, there).lost == 4);
  l.hears(own(datagram_kind::announce, 11), there);
  CHECK(l.receiver.heard_of(publication, {}).newest == 11);
  CHECK(l.receiver.heard_of(publication, {}).lost == 4);
  l.hears(message(12, "d"), there);
  CHECK(l.takes() == "d 12");
  CHECK(l.receiver.heard_of(publication, {}).lost == 0);
  l.hears(own(datagram_kind::announce, 12), there);
  l.hears(message(13, "e"), there);
  CHECK(l.takes() == "e 13");
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
  channel_receiver receiver({.channel = "c", .publication = {}, .link = link_id, .max_bytes = 1 << 20});
  orc_datagram d{};
  d.registered = true;
  d.publication = publication;
  d.channel = "c";
  std::array<std::byte, max_orc_datagram> bytes;
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

TEST_CASE("channel receiver: a registered publication that the own broker does not tell of is heard", "[unit]") {
  listener l({}, 16, false);
  const auto registered = own(datagram_kind::announce, 1, {}, [](orc_datagram& d) { d.registered = true; });
  l.hears(registered);
  l.hears(message(2, "left to the broker"));
  l.now += std::chrono::milliseconds(400);
  l.hears(registered);  // puts nothing off
  l.hears(message(3, "left to the broker"));
  CHECK(l.takes().empty());
  CHECK(!l.receiver.connected());
  l.now += std::chrono::milliseconds(200);
  l.hears(message(4, "four"));
  CHECK(l.takes() == "four 1");
  l.hears(registered);  // late: is older than the sample
  CHECK(l.reports());
  l.hears(message(5, "five"));
  l.hears(registered, there);  // another one, which is left to the broker first
  l.hears(message(6, "six"));
  l.hears(message(2, "two"), there);
  CHECK(l.takes() == "five 2");
  CHECK(l.takes() == "six 3");
  CHECK(l.takes().empty());
}

// It would else take an announcement with a forged address to silence an LCM program.
TEST_CASE("channel receiver: a sender that was heard before is not silenced by an announcement", "[unit]") {
  listener l({}, 16, false);
  l.hears(message(1, "one"));
  l.now += std::chrono::seconds(1);
  for (std::uint32_t n = 2; n < 10; ++n) {
    l.hears(own(datagram_kind::announce, 0, {}, [](orc_datagram& d) { d.registered = true; }));
    l.hears(message(n, "more"));
    l.now += std::chrono::seconds(3);
    l.hears(own(datagram_kind::announce, 0, {}, [](orc_datagram& d) {
      d.publication = {5, 6};
      d.registered = true;
    }));
    l.now += std::chrono::seconds(3);
  }
  std::size_t taken = 0;
  while (!l.takes().empty()) ++taken;
  CHECK(taken == 9);
}

TEST_CASE("channel receiver: the cookie of the last status is echoed", "[unit]") {
  listener l(publication);
  l.receiver.remind(l.now, true);
  auto report = l.reports();
  REQUIRE(report);
  CHECK(report->cookie == 0);
  for (const std::uint64_t cookie : {77u, 78u}) {
    l.gets(cookie == 77 ? own(datagram_kind::status, 0, {}, [](orc_datagram& d) { d.cookie = 77; })
                        : own(datagram_kind::status, 0, {}, [](orc_datagram& d) { d.cookie = 78; }));
    report = l.reports();  // at once
    REQUIRE(report);
    CHECK(report->cookie == cookie);
  }
  std::optional<orc_datagram> goodbye;
  l.receiver.say_goodbye([&](const source& to, const orc_datagram& d) {
    CHECK(to == reports_at);
    goodbye = d;
  });
  REQUIRE(goodbye);
  CHECK(goodbye->cookie == 78);
}

TEST_CASE("channel receiver: statuses and repairs of another sender, or for another link, are not believed", "[unit]") {
  for (const orc::wire::id whom : {publication, orc::wire::id{}}) {
    listener l(whom);
    l.hears(own(datagram_kind::announce, 0));
    (void)l.reports();
    for (const source& from : {here, there, source{{.bytes = {2}}, reports_at.port}})
      l.gets(own(datagram_kind::status, 9), from);
    l.gets(own(datagram_kind::status, 9, {}, [](orc_datagram& d) { d.link = {3, 5}; }));
    CHECK(!l.reports());
    CHECK(l.receiver.malformed() == 4);
    l.gets(own(datagram_kind::status, 9));
    CHECK(l.reports());
  }
}

TEST_CASE("channel receiver: a publication of the broker is where the broker says, address and port", "[unit]") {
  listener l(publication);
  l.hears(own(datagram_kind::announce, 0), there);
  CHECK(!l.receiver.connected());
  l.hears(own(datagram_kind::announce, 0));
  CHECK(l.receiver.connected());
  l.hears(own(datagram_kind::announce, 9), there);
  l.hears(message(1, "forged"), there);
  CHECK(l.takes().empty());
  l.hears(message(1, "one"));
  CHECK(l.takes() == "one 1");
}

TEST_CASE("channel receiver: announcements alone keep a link whose publication has no place for its reports",
          "[unit]") {
  listener l(publication);
  for (int n = 0; n < 20; ++n) {
    l.hears(own(datagram_kind::announce, 0));
    l.now += std::chrono::seconds(1);
    CHECK(!l.receiver.is_silent(l.now));
    l.receiver.remind(l.now, false);
    CHECK((n == 0 || l.reports()));  // it goes on asking for one
  }
}

TEST_CASE("channel receiver: a last sample that is not kept is neither wanted nor missed", "[unit]") {
  listener l(publication);
  l.hears(own(datagram_kind::announce, 5, {}, [](orc_datagram& d) { d.keeps_last = false; }));
  CHECK(l.receiver.newest_at_join() == 6);
  l.gets(own(datagram_kind::status, 0));
  auto report = l.reports();
  REQUIRE(report);
  CHECK(report->wanted == 0);
  l.gets(own(datagram_kind::status, 6));  // sent since
  report = l.reports();
  REQUIRE(report);
  CHECK(report->wanted == 6);
}

TEST_CASE("channel receiver: open, forged announcements do not replace a publication that is alive", "[unit]") {
  listener l({}, 16);
  l.hears(own(datagram_kind::announce, 0));
  (void)l.reports();
  // Its address, another publication.
  const auto forged = own(datagram_kind::announce, 90, {}, [](orc_datagram& d) { d.publication = {8, 9}; });
  l.hears(forged);
  CHECK(!l.reports());
  l.gets(own(datagram_kind::status, 1));
  auto report = l.reports();
  REQUIRE(report);
  CHECK(report->publication == publication);
  CHECK(report->wanted == 1);
  // Its id, another address: both are heard, each for itself.
  l.hears(own(datagram_kind::announce, 90), there);
  (void)l.reports();
  l.gets(own(datagram_kind::status, 1));
  report = l.reports();
  REQUIRE(report);
  CHECK(report->wanted == 1);
  // Once it is silent, another program may have its address.
  l.now += std::chrono::seconds(3);
  l.hears(forged);
  report = l.reports();
  REQUIRE(report);
  CHECK(report->publication == orc::wire::id{8, 9});
}

TEST_CASE("channel receiver: open, strangers in any number do not push out a publication that came first", "[unit]") {
  listener l({}, 16);
  l.hears(own(datagram_kind::announce, 3));
  l.hears(message(4, "four"));
  CHECK(l.takes() == "four 4");
  for (std::uint16_t n = 0; n < 1000; ++n) {
    const source stranger{{.bytes = {2}}, n};
    l.hears(n % 2 == 0 ? message(n, "stranger") : own(datagram_kind::announce, 9), stranger);
    while (!l.takes().empty()) continue;
  }
  (void)l.reports();
  l.gets(own(datagram_kind::status, 4));
  const auto report = l.reports();
  REQUIRE(report);
  CHECK(report->sequence == 4);
  // And those who come later are heard.
  l.hears(message(1, "late"), {{.bytes = {3}}, 1});
  CHECK(l.takes().starts_with("late"));
}
