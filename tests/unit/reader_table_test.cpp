#include "transport/multicast/reader_table.h"

#include <map>

#include "support/catch.h"

using namespace orc::detail;
using namespace orc::detail::multicast;

namespace {

const monotonic::time_point start{std::chrono::hours(5)};

source at(const char* address, int port) {
  return {orc::detail::ip_address::parse(address).value(), static_cast<std::uint16_t>(port)};
}

repair_request some() { return {.sequence = 1, .gaps = {{{0, 1}}}, .gap_count = 1}; }

}  // namespace

TEST_CASE("reader table: the host with the most readers makes room for others", "[unit]") {
  reader_table table;
  REQUIRE(table.add(at("10.0.0.1", 1), start));
  for (int n = 0; n < 2000; ++n) static_cast<void>(table.add(at("10.0.0.2", 1000 + n), start));
  CHECK(table.size() == reader_table::most);
  CHECK(table.find(at("10.0.0.1", 1)));
  for (int n = 0; n < 100; ++n) CHECK(table.add(at("10.0.0.3", 1000 + n), start));
  CHECK(table.size() == reader_table::most);
  CHECK(table.find(at("10.0.0.1", 1)));
  for (int n = 0; n < 100; ++n) CHECK(table.find(at("10.0.0.3", 1000 + n)));
  CHECK(!table.add(at("10.0.0.2", 9000), start));  // it has the most
}

TEST_CASE("reader table: an honest laboratory may have all readers on one host", "[unit]") {
  reader_table table;
  for (int n = 0; n < 1024; ++n) REQUIRE(table.add(at("10.0.0.2", 1000 + n), start));
  for (int n = 0; n < 1024; ++n) CHECK(table.find(at("10.0.0.2", 1000 + n)));
}

TEST_CASE("reader table: 127.0.0.0/8 is one host", "[unit]") {
  reader_table table;
  for (int n = 0; n < 2000; ++n)
    static_cast<void>(
        table.add(at(("127.0." + std::to_string(n / 200) + '.' + std::to_string(n % 200)).c_str(), 5), start));
  CHECK(table.size() == reader_table::most);
  CHECK(table.add(at("10.0.0.1", 1), start));
  CHECK(!table.add(at("127.9.9.9", 1), start));
}

TEST_CASE("reader table: a network of IPv6 is one host, of which a program may take any number of addresses",
          "[unit]") {
  reader_table table;
  for (int n = 0; n < 2000; ++n)
    static_cast<void>(table.add(at(("2001:db8:0:1::" + std::to_string(n)).c_str(), 5), start));
  CHECK(table.size() == reader_table::most);
  CHECK(table.add(at("2001:db8:0:2::1", 1), start));
  CHECK(table.add(at("10.0.0.1", 1), start));
  CHECK(table.find(at("2001:db8:0:2::1", 1)));
  CHECK(!table.add(at("2001:db8:0:1:ffff::1", 1), start));
}

TEST_CASE("reader table: the addresses of an IPv6 network share the bytes of one host", "[unit]") {
  reader_table table;
  reader* const first = table.add(at("2001:db8:0:1::1", 1), start);
  REQUIRE(first);
  table.request(*first, some());
  REQUIRE(table.next_to_repair(start) == first);
  table.charge(*first, reader_table::burst);
  CHECK(table.next_to_repair(start) == nullptr);
  reader* const second = table.add(at("2001:db8:0:1::2", 1), start);
  REQUIRE(second);
  table.request(*second, some());
  CHECK(table.next_to_repair(start) == nullptr);
  reader* const elsewhere = table.add(at("2001:db8:0:2::2", 1), start);
  REQUIRE(elsewhere);
  table.request(*elsewhere, some());
  CHECK(table.next_to_repair(start) == elsewhere);
}

TEST_CASE("reader table: repairs that begin anew repair nothing that was asked for before", "[unit]") {
  reader_table table;
  reader* const first = table.add(at("192.0.2.1", 1), start);
  reader* const second = table.add(at("192.0.2.2", 1), start);
  REQUIRE((first && second));
  table.request(*first, some());
  table.request(*second, some());
  table.begin_repairs_anew();
  CHECK_FALSE(table.has_requests());
  CHECK(table.next_to_repair(start) == nullptr);
  table.request(*second, some());
  CHECK(table.next_to_repair(start) == second);
}

TEST_CASE("reader table: one reader at an address and port; the silent ones go", "[unit]") {
  reader_table table;
  table.add(at("10.0.0.1", 1), start)->heard = start;
  table.add(at("10.0.0.1", 1), start)->heard = start;
  table.add(at("10.0.0.1", 2), start)->heard = start + std::chrono::seconds(9);
  CHECK(table.size() == 2);
  table.remove_silent(start + std::chrono::seconds(5));
  CHECK(table.size() == 1);
  CHECK(!table.find(at("10.0.0.1", 1)));
  table.remove(at("10.0.0.1", 2));
  CHECK(table.empty());
}

TEST_CASE("reader table: repairs go to hosts in turn, then to the readers of a host in turn", "[unit]") {
  reader_table table;
  const auto lonely = at("10.0.0.9", 1);
  table.request(*table.add(lonely, start), some());
  for (int n = 0; n < 1000; ++n) table.request(*table.add(at("10.0.0.1", 1000 + n), start), some());
  std::map<source, int> turns;
  for (int n = 0; n < 2000; ++n) {
    reader* const next = table.next_to_repair(start);
    REQUIRE(next);
    ++turns[next->at];
    table.charge(*next, 10);
  }
  CHECK(turns[lonely] == 1000);
  for (int n = 0; n < 1000; ++n) CHECK(turns[at("10.0.0.1", 1000 + n)] == 1);
}

TEST_CASE("reader table: a host gets its bytes, then what a second refills, also when its readers join again",
          "[unit]") {
  reader_table table;
  const auto here = at("10.0.0.1", 1);
  const auto spend = [&](monotonic::time_point now) {
    std::int64_t bytes = 0;
    table.request(*table.add(here, now), some());
    while (reader* const next = table.next_to_repair(now)) {
      table.charge(*next, 1000);
      bytes += 1000;
    }
    return bytes;
  };
  CHECK(spend(start) <= reader_table::burst + 1000);
  CHECK(spend(start) == 0);
  table.remove(here);
  CHECK(spend(start) == 0);
  CHECK(table.has_requests());
  const auto refilled = spend(start + std::chrono::milliseconds(10));
  CHECK(refilled <= reader_table::bytes_per_second / 100 + 1000);
  CHECK(refilled >= reader_table::bytes_per_second / 100 - 1000);
  table.remove(here);
  CHECK(!table.has_requests());
  CHECK(!table.next_to_repair(start + std::chrono::hours(1)));
}

TEST_CASE("reader table: descriptions of types have bytes of their own, so asking without end delays no repair",
          "[unit]") {
  constexpr std::size_t answer = 28'000;
  constexpr std::size_t at_once = 256 * 1024;
  constexpr std::size_t per_second = 1024 * 1024;
  reader_table table;
  reader* const honest = table.add(at("10.0.0.1", 1), start);
  REQUIRE(honest);
  const auto spend_all = [&](monotonic::time_point now) {
    std::size_t spent = 0;
    while (spent < 4 * per_second && table.spend(at("10.0.0.1", 2), answer, now)) spent += answer;
    return spent;
  };
  const auto spent = spend_all(start);
  CHECK(spent >= at_once);
  CHECK(spent <= at_once + answer);
  CHECK(spend_all(start + std::chrono::milliseconds(100)) <= per_second / 10 + answer);
  table.request(*honest, some());
  CHECK(table.next_to_repair(start) == honest);
  CHECK(table.spend(at("10.0.0.2", 2), answer, start));
  // Repairs take none of them, either.
  table.charge(*honest, reader_table::burst);
  CHECK(table.next_to_repair(start) == nullptr);
  CHECK(table.spend(at("10.0.0.1", 2), answer, start + std::chrono::seconds(1)));
}

TEST_CASE("reader table: hosts that came and went are forgotten", "[unit]") {
  reader_table table;
  for (int n = 0; n < 10'000; ++n) {
    const auto where = at(("10.1." + std::to_string(n / 250) + '.' + std::to_string(n % 250)).c_str(), 5);
    REQUIRE(table.add(where, start));
    table.remove(where);
  }
  CHECK(table.empty());
}

TEST_CASE("reader table: a visit that ends early goes on with the next reader", "[unit]") {
  reader_table table;
  for (int n = 0; n < 10; ++n) table.add(at("10.0.0.1", 1 + n), start)->has = 0;
  for (int round = 0; round < 10; ++round) {
    int left = 3;
    table.visit_in_turn([&](reader& each) {
      if (left == 0) return false;
      --left;
      ++each.has;
      return true;
    });
  }
  CHECK(!table.any_of([](const reader& each) { return each.has != 3; }));
}
