// What all parts of ORC read and write as JSON.
#include "json/json_io.h"

#include <nlohmann/json.hpp>
#include <string>

#include "support/catch.h"

using nlohmann::json;
using nlohmann::ordered_json;
using orc::detail::read_json;
using orc::test::contains;

namespace {

[[nodiscard]] std::string nested(std::size_t levels, const std::string& inside) {
  return std::string(levels, '[') + inside + std::string(levels, ']');
}

[[nodiscard]] std::string problem_of(const std::string& text) {
  json read;
  const auto problem = read_json(text, read);
  return problem ? problem->text : "";
}

}  // namespace

TEST_CASE("json: reads at most 64 objects and arrays within each other", "[unit]") {
  json read;
  CHECK_FALSE(read_json(nested(64, "1"), read));
  for (const std::string& deep : {nested(65, ""), nested(65, "1"), nested(100'000, ""), std::string(100'000, '[')}) {
    const auto problem = read_json(deep, read);
    REQUIRE(problem);
    CHECK(problem->is_too_deep);
    CHECK(problem->text == "JSON deeper than 64 levels");
  }
  ordered_json own;
  CHECK(read_json(nested(65, "1"), own));
  CHECK_FALSE(read_json(nested(1000, "1"), own, orc::detail::any_json_depth));
}

TEST_CASE("json: what is not too deep can be read beside what is", "[unit]") {
  json read;
  const auto problem = read_json(R"({"calls":3,"deep":[1],"failed":4})", read, 1);
  REQUIRE(problem);
  CHECK(problem->is_too_deep);
  CHECK(read["calls"] == 3);
  CHECK(read["deep"].is_discarded());
  CHECK(read["failed"] == 4);
}

TEST_CASE("json: does not read what would take much more memory than its text", "[unit]") {
  std::string lists = "[[]";
  for (int i = 0; i < 600'000; ++i) lists += ",[]";
  lists += ']';
  for (const std::string& heavy : {lists, "[" + std::string(5'000'000, ',') + "]", std::string(600'000, '{')})
    CHECK_THAT(problem_of(heavy), contains("JSON of more than 4,194,304 numbers"));
  ordered_json own;
  CHECK_FALSE(read_json(lists, own, orc::detail::any_json_depth));
  std::string numbers = "[0";
  for (int i = 0; i < 1'000'000; ++i) numbers += ",1";
  CHECK(problem_of(numbers + "]").empty());
  CHECK(problem_of("\"" + std::string(5'000'000, '[') + "\\\"[,\"").empty());
  CHECK(orc::detail::json_weight(R"([1,"a,\\",{"b":2}])") == 8 + 1 + 8 + 1 + 8 + 8);
}

TEST_CASE("json: says why a text is none", "[unit]") {
  CHECK_THAT(problem_of("{\"a\": }"), contains("[json.exception.parse_error.101] parse error at line 1, column 7"));
  CHECK_THAT(problem_of("1 2"), contains("parse_error.101"));
  CHECK_THAT(problem_of("\"\xff\""), contains("invalid string"));
  CHECK_THAT(problem_of("1e999"), contains("[json.exception.out_of_range.406]"));
  CHECK_THAT(problem_of(""), contains("parse error at line 1, column 1"));
  json read;
  CHECK_FALSE(read_json(" {\"a\": 1, \"a\": 2} ", read));
  CHECK(read == json{{"a", 2}});
}

TEST_CASE("json: keeps the order of members where that matters", "[unit]") {
  json sorted;
  ordered_json kept;
  REQUIRE_FALSE(read_json(R"({"b":1,"a":2.0})", sorted));
  REQUIRE_FALSE(read_json(R"({"b":1,"a":2.0})", kept));
  CHECK(orc::detail::write_json(sorted) == R"({"a":2.0,"b":1})");
  CHECK(orc::detail::write_json(kept) == R"({"b":1,"a":2.0})");
}

TEST_CASE("json: what is written is valid, whatever the texts hold", "[unit]") {
  CHECK(orc::detail::write_json(json("\xff \u00fc\n")) == "\"\xef\xbf\xbd \u00fc\\n\"");
  CHECK(orc::detail::write_ascii_json(json("\xff \u00fc")) == R"("\ufffd \u00fc")");
  CHECK(orc::detail::write_ascii_json(ordered_json("\u009b")) == R"("\u009b")");
  CHECK(orc::detail::write_utf8_json(json("\u00fc")) == "\"\u00fc\"");
  CHECK_FALSE(orc::detail::write_utf8_json(json{{"a", "\xff"}}));
}
