// Records of calls as JSON.
#include <string>

#include "calls/call_record_json.h"
#include "calls/service_json.h"
#include "json/base64.h"
#include "support/catch.h"

using namespace orc;
using namespace orc::detail;

namespace {

[[nodiscard]] result read(const std::string& text, call_record& found) {
  return read_call_record(std::as_bytes(std::span(text)), found);
}

[[nodiscard]] call_record example() {
  return {.client = {.name = "client", .host = "host", .pid = 17},
          .connection = 0x0123456789abcdef,
          .id = ~std::uint64_t{0},
          .received_ns = 1'767'323'045'000'000'001,
          .started_ns = 1'767'323'045'000'000'002,
          .finished_ns = 1'767'323'045'000'000'003,
          .deadline_ns = 1'767'323'045'000'000'004,
          .error = {.code = call_errc::ok, .number = -7, .text = "Grüße", .exception_type = "std::exception"},
          .cancelled = true,
          .request = {.size = 100'000, .bytes = std::string(max_recorded_bytes, '\xff'), .is_cut = true},
          .reply = call_payload{.size = 2, .bytes = "{}", .is_json = true}};
}

}  // namespace

TEST_CASE("call record: what is written is read", "[unit]") {
  const call_record wrote = example();
  call_record got;
  REQUIRE(read(to_json(wrote), got));
  CHECK(got.client.name == wrote.client.name);
  CHECK(got.client.host == wrote.client.host);
  CHECK(got.client.pid == wrote.client.pid);
  CHECK(got.connection == wrote.connection);
  CHECK(got.id == wrote.id);
  CHECK(got.received_ns == wrote.received_ns);
  CHECK(got.started_ns == wrote.started_ns);
  CHECK(got.finished_ns == wrote.finished_ns);
  CHECK(got.deadline_ns == wrote.deadline_ns);
  CHECK(got.error.code == wrote.error.code);
  CHECK(got.error.number == wrote.error.number);
  CHECK(got.error.text == wrote.error.text);
  CHECK(got.error.exception_type == wrote.error.exception_type);
  CHECK(got.cancelled);
  CHECK(got.request.size == wrote.request.size);
  CHECK(got.request.bytes == wrote.request.bytes);
  CHECK(got.request.is_cut);
  REQUIRE(got.reply);
  CHECK(got.reply->bytes == "{}");
  CHECK(got.reply->is_json);
  CHECK_FALSE(got.reply->is_cut);

  call_record never_ran = wrote;
  never_ran.started_ns = 0;
  never_ran.reply.reset();
  CHECK_FALSE(read(to_json(never_ran), got));  // it is ok, so there is a reply
  never_ran.error.code = call_errc::lost;
  REQUIRE(read(to_json(never_ran), got));
  CHECK(got.started_ns == 0);
  CHECK_FALSE(got.reply);
}

TEST_CASE("call record: the largest one is within the limit", "[unit]") {
  call_record wrote = example();
  wrote.error.text = std::string(4'096, '\0');
  wrote.error.exception_type = std::string(255, '\0');
  wrote.request = {.size = max_recorded_bytes, .bytes = std::string(max_recorded_bytes, '\0'), .is_json = true};
  wrote.reply = wrote.request;
  const std::string json = to_json(wrote);
  CHECK(json.size() <= max_call_record_bytes);
  call_record got;
  REQUIRE(read(json, got));
  CHECK(got.request.bytes == wrote.request.bytes);
}

TEST_CASE("call record: JSON that is no UTF-8 can be read all the same", "[unit]") {
  call_record wrote = example();
  wrote.request = {.size = 4, .bytes = "\"\xff\xfe\"", .is_json = true};
  call_record got;
  REQUIRE(read(to_json(wrote), got));
  CHECK(got.request.bytes == "\"\uFFFD\uFFFD\"");
}

TEST_CASE("call record: what is no record is refused, and says why", "[unit]") {
  const std::string good = to_json(example());
  call_record got;
  REQUIRE(read(good, got));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
  };
  const std::string deep(100'000, '[');
  for (const std::string& bad :
       {std::string(), std::string("{}"), std::string("null"), std::string("[1]"), deep,
        std::string("{\"client\":") + deep, good.substr(0, good.size() - 1), with("\"pid\":17", "\"pid\":\"17\""),
        with("0123456789abcdef", "0123456789abcdeg"), with("0123456789abcdef", "123456789abcdef"),
        with("\"client\"", "\"klient\""), with("\"size\":2", "\"size\":{}"), with("\"size\":2", "\"size\":-2"),
        with("\"size\":2", "\"size\":1e300"), with("\"pid\":17", "\"pid\":4294967296"),
        with("\"number\":-7", "\"number\":-2147483649"), with("//", "/-"),
        with("\"cancelled\":true", "\"cancelled\":1"), std::string(max_call_record_bytes + 1, ' ') + good}) {
    INFO(bad.substr(0, 80));
    const result refused = read(bad, got);
    CHECK(refused.code() == errc::bad_argument);
    CHECK_THAT(refused.error().message(), test::contains("no record of a call"));
  }
  for (std::size_t size = 0; size < good.size(); size += 977) CHECK_FALSE(read(good.substr(0, size), got));
}

TEST_CASE("call record: a code of a later version is a failure", "[unit]") {
  call_record failed = example();
  failed.error.code = call_errc::exception;
  failed.reply.reset();
  const std::string text = to_json(failed);
  const std::string code = "\"code\":1,";
  for (const char* const later : {"\"code\":11,", "\"code\":255,", "\"code\":256,", "\"code\":18446744073709551615,"}) {
    std::string other = text;
    other.replace(other.find(code), code.size(), later);
    call_record got;
    REQUIRE(read(other, got));
    CHECK(got.error.code == call_errc::failed);
  }
}

TEST_CASE("call record: base64 is read strictly", "[unit]") {
  CHECK(from_base64("AA==") == std::string(1, '\0'));
  CHECK(from_base64("AAE") == std::string("\0\1", 2));
  for (const char* const bad : {"A", "AAAAA", "====", "AA===", "A-", "A A="}) CHECK_FALSE(from_base64(bad));
}

TEST_CASE("call record: names of topics", "[unit]") {
  CHECK(call_record_topic("gripper/close") == "gripper/close/.calls");
  CHECK(is_call_record_topic("gripper/close/.calls"));
  for (const char* const other : {"/.calls", ".calls", "gripper/.call", "gripper/.calls/x", "gripper.calls", ""})
    CHECK_FALSE(is_call_record_topic(other));
}

TEST_CASE("call record: the type has those of request and reply, or only their hashes when they are large", "[unit]") {
  const type_description small{"arm.Close", "struct", "struct", "schema"};
  const type_description type = call_record_type({small, {}});
  CHECK(type.name == call_record_type_name);
  CHECK_THAT(type.schema, test::contains(base64("schema")));
  type_description large = small;
  large.schema = std::string(max_schema_bytes, 'x');
  const type_description cut = call_record_type({large, {}});
  CHECK(cut.schema.size() < 10'000);
  CHECK_THAT(cut.schema, test::contains("\"hash\""));
}
