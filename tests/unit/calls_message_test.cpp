// The bytes of calls.
#include <cstring>

#include "calls/call_message.h"
#include "calls/service_json.h"
#include "support/catch.h"

using namespace orc;
using namespace orc::detail;

namespace {

[[nodiscard]] std::span<const std::byte> payload_of(const std::vector<std::byte>& message) {
  return std::span(message).subspan(call_header_size);
}

}  // namespace

TEST_CASE("calls message: the header is as PROTOCOL.md says", "[unit]") {
  const call_header header{
      .kind = call_kind::request, .id = 0x0102030405060708, .remaining_ns = 0x1112131415161718, .type = 0xff};
  const auto message = encode(header, std::as_bytes(std::span("ab", 2)));
  const unsigned char expected[] = {2,    1,    0,    0,    0,    0,    0,    0,    8, 7, 6, 5, 4, 3, 2, 1,   0x18,
                                    0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, 0xff, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'};
  REQUIRE(message.size() == sizeof expected);
  CHECK(std::memcmp(message.data(), expected, sizeof expected) == 0);
  const auto read = read_message(message);
  REQUIRE(read);
  CHECK(read->header == header);
  CHECK(read->payload.size() == 2);
}

TEST_CASE("calls message: what is no message is refused", "[unit]") {
  const auto good = encode({.kind = call_kind::bye});
  REQUIRE(read_message(good));
  for (std::size_t size = 0; size < call_header_size; ++size) CHECK_FALSE(read_message(std::span(good).first(size)));
  for (const std::size_t at : {1U, 2U, 3U, 4U, 7U}) {
    auto bad = good;
    bad[at] = std::byte{9};
    CHECK_FALSE(read_message(bad));
  }
  for (const unsigned kind : {0U, 7U, 15U, 23U, 255U}) {
    auto bad = good;
    bad[0] = static_cast<std::byte>(kind);
    CHECK_FALSE(read_message(bad));
  }
}

TEST_CASE("calls message: types, errors and ids come back, and only whole", "[unit]") {
  const call_types types{{.name = "a.B", .schema_encoding = "struct", .message_encoding = "struct", .schema = "text"},
                         {.name = "c.D"}};
  const auto with_types = encode({.kind = call_kind::hello}, encode(types));
  CHECK(read_types(payload_of(with_types)) == types);
  const auto payload = encode(types);
  for (std::size_t size = 0; size < payload.size(); ++size) CHECK_FALSE(read_types(std::span(payload).first(size)));
  auto longer = payload;
  longer.push_back({});
  CHECK_FALSE(read_types(longer));

  const call_error error{
      .code = call_errc::exception, .number = -7, .text = "text", .exception_type = "std::bad_alloc"};
  const auto read = read_error(encode(error));
  REQUIRE(read);
  CHECK(read->code == error.code);
  CHECK(read->number == -7);
  CHECK(read->text == "text");
  CHECK(read->exception_type == "std::bad_alloc");
  CHECK(read_error(encode(call_error{.text = std::string(10'000, 'x')}))->text.size() == max_error_text);
  std::string wide = "x";
  while (wide.size() < 2 * max_error_text) wide += "\u00e9";  // two bytes each, at odd places
  CHECK(read_error(encode(call_error{.text = wide}))->text == wide.substr(0, max_error_text - 1));
  const auto error_payload = encode(error);
  for (std::size_t size = 0; size < error_payload.size(); ++size)
    CHECK_FALSE(read_error(std::span(error_payload).first(size)));
  for (const std::uint64_t code : {0U, 11U, 32U, 33U, 41U, 255U}) {  // ok, and what only a client itself can know
    auto odd = error_payload;
    odd[0] = static_cast<std::byte>(code);
    CHECK(read_error(odd)->code == call_errc::failed);
  }

  const std::vector<std::uint64_t> ids{1, 2, ~std::uint64_t{0}};
  CHECK(read_ids(encode(ids)) == ids);
  CHECK_FALSE(read_ids(encode(std::vector<std::uint64_t>{2, 1})));
  const auto id_payload = encode(ids);
  CHECK_FALSE(read_ids(std::span(id_payload).first(9)));
  CHECK_FALSE(read_ids(encode(std::vector<std::uint64_t>(max_ids + 1))));
}

TEST_CASE("calls message: topics of a client", "[unit]") {
  CHECK(call_topic("arm/close", 0xabc) == "arm/close/.call/0000000000000abc");
  CHECK(reply_topic("arm/close", ~std::uint64_t{0}) == "arm/close/.reply/ffffffffffffffff");
  CHECK(client_of(call_topic("arm/close", 0xabc), "arm/close") == 0xabc);
  for (const char* const other : {"arm/close/.call/0000000000000ABC", "arm/close/.call/abc", "arm/close", "",
                                  "arm/open/.call/0000000000000abc", "arm/close/.reply/0000000000000abc"})
    CHECK_FALSE(client_of(other, "arm/close"));
}

TEST_CASE("calls message: a description that is nested without end describes no service", "[unit]") {
  orc::service_description found;
  call_types types;
  const std::string deep = R"({"x-orc-service":)" + std::string(400'000, '[') + std::string(400'000, ']') + "}";
  const orc::type_description type{std::string(orc::service_type_name), "jsonschema", "json", deep};
  CHECK_FALSE(read_service_type(type, found));
  CHECK_FALSE(read_schemas(type, types.request, types.reply));
}
