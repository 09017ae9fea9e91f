// How a subscription over multicast learns the types of publications, in datagrams.
#include "transport/multicast/types/type_exchange.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include "support/alloc_counter.h"
#include "support/catch.h"
#include "transport/multicast/channel_receiver.h"
#include "transport/multicast/reader_table.h"
#include "transport/multicast/types/type_offer.h"
#include "transport/multicast/types/type_parts.h"

namespace {

using namespace orc::detail;
using namespace orc::detail::multicast;

constexpr orc::wire::id link_id{3, 4};

orc::type_description numbers(const std::string& kind, std::size_t padding = 0) {
  return {"robot.State", "struct", "struct",
          R"({"byte_order":"little","size":8,"fields":[{"name":"q","type":")" + kind + R"(","offset":0,"comment":")" +
              std::string(padding, 'x') + R"("}]})"};
}

// An open subscription that expects uint64, and what it sent.
struct listener {
  listener()
      : receiver({.channel = "c",
                  .publication = {},
                  .link = link_id,
                  .depth = 8,
                  .alone = true,
                  .max_bytes = 1 << 20,
                  .type = describe(numbers("uint64"))}) {}

  // What the housekeeping does.
  void service() {
    receiver.check_types(now);
    const auto work = receiver.type_work(now);
    if (!work) return;
    work->step();
    receiver.check_types(now);
  }
  void pass(std::chrono::milliseconds time) {
    now += time;
    service();
  }
  // The requests for types that are due, by port.
  std::map<std::uint16_t, orc_datagram> asks() {
    std::map<std::uint16_t, orc_datagram> all;
    receiver.report(1'000'000, [&](const source& to, const orc_datagram& d) {
      reports += d.kind == datagram_kind::report ? 1 : 0;
      if (d.kind == datagram_kind::ask_type) all.emplace(to.port, d);
    });
    return all;
  }
  bool takes() {
    sample s;
    return receiver.ready().pop(s);
  }

  channel_receiver receiver;
  int reports = 0;
  monotonic::time_point now{std::chrono::hours(1)};
};

// A publication: `port` also tells its id.
struct publication {
  publication(std::uint16_t its_port, const orc::type_description& type)
      : port(its_port), hash(orc::hash_of(type)), bytes(write_type(type)) {}

  [[nodiscard]] source from() const { return {{.bytes = {1}}, port}; }
  [[nodiscard]] orc_datagram of(datagram_kind kind) const {
    orc_datagram d{};
    d.kind = kind;
    d.publication = {1, port};
    d.link = link_id;
    d.type = hash;
    return d;
  }
  [[nodiscard]] static std::vector<std::byte> encoded(const orc_datagram& d, std::string_view inside = {}) {
    std::array<std::byte, max_orc_datagram> head;
    std::vector<std::byte> all(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(encode(d, head)));
    const auto first = head.begin();
    std::copy(first, first + static_cast<std::ptrdiff_t>(all.size()), all.begin());
    for (const char c : inside) all.push_back(static_cast<std::byte>(c));
    return all;
  }
  void announce(listener& to) const {
    auto d = of(datagram_kind::announce);
    d.channel = "c";
    d.reports_at = port;
    to.receiver.on_group(encoded(d), from(), 0, to.now);
  }
  // The part at this offset.
  void send_part(listener& to, std::size_t offset) const {
    auto d = of(datagram_kind::type);
    d.size = static_cast<std::uint32_t>(bytes.size());
    d.offset = static_cast<std::uint32_t>(offset);
    to.receiver.on_direct(encoded(d, std::string_view(bytes).substr(offset, max_type_part)), from(), to.now);
  }
  void send_all(listener& to) const {
    for (std::size_t at = 0; at < bytes.size(); at += max_type_part) send_part(to, at);
    to.service();
  }
  void send_sample(listener& to, std::uint32_t number) const {
    const lcm::layout cut(1, 3, 1000);
    datagram_head head;
    lcm::write_head(head, cut, 0, number, 3, "c");
    std::vector<std::byte> d(head.bytes.begin(), head.bytes.begin() + static_cast<std::ptrdiff_t>(head.size));
    d.resize(d.size() + 3);
    to.receiver.on_group(d, from(), 0, to.now);
  }

  std::uint16_t port;
  std::uint64_t hash;
  std::string bytes;
};

}  // namespace

TEST_CASE("types over multicast: an equal hash and an untyped publication need no description", "[unit]") {
  for (const auto& type : {numbers("uint64"), orc::type_description()}) {
    listener l;
    const publication p(10, type);
    p.announce(l);
    CHECK(l.receiver.connected());
    CHECK(l.asks().empty());
    CHECK(l.reports == 1);
    p.send_sample(l, 1);
    CHECK(l.takes());
  }
}

TEST_CASE("types over multicast: samples are not taken before the verdict, and a report follows it", "[unit]") {
  listener l;
  const publication p(10, numbers("uint64", 3000));
  p.announce(l);
  p.send_sample(l, 1);
  CHECK(!l.takes());
  CHECK(!l.receiver.connected());
  const auto asked = l.asks();
  REQUIRE(asked.contains(10));
  CHECK(asked.at(10).type == p.hash);
  CHECK(asked.at(10).offset == 0);
  CHECK(l.reports == 0);
  p.send_part(l, max_type_part);  // too early
  p.send_part(l, 0);
  p.send_part(l, 0);  // twice
  CHECK(l.asks().empty());
  l.pass(type_exchange::first_retry);
  REQUIRE(l.asks().contains(10));
  p.send_part(l, max_type_part);
  p.send_part(l, 2 * max_type_part);
  l.service();
  CHECK(l.receiver.connected());
  CHECK(l.receiver.newest_at_join() == 1);
  CHECK(l.asks().empty());
  CHECK(l.reports == 1);
  p.send_sample(l, 2);
  CHECK(l.takes());
  CHECK(!l.receiver.type_problem());
}

TEST_CASE("types over multicast: samples of another type are dropped and counted", "[unit]") {
  listener l;
  const publication p(10, numbers("int64"));
  p.announce(l);
  p.send_all(l);
  CHECK(!l.receiver.connected());
  REQUIRE(l.receiver.type_problem());
  CHECK(l.receiver.type_problem()->code() == orc::errc::type_mismatch);
  const auto said = l.receiver.type_problem()->message();
  INFO(said);
  CHECK(said.starts_with("topic c: "));
  CHECK(said.find("field `q` is int64 at publisher `" + p.from().text() + "`, uint64 here") != std::string::npos);
  const auto before = l.receiver.malformed();
  p.send_sample(l, 1);
  CHECK(!l.takes());
  CHECK(l.receiver.malformed() == before + 1);
  // Another publication of the same type is known at once, and named.
  const publication another(11, numbers("int64"));
  another.announce(l);
  CHECK(l.asks().empty());
  another.send_sample(l, 1);
  CHECK(!l.takes());
}

TEST_CASE("types over multicast: a publication that changes its type is compared again", "[unit]") {
  listener l;
  publication(10, numbers("uint64")).announce(l);
  CHECK(l.receiver.connected());
  const publication changed(10, numbers("int64"));
  changed.announce(l);
  changed.send_sample(l, 1);
  CHECK(!l.takes());
  changed.send_all(l);
  CHECK(l.receiver.type_problem());
  publication(10, numbers("uint64")).announce(l);
  CHECK(!l.receiver.type_problem());
}

TEST_CASE("types over multicast: a description that does not have its hash is not believed", "[unit]") {
  listener l;
  publication liar(10, numbers("uint64", 1));
  liar.hash ^= 1;
  liar.announce(l);
  liar.send_all(l);
  CHECK(!l.receiver.connected());
  CHECK(!l.receiver.type_problem());
  const publication honest(11, numbers("uint64", 1));
  honest.announce(l);
  honest.send_all(l);
  l.pass(type_exchange::between_comparisons);
  CHECK(l.receiver.connected());
}

TEST_CASE("types over multicast: a type that is too long is named, and nothing of it is kept", "[unit]") {
  listener l;
  const publication p(10, numbers("uint64", 100'000));
  p.announce(l);
  auto d = p.of(datagram_kind::type);
  d.size = static_cast<std::uint32_t>(p.bytes.size());
  l.receiver.on_direct(publication::encoded(d), p.from(), l.now);
  REQUIRE(l.receiver.type_problem());
  CHECK(l.receiver.type_problem()->message().find("too long for multicast") != std::string::npos);
}

TEST_CASE("types over multicast: publications that never answer do not keep others from their turn", "[unit]") {
  listener l;
  std::vector<publication> silent;
  for (std::uint16_t n = 0; n < 20; ++n) silent.emplace_back(static_cast<std::uint16_t>(100 + n), numbers("int8", n));
  for (const auto& each : silent) each.announce(l);
  CHECK(l.asks().size() == type_exchange::max_transfers);
  const publication honest(10, numbers("uint64", 1));
  honest.announce(l);
  CHECK(!l.asks().contains(10));
  bool asked = false;
  for (int n = 0; n < 60 && !asked; ++n) {
    l.pass(std::chrono::milliseconds(100));
    if (n % 10 == 0) {
      for (const auto& each : silent) each.announce(l);
      honest.announce(l);
    }
    const auto now = l.asks();
    CHECK(now.size() <= type_exchange::max_transfers);
    asked = now.contains(10);
  }
  REQUIRE(asked);
  honest.send_all(l);
  CHECK(l.receiver.connected());
}

TEST_CASE("types over multicast: a receive compares nothing, and a comparison needs no lock", "[unit]") {
  listener l;
  const publication p(10, numbers("uint64", 1));
  p.announce(l);
  p.send_part(l, 0);
  p.announce(l);
  CHECK(!l.receiver.connected());
  CHECK(l.receiver.next_type_check() <= l.now);
  const auto work = l.receiver.type_work(l.now);
  REQUIRE(work);
  work->step();
  CHECK(!l.receiver.connected());
  CHECK(!l.receiver.type_work(l.now));
  l.receiver.check_types(l.now);
  CHECK(l.receiver.connected());
  CHECK(l.receiver.next_type_check() == monotonic::time_point::max());
}

TEST_CASE("types over multicast: the sender may go, or change its type, while it is compared", "[unit]") {
  listener l;
  const publication before(10, numbers("int64", 1));
  before.announce(l);
  before.send_part(l, 0);
  const auto work = l.receiver.type_work(l.now);
  REQUIRE(work);
  const publication after(10, numbers("uint64", 2));
  after.announce(l);
  work->step();
  l.receiver.check_types(l.now);
  CHECK(!l.receiver.type_problem());
  CHECK(!l.receiver.connected());
  l.pass(type_exchange::first_pause);
  REQUIRE(l.asks().contains(10));
  after.send_all(l);
  CHECK(l.receiver.connected());
  before.announce(l);  // it was compared
  CHECK(l.receiver.type_problem());
}

TEST_CASE("types over multicast: a comparison without memory leaves the turn to others", "[unit]") {
  if (!orc::test::alloc_counter::counts()) return orc::test::skip("operator new is the sanitizer's");
  listener l;
  const publication p(10, numbers("uint64", 1));
  p.announce(l);
  p.send_part(l, 0);
  const auto work = l.receiver.type_work(l.now);
  REQUIRE(work);
  {
    const orc::test::alloc_failure here(0);
    work->step();
  }
  l.receiver.check_types(l.now);
  CHECK(!l.receiver.connected());
  CHECK(l.receiver.next_type_check() == l.now + type_exchange::first_pause);
  l.pass(type_exchange::first_pause);
  REQUIRE(l.asks().contains(10));
  p.send_all(l);
  CHECK(l.receiver.connected());
}

TEST_CASE("types over multicast: comparisons have a pause between them", "[unit]") {
  listener l;
  for (std::uint16_t n = 0; n < 3; ++n) {
    const publication p(static_cast<std::uint16_t>(10 + n), numbers(n == 2 ? "uint64" : "int64", n + 1u));
    p.announce(l);
    p.send_all(l);
  }
  CHECK(!l.receiver.connected());
  l.pass(type_exchange::between_comparisons);
  CHECK(!l.receiver.connected());
  l.pass(type_exchange::between_comparisons);
  CHECK(l.receiver.connected());
}

TEST_CASE(
    "types over multicast: a sender that announces fresh types without end does not keep others from a comparison",
    "[unit]") {
  listener l;
  std::size_t fresh = 1;
  const auto announce_fresh = [&] {
    const publication hostile(10, numbers("int64", fresh++));
    hostile.announce(l);
    hostile.send_all(l);
  };
  announce_fresh();
  const publication honest(11, numbers("uint64", 1));
  honest.announce(l);
  honest.send_all(l);
  for (int n = 0; n < 20 && !l.receiver.connected(); ++n) {
    announce_fresh();
    l.pass(type_exchange::between_comparisons);
  }
  CHECK(l.receiver.connected());
}

TEST_CASE("types over multicast: senders that announce fresh types without end do not keep others from their turn",
          "[unit]") {
  listener l;
  std::size_t fresh = 1;
  const auto announce_fresh = [&] {
    for (std::uint16_t n = 0; n < 2 * type_exchange::max_transfers; ++n)
      publication(static_cast<std::uint16_t>(100 + n), numbers("int8", fresh++)).announce(l);
  };
  announce_fresh();
  const publication honest(10, numbers("uint64", 1));
  honest.announce(l);
  bool asked = false;
  for (int n = 0; n < 60 && !asked; ++n) {
    announce_fresh();
    l.pass(std::chrono::milliseconds(100));
    asked = l.asks().contains(10);
  }
  CHECK(asked);
}

TEST_CASE("types over multicast: without memory the next step is not due at once", "[unit]") {
  if (!orc::test::alloc_counter::counts()) return orc::test::skip("operator new is the sanitizer's");
  listener l;
  std::vector<publication> all;  // one more than may be on their way
  for (std::uint16_t n = 0; n <= type_exchange::max_transfers; ++n)
    all.emplace_back(static_cast<std::uint16_t>(10 + n), numbers("uint64", n + 1u));
  for (const auto& each : all) each.announce(l);
  l.now += type_exchange::max_silence;
  {
    const orc::test::alloc_failure here(0);
    l.receiver.check_types(l.now);
  }
  CHECK(l.receiver.next_type_check() >= l.now + type_exchange::first_retry);
  l.pass(type_exchange::first_retry);
  CHECK(l.asks().contains(all.back().port));
}

TEST_CASE("types over multicast: long descriptions come soon to several subscriptions of one host", "[unit]") {
  const auto type = numbers("uint64", 65'000);
  const publication p(10, type);
  const auto described = describe(type);
  const type_offer offer(described.get());
  reader_table table;
  std::array<listener, 8> all;
  for (auto& each : all) p.announce(each);
  const auto connected = [&] {
    return std::all_of(all.begin(), all.end(), [](const listener& each) { return each.receiver.connected(); });
  };
  const auto began = all[0].now;
  while (!connected() && all[0].now - began < std::chrono::seconds(10)) {
    for (auto& each : all) {
      for (const auto& [port, request] : each.asks()) {
        const source from{{.bytes = {2}}, 7};
        const std::size_t cost = offer.cost(request);
        REQUIRE(cost != 0);
        if (!table.spend(from, cost, each.now)) continue;
        for (std::size_t n = 0; n < type_parts_at_once && request.offset + n * max_type_part < p.bytes.size(); ++n)
          p.send_part(each, request.offset + n * max_type_part);
      }
      each.pass(std::chrono::milliseconds(10));
    }
  }
  CHECK(connected());
  CHECK(all[0].now - began <= std::chrono::seconds(2));
}

TEST_CASE("types over multicast: a verdict ends with its publication, and the sender counts as an LCM program",
          "[unit]") {
  for (const char* const kind : {"int64", "uint64", "unknown"}) {  // differs, matches, waits for its description
    listener l;
    const publication p(10, numbers(kind));
    p.announce(l);
    if (kind != std::string("unknown")) p.send_all(l);
    l.pass(std::chrono::seconds(6));
    l.receiver.remind(l.now, false);
    p.send_sample(l, 1);
    CHECK(!l.takes());  // it may be a publication, whose announcement comes
    l.pass(std::chrono::milliseconds(2600));
    p.send_sample(l, 2);
    CHECK(l.takes());
    CHECK(!l.receiver.type_problem());
  }
}

TEST_CASE("types over multicast: a sender without an announcement waits for one, then counts as an LCM program",
          "[unit]") {
  listener l;
  const publication p(10, {});
  p.send_sample(l, 1);
  CHECK(!l.takes());
  l.pass(std::chrono::milliseconds(2501));
  p.send_sample(l, 2);
  CHECK(l.takes());
}
