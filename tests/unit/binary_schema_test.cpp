// Schemas of encoding protobuf and flatbuffer. type_check_test.cpp compares them.
#include <string>

#include "orc/schema.h"
#include "support/catch.h"
#include "support/type_check_cases.h"

using namespace orc;
using orc::test::contains;
using orc::test::published_in;

namespace {

type_description protobuf(std::string schema) { return {"robot.State", "protobuf", "protobuf", std::move(schema)}; }

// A record whose content is bytes.
std::string record(int number, const std::string& content) {
  std::string made(1, static_cast<char>(number << 3 | 2));
  for (auto size = content.size(); true; size >>= 7) {
    made += static_cast<char>((size & 0x7F) | (size > 0x7F ? 0x80 : 0));
    if (size <= 0x7F) return made + content;
  }
}
std::string number_record(int number, int value) { return {static_cast<char>(number << 3), static_cast<char>(value)}; }

// A set with one file, whose package is robot.
std::string file(const std::string& records) { return record(1, record(2, "robot") + records); }
std::string message(const std::string& records) { return record(4, record(1, "State") + records); }

std::string why_bad(const type_description& type) {
  const auto outcome = check_schema(type);
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

// Each prefix, and each byte changed, must be refused or read: nothing else.
void damage(const type_description& type) {
  REQUIRE(check_schema(type));
  auto damaged = type;
  for (std::size_t size = 1; size < type.schema.size(); ++size) {
    damaged.schema = type.schema.substr(0, size);
    (void)check_types(damaged, type, "x");
    (void)type_text(damaged);
  }
  for (std::size_t at = 0; at < type.schema.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      damaged.schema = type.schema;
      damaged.schema[at] = static_cast<char>(damaged.schema[at] ^ flip);
      const auto there = check_types(damaged, type, "x");
      const auto back = check_types(type, damaged, "x");
      INFO(there.error().message() << "\n" << back.error().message());
      CHECK(static_cast<bool>(there) == static_cast<bool>(back));
    }
  }
}

}  // namespace

TEST_CASE("protobuf schema: the text is that of a .proto file") {
  CHECK(type_text(published_in("protobuf: equal")) ==
        "robot.State (protobuf)\n"
        "  repeated double q = 1\n"
        "  robot.Vec v = 2\n"
        "  robot.Mode mode = 3\n"
        "  map<string, robot.Vec> m = 4\n"
        "\n"
        "robot.Vec\n"
        "  double x = 1\n"
        "  double y = 2\n"
        "\n"
        "robot.Mode\n"
        "  IDLE = 0\n"
        "  MOVING = 1\n");
}

TEST_CASE("protobuf schema: what a descriptor must have is demanded") {
  const auto one_field = [](const std::string& records) { return protobuf(file(message(record(2, records)))); };
  CHECK(check_schema(protobuf(file(message("")))));
  CHECK(check_schema(one_field(record(1, "a") + number_record(3, 1) + number_record(5, 1))));
  CHECK_THAT(why_bad(one_field(number_record(3, 1) + number_record(5, 1))), contains("a field has no name"));
  CHECK_THAT(why_bad(one_field(record(1, "a") + number_record(5, 1))), contains("no number from 1 to 536870911"));
  CHECK_THAT(why_bad(one_field(record(1, "a") + number_record(3, 1) + number_record(5, 19))), contains("unknown type"));
  CHECK_THAT(why_bad(one_field(record(1, "a") + number_record(3, 1) + number_record(4, 4))), contains("unknown label"));
  CHECK_THAT(why_bad(one_field(record(1, "a") + number_record(3, 1) + number_record(5, 11) + record(6, ".x\n"))),
             contains("type `.x\\n` of field `robot.State.a` is not defined"));
  CHECK_THAT(why_bad(one_field(record(1, "a") + number_record(3, 1) + number_record(5, 1) + number_record(9, 0))),
             contains("a field is in an unknown oneof"));
  const auto field = record(2, record(1, "a") + number_record(3, 1) + number_record(5, 1));
  CHECK_THAT(why_bad(protobuf(file(message(field + field)))), contains("has two fields with number 1"));
  CHECK_THAT(why_bad(protobuf(file(message("") + message("")))), contains("`robot.State` is defined twice"));
  CHECK_THAT(why_bad(protobuf(file(record(4, "")))), contains("a name is missing"));
  CHECK_THAT(why_bad(protobuf(std::string(11, '\x80'))), contains("not a FileDescriptorSet"));
  std::string deep = record(1, "M");
  for (int i = 0; i < 40; ++i) deep = record(1, "M") + record(3, deep);
  CHECK_THAT(why_bad(protobuf(file(record(4, deep)))), contains("messages are defined more than 32 levels deep"));
  std::string many;
  for (int i = 0; i < 65'537; ++i) many += record(8, record(1, "o"));
  CHECK_THAT(why_bad(protobuf(file(message(many)))), contains("more than 65536 messages, fields and values"));
}

TEST_CASE("protobuf schema: maps of a delimited file are not delimited") {
  const auto type = [](const std::string& of_file) {
    const auto part = [](const std::string& name, int number, const std::string& kind) {
      return record(2, record(1, name) + number_record(3, number) + number_record(4, 1) + kind);
    };
    const auto is_v = number_record(5, 11) + record(6, ".robot.V");
    const auto is_entry = number_record(5, 11) + record(6, ".robot.State.MEntry");
    const auto entry = record(
        3, record(1, "MEntry") + part("key", 1, number_record(5, 5)) + part("value", 2, is_v) + record(7, "8\1"));
    const auto map = record(2, record(1, "m") + number_record(3, 1) + number_record(4, 3) + is_entry);
    return protobuf(
        file(record(4, record(1, "V")) + message(map + entry + part("v", 2, is_v)) + record(12, "editions") + of_file));
  };
  const auto delimited = type(record(8, std::string("\x92\3\2") + number_record(5, 2)));
  CHECK(type_text(type("")) == "robot.State (protobuf)\n  map<int32, robot.V> m = 1\n  robot.V v = 2\n\nrobot.V\n");
  CHECK(type_text(delimited) ==
        "robot.State (protobuf)\n  map<int32, robot.V> m = 1\n  group robot.V v = 2\n\nrobot.V\n");
}

TEST_CASE("protobuf schema: an extension has a number of its own, and a type") {
  const auto type = [](int number, const std::string& kind) {
    const auto extension = record(7, record(1, "e") + record(2, ".robot.State") + number_record(3, number) + kind);
    return protobuf(file(extension + message(record(2, record(1, "a") + number_record(3, 1) + number_record(5, 1)))));
  };
  CHECK(type_text(type(9, number_record(5, 5))) == "robot.State (protobuf)\n  double a = 1\n  int32 e = 9\n");
  CHECK_THAT(why_bad(type(1, number_record(5, 5))), contains("`robot.State` has two fields with number 1"));
  CHECK_THAT(why_bad(type(9, number_record(5, 11) + record(6, ".x"))),
             contains("type `.x` of field `robot.State.e` is not defined"));
}

TEST_CASE("protobuf schema: damaged bytes do no harm") {
  for (const char* const name : {"protobuf: equal", "protobuf: a delimited field against a length-prefixed one",
                                 "protobuf: an extension inside a message"}) {
    damage(published_in(name));
  }
}

TEST_CASE("flatbuffer schema: the text lists tables, structs, unions and enums") {
  CHECK(type_text(published_in("flatbuffer: equal")) ==
        "robot.State (flatbuffer)\n"
        "  [double] q\n"
        "  robot.Vec v\n"
        "  robot.Mode mode\n"
        "  robot.Body body\n"
        "  float gain = 0.5\n"
        "\n"
        "struct robot.Vec\n"
        "  double x\n"
        "  double y\n"
        "\n"
        "table robot.A\n"
        "  int i\n"
        "\n"
        "table robot.B\n"
        "  string s\n"
        "\n"
        "enum robot.Mode\n"
        "  IDLE = 0\n"
        "  MOVING = 1\n"
        "\n"
        "union robot.Body\n"
        "  NONE = 0\n"
        "  A = 1 (robot.A)\n"
        "  B = 2 (robot.B)\n");
}

TEST_CASE("flatbuffer schema: what is none is refused") {
  const auto type = published_in("flatbuffer: equal");
  auto bad = type;
  bad.schema.resize(100);
  CHECK_THAT(why_bad(bad), contains("not a binary schema"));
  bad = type;
  bad.name = "robot.Vec";
  CHECK_THAT(why_bad(bad), contains("`robot.Vec` is a struct, not a table"));
  bad.name = "";
  CHECK(check_schema(bad));
  bad.schema[4] = 'X';
  CHECK_THAT(why_bad(bad), contains("byte 4: `BFBS` is expected"));
}

TEST_CASE("flatbuffer schema: parts that are shared without end are refused") {
  // Enums that share one vector of attributes, which this reader skips: 2,000 times 2,000.
  std::string text(4, '\0');
  text += "BFBS";
  const auto put = [&text](std::size_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  };
  const auto set = [&text](std::size_t at, std::size_t value) {
    for (std::size_t i = 0; i < 4; ++i) text[at + i] = static_cast<char>(value >> (8 * i) & 0xFF);
  };
  const auto point = [&](std::size_t at, std::size_t to) { set(at, to - at); };
  const std::size_t schema_fields = text.size();
  for (const std::size_t each : {8U, 12U, 0U, 4U}) put(each, 2);  // size of the vtable and the table; no objects; enums
  const std::size_t root = text.size();
  put(root - schema_fields, 4);
  put(0, 8);
  point(0, root);
  const std::size_t enum_fields = text.size();
  for (const std::size_t each : {14U, 12U, 4U, 0U, 0U, 0U, 8U}) put(each, 2);  // name and attributes
  put(0, 2);
  // All enums are one table.
  constexpr std::size_t count = 2'000;
  const std::size_t enums = text.size();
  put(count, 4);
  for (std::size_t i = 0; i < count; ++i) put(0, 4);
  point(root + 4, enums);
  const std::size_t one = text.size();
  put(one - enum_fields, 4);
  put(0, 8);
  for (std::size_t i = 0; i < count; ++i) point(enums + 4 + 4 * i, one);
  const std::size_t name = text.size();
  put(1, 4);
  text += "e";
  put(0, 3);
  point(one + 4, name);
  const std::size_t attributes = text.size();
  put(count, 4);
  for (std::size_t i = 0; i < count; ++i) put(0, 4);
  point(one + 8, attributes);
  CHECK_THAT(why_bad({"", "flatbuffer", "flatbuffer", text}), contains("too many parts of it are shared"));
}

TEST_CASE("flatbuffer schema: damaged bytes do no harm") { damage(published_in("flatbuffer: equal")); }

TEST_CASE("json schema: only its syntax is checked") {
  const type_description json{"T", "jsonschema", "json", R"({"type":"object","x":[1.5e-3,true,null,"\u00e9"]})"};
  CHECK(check_schema(json));
  CHECK(type_text(json) == "T (jsonschema)\n  49 bytes of JSON Schema\n");
  CHECK_THAT(why_bad({"T", "jsonschema", "json", "{"}), contains("schema of T: byte 1: a name in quotes is expected"));
  schema found;
  CHECK(parse_schema(json, found).error().message() == "schema of T: its encoding is not struct, lcm or ros2msg");
}

TEST_CASE("type text: types without a schema, and of unknown encodings") {
  CHECK(type_text({}) == "no type\n");
  CHECK(type_text({"a.B", "", "json", ""}) == "a.B (json)\n  no schema\n");
  CHECK(type_text({"a.B", "ros2idl", "cdr", "xyz"}) == "a.B (ros2idl)\n  3 bytes of an unknown encoding\n");
  CHECK(check_schema({"a.B", "ros2idl", "cdr", "xyz"}));
  CHECK(check_schema({std::string(256, 'n'), "", "json", ""}).code() == errc::bad_argument);
}
