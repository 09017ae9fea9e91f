// The bytes of schemas/PROTOCOL.md, "ORC's datagrams".
#include "transport/multicast/datagram/orc_datagram.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"

using namespace orc::detail::multicast;

namespace {

std::string hex(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::byte each : bytes) {
    text += digits[static_cast<std::size_t>(each) >> 4];
    text += digits[static_cast<std::size_t>(each) & 15];
  }
  return text;
}

orc_datagram base(datagram_kind kind) {
  orc_datagram d{};
  d.kind = kind;
  d.publication = {0x0102030405060708, 0x090a0b0c0d0e0f10};
  d.link = {0x1112131415161718, 0x191a1b1c1d1e1f20};
  d.sequence = 0x2122232425262728;
  d.cookie = 0x3132333435363738;
  return d;
}

std::string encoded(const orc_datagram& d) {
  std::array<std::byte, max_orc_datagram> bytes;
  const auto used = std::span(bytes).first(encode(d, bytes));
  CHECK(decode(used));
  return hex(used);
}

constexpr auto ids = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20";

}  // namespace

TEST_CASE("orc datagram: bytes of each kind", "[unit]") {
  auto announce = base(datagram_kind::announce);
  announce.link = {};
  announce.registered = true;
  announce.channel = "ch";
  announce.reports_at = 0x4142;
  const std::string publication = std::string(ids).substr(0, 32);
  CHECK(encoded(announce) == "4f52434d02010102" + publication + "4142" + std::string(28, '0') + "21222324252627286368");
  announce.type = 0x8182838485868788;
  CHECK(encoded(announce) ==
        "4f52434d02010102" + publication + "4142" + std::string(12, '0') + "8182838485868788" + "21222324252627286368");
  announce.keeps_last = false;
  announce.registered = false;
  CHECK(encoded(announce).starts_with("4f52434d02010202"));
  announce.smaller = true;
  CHECK(encoded(announce).starts_with("4f52434d02010602"));
  CHECK(encoded(base(datagram_kind::status)) ==
        "4f52434d02020000" + std::string(ids) + "21222324252627283132333435363738");
  CHECK(encoded(base(datagram_kind::goodbye)) ==
        "4f52434d02040000" + std::string(ids) + "21222324252627283132333435363738");
  auto report = base(datagram_kind::report);
  report.wanted = 0x5152535455565758;
  report.gap_count = 2;
  report.gaps[0] = {1, 2};
  report.gaps[1] = {0x6162, 0xffff};
  CHECK(encoded(report) == "4f52434d02030000" + std::string(ids) + "212223242526272831323334353637385152535455565758" +
                               "0002" + "00010002" + "6162ffff");
  auto repair = base(datagram_kind::repair);
  repair.stamp_ns = 0x7172737475767778;
  CHECK(encoded(repair) == "4f52434d02050000" + std::string(ids) + "21222324252627287172737475767778");
}

TEST_CASE("orc datagram: bytes of those about types", "[unit]") {
  auto request = base(datagram_kind::ask_type);
  request.type = 0x8182838485868788;
  request.offset = 0x00010203;
  CHECK(encoded(request) == "4f52434d02060000" + std::string(ids) + "2122232425262728" + "3132333435363738" +
                                "8182838485868788" + "00010203");
  CHECK(encoded(request).size() == 2 * ask_type_size);
  auto part = base(datagram_kind::type);
  part.type = 0x8182838485868788;
  part.size = 0x00001004;
  part.offset = 0x00000203;
  std::array<std::byte, max_orc_datagram> bytes;
  const auto head = std::span(bytes).first(encode(part, bytes));
  CHECK(hex(head) ==
        "4f52434d02070000" + std::string(ids) + "2122232425262728" + "8182838485868788" + "00001004" + "00000203");
  CHECK(head.size() == type_header);
  bytes[head.size()] = std::byte{0x7f};
  const auto back = decode(std::span(bytes).first(head.size() + 1));
  REQUIRE(back);
  CHECK(back->type == part.type);
  CHECK(back->size == part.size);
  CHECK(back->offset == part.offset);
  CHECK(hex(back->inside) == "7f");
}

TEST_CASE("orc datagram: parts of a description that contradict themselves are refused", "[unit]") {
  const auto is_taken = [](std::uint32_t size, std::uint32_t offset, std::size_t inside) {
    auto part = base(datagram_kind::type);
    part.size = size;
    part.offset = offset;
    std::array<std::byte, max_orc_datagram> head;
    std::vector<std::byte> bytes(head.begin(), head.begin() + static_cast<std::ptrdiff_t>(encode(part, head)));
    bytes.resize(bytes.size() + inside);
    return decode(bytes).has_value();
  };
  CHECK(is_taken(10, 0, 10));
  CHECK(is_taken(10, 9, 1));
  CHECK(!is_taken(10, 9, 2));
  CHECK(!is_taken(10, 10, 0));
  CHECK(!is_taken(10, 10, 1));
  CHECK(!is_taken(10, UINT32_MAX, 1));
  CHECK(!is_taken(10, 0, 0));
  CHECK(!is_taken(0, 0, 0));
  CHECK(is_taken(max_type_bytes, 0, max_type_part));
  CHECK(!is_taken(max_type_bytes, 0, max_type_part + 1));
  CHECK(is_taken(max_type_bytes + 1, 0, 0));  // too long: it is named only
  CHECK(!is_taken(max_type_bytes + 1, 0, 1));
  CHECK(!is_taken(max_type_bytes + 1, 1, 0));
  std::array<std::byte, max_orc_datagram> bytes{};
  const std::size_t size = encode(base(datagram_kind::ask_type), bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(decode(std::span(bytes).first(n)).has_value() == (n == size));
}

TEST_CASE("orc datagram: the answer to a report is not longer than the shortest report", "[unit]") {
  const auto status = encoded(base(datagram_kind::status));
  const auto report = encoded(base(datagram_kind::report));
  CHECK(status.size() == 2 * status_size);
  CHECK(report.size() == 2 * min_report_bytes);
  CHECK(status.size() <= report.size());
  CHECK(status.size() <= encoded(base(datagram_kind::ask_type)).size());
}

TEST_CASE("orc datagram: another version, another length and too many gaps are refused", "[unit]") {
  std::array<std::byte, max_orc_datagram + 4> bytes{};
  auto full = base(datagram_kind::report);
  full.gap_count = orc_datagram::max_gaps;
  const std::size_t size = encode(full, std::span(bytes).first<max_orc_datagram>());
  CHECK(size == max_orc_datagram);
  for (std::size_t n = 0; n < bytes.size(); ++n) CHECK(decode(std::span(bytes).first(n)).has_value() == (n == size));
  const auto at_count = orc_datagram::header + 16;
  bytes[at_count + 1] = std::byte{33};
  CHECK(!decode(bytes));
  bytes[at_count + 1] = std::byte{32};
  bytes[4] = std::byte{1};
  CHECK(!decode(std::span(bytes).first(size)));
}
