// The decoder and samples of encoding json.
#include <span>
#include <string>
#include <string_view>

#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;

namespace {

byte_list bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

const type_description json_type{"robot.State", "jsonschema", "json", "{}"};

}  // namespace

TEST_CASE("types json: values stay what they are, and names are sorted") {
  const auto type = decoder_of(json_type);
  const byte_list sample =
      bytes_of(R"({ "z": [1, 2.5], "a": {"b": null, "c": "\u00e4\n"}, "n": [-9223372036854775808, 1],)"
               R"("u": [18446744073709551615], "m": [1, "x", true, []], "o": {}})");
  const std::string expected =
      "{\"a\":{\"b\":null,\"c\":\"\xc3\xa4\\u000a\"},\"m\":[1,\"x\",true,[]],"
      "\"n\":[-9223372036854775808,1],\"o\":{},\"u\":[18446744073709551615],\"z\":[1.0,2.5]}";
  CHECK(json_of(*type, sample) == expected);
  CHECK(json_of(*type, sample_of(*type, expected)) == expected);
  CHECK(number_at(*type, sample, "z[1]") == 2.5);
  CHECK(json_at(*type, sample, "a.c") == "\"\xc3\xa4\\u000a\"");
  CHECK(json_at(*type, sample, "not.there") == "null");
  CHECK(json_at(*type, sample, "m[3]") == "[]");
}

TEST_CASE("types json: characters on which terminals act are escaped") {
  const auto type = decoder_of(json_type);
  const std::string kept = "\xc2\xa0 \xe2\x80\xa7 \xe2\x80\xaf \xe2\x81\xa5 \xe2\x81\xaa";
  CHECK(json_of(*type, bytes_of("\"" + kept + "\"")) == "\"" + kept + "\"");
  const std::string harmful = "\x7f\xc2\x80\xc2\x9f\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9";
  const std::string escapes = R"("\u007f\u0080\u009f\u2028\u202e\u2066\u2069")";
  CHECK(json_of(*type, bytes_of("\"" + harmful + "\"")) == escapes);
  CHECK(json_of(*type, sample_of(*type, escapes)) == escapes);
}

TEST_CASE("types json: a type without a schema is enough") {
  const auto type = decoder_of({"", "", "json", ""});
  CHECK(json_of(*type, bytes_of("3")) == "3");
  CHECK(json_of(*type, bytes_of("[]")) == "[]");
}

TEST_CASE("types json: bad samples are refused") {
  const auto type = decoder_of(json_type);
  CHECK_THAT(why_not_decoded(*type, bytes_of("{\"a\":")), contains("not JSON"));
  CHECK_THAT(why_not_decoded(*type, bytes_of("")), contains("not JSON"));
  CHECK_THAT(why_not_decoded(*type, bytes_of("{\"a\":1e999}")), contains("not JSON"));
  CHECK_THAT(why_not_decoded(*type, bytes_of("\"\xff\"")), contains("not JSON"));
  CHECK_THAT(why_not_decoded(*type, bytes_of(std::string(70, '['))), contains("deeper than 64"));
  types::field_path path;
  REQUIRE(type->path("a[3]", path));
  std::string text;
  CHECK_THAT(types::to_json(*type, bytes_of("{\"a\":[1]}"), path, {}, text).error().message(),
             contains("`a[3]`: is beyond the end of an array of 1"));
}
