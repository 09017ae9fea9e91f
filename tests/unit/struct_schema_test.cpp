// Schemas of encoding struct.
#include <string>

#include "orc/schema.h"
#include "support/catch.h"

using namespace orc;
using orc::test::contains;

namespace {

const std::string state_schema =
    R"({"byte_order":"little","size":88,"fields":[{"name":"q","type":"float64","offset":0,"shape":[7],"unit":"rad",)"
    R"("comment":"joint positions"},{"name":"mode","type":"uint8","offset":56,"values":{"idle":0,"moving":1}},)"
    R"({"name":"pose","type":{"size":24,"fields":[{"name":"x","type":"float64","offset":0},{"name":"grid",)"
    R"("type":"int16","offset":8,"shape":[2,3]}]},"offset":64}]})";

type_description described(std::string schema, std::string name = "robot.State") {
  return {std::move(name), "struct", "struct", std::move(schema)};
}

// A structure with these fields, 64 bytes.
type_description with_fields(const std::string& fields) {
  return described(R"({"byte_order":"little","size":64,"fields":[)" + fields + "]}");
}

std::string why_bad(const std::string& schema) {
  const auto outcome = check_schema(described(schema));
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

std::string why_bad_fields(const std::string& fields) { return why_bad(with_fields(fields).schema); }

std::string nested(std::size_t levels) {
  std::string text;
  for (std::size_t i = 1; i < levels; ++i) text += R"({"size":1,"fields":[{"name":"f","offset":0,"type":)";
  text += R"({"size":1,"fields":[]})";
  for (std::size_t i = 1; i < levels; ++i) text += "}]}";
  return R"({"byte_order":"little",)" + text.substr(1);
}

}  // namespace

TEST_CASE("struct schema: all that a field can have is read") {
  schema found;
  const auto outcome = parse_schema(described(state_schema), found);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  CHECK_FALSE(found.big_endian);
  REQUIRE(found.structures.size() == 2);
  const auto& root = found.structures[0];
  CHECK(root.size == 88);
  REQUIRE(root.fields.size() == 3);
  CHECK(root.fields[0].name == "q");
  CHECK(root.fields[0].kind == field_kind::float64);
  CHECK(root.fields[0].dimensions == std::vector<dimension>{{7, false, ""}});
  CHECK(root.fields[0].unit == "rad");
  CHECK(root.fields[0].comment == "joint positions");
  CHECK(root.fields[1].values == std::vector<enum_value>{{"idle", 0}, {"moving", 1}});
  CHECK(root.fields[2].kind == field_kind::structure);
  CHECK(root.fields[2].structure == 1);
  CHECK(root.fields[2].offset == 64);
  CHECK(found.structures[1].fields[1].dimensions == std::vector<dimension>{{2, false, ""}, {3, false, ""}});
}

TEST_CASE("struct schema: white space, the order of keys and unknown keys do not matter") {
  schema found;
  REQUIRE(parse_schema(described("\n{ \"fields\" : [ {\"offset\":0, \"new\": {\"a\":[1,{}]}, \"type\":\"char\","
                                 "\"shape\":[32],\"name\":\"label \\u00fc\\ud83d\\ude00\"} ] ,\t\"size\":32,"
                                 "\"byte_order\":\"big\"}\r\n"),
                       found));
  CHECK(found.big_endian);
  REQUIRE(found.structures[0].fields.size() == 1);
  CHECK(found.structures[0].fields[0].name == "label \u00fc\U0001F600");
  CHECK(found.structures[0].fields[0].kind == field_kind::character);
}

TEST_CASE("struct schema: a bad one is refused with the place, and the result stays untouched") {
  schema found;
  found.big_endian = true;
  const auto outcome = parse_schema(described(R"({"byte_order":"little","size":8,"fields":[}]})"), found);
  CHECK(outcome.code() == errc::bad_argument);
  CHECK(outcome.error().message() == "schema of robot.State: byte 42: a value is expected");
  CHECK(found.big_endian);

  CHECK_THAT(why_bad(R"([1])"), contains("byte 0: an object is expected"));
  CHECK_THAT(why_bad(R"({"size":8,"fields":[]})"), contains("byte 0: `byte_order` is missing"));
  CHECK_THAT(why_bad(R"({"byte_order":"middle","size":8,"fields":[]})"), contains("byte 14: `byte_order` is neither"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":-1,"fields":[]})"), contains("`size` is not an integer from 0"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":1.5,"fields":[]})"), contains("`size` is not an integer"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":"8","fields":[]})"), contains("`size` is not a number"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":8,"fields":{}})"), contains("`fields` is not an array"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":8,"fields":[]} x)"), contains("something follows the value"));
  CHECK_THAT(why_bad(R"({"byte_order":"little","size":8,"fields":[],"x":")"
                     "\xff\"}"),
             contains("a text is not UTF-8"));
  CHECK_THAT(why_bad(R"({"a":"\ud800"})"), contains("half of a surrogate pair"));
  CHECK_THAT(why_bad(R"({"a":"\q"})"), contains("an unknown escape"));
  CHECK_THAT(why_bad(R"({"a":01})"), contains("`,` or `}` is expected"));
}

TEST_CASE("struct schema: fields that cannot be are refused") {
  CHECK_THAT(why_bad_fields(R"({"type":"bool","offset":0})"), contains("`name` is missing"));
  CHECK_THAT(why_bad_fields(R"({"name":"","type":"bool","offset":0})"), contains("a name has 1 to 255 bytes"));
  CHECK_THAT(why_bad_fields(R"({"name":")" + std::string(256, 'n') + R"(","type":"bool","offset":0})"),
             contains("a name has 1 to 255 bytes"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","offset":0})"), contains("`type` is missing"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"float\n","offset":0})"), contains(R"(unknown type `float\n`)"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"bool"})"), contains("`offset` is missing"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"float64","offset":57})"),
             contains("the field `a` ends behind byte 64, the size of its structure"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"bool","offset":65})"), contains("ends behind byte 64"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0,"shape":[4294967295,4294967295]})"),
             contains("too many elements"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"float64","offset":0,"shape":[4294967295]})"),
             contains("ends behind byte 64"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0,"shape":[0]})"), contains("a dimension is not"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0,"shape":7})"), contains("`shape` is not an array"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"float32","offset":0,"values":{"x":1}})"),
             contains("only integers have `values`"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0,"values":{"x":1,"x":2}})"),
             contains("the value `x` appears twice"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0,"unit":1})"), contains("`unit` is not a text"));
  CHECK_THAT(why_bad_fields(R"({"name":"a","type":"int8","offset":0},{"name":"a","type":"int8","offset":1})"),
             contains("the field `a` appears twice"));
}

TEST_CASE("struct schema: depth, count and size are limited") {
  CHECK(check_schema(described(nested(32))));
  CHECK_THAT(why_bad(nested(33)), contains("structures are nested more than 32 levels deep"));
  CHECK_THAT(why_bad(std::string(500'000, '[')), contains("values are nested more than 128 levels deep"));
  CHECK_THAT(why_bad(std::string(max_schema_bytes + 1, ' ')), contains("it has more than 1 MiB"));
  std::string many = R"({"byte_order":"little","size":1,"fields":[{"name":"m","type":"uint8","offset":0,"values":{)";
  for (int i = 0; i < 65'535; ++i) many += "\"" + std::to_string(i) + "\":0,";
  many.back() = '}';
  CHECK(check_schema(described(many + "}]}")));
  many.back() = ',';
  CHECK_THAT(why_bad(many + "\"x\":0}}]}"), contains("more than 65536 fields and values"));
}

TEST_CASE("struct schema: the text has a line per field, and nothing that moves the cursor") {
  CHECK(type_text(described(state_schema)) ==
        "robot.State (struct, 88 bytes, little-endian)\n"
        "  float64[7] q (rad)  # joint positions\n"
        "  uint8 mode {idle = 0, moving = 1}\n"
        "  struct pose\n"
        "    float64 x\n"
        "    int16[2][3] grid\n");
  auto hostile = with_fields(R"({"name":"a\u001b[2J","type":"int8","offset":0,"unit":"\n","comment":"x\ny\u202e"})");
  hostile.name = "\x1b";
  CHECK(type_text(hostile) ==
        "\\x1b (struct, 64 bytes, little-endian)\n"
        "  int8 a\\x1b[2J (\\n)  # x y\\xe2\\x80\\xae\n");
  CHECK(type_text(described("nonsense")) ==
        "robot.State (struct)\n  the schema cannot be read: byte 0: a value is expected\n");
}
