// Schemas of encoding ros2msg.
#include <string>

#include "orc/schema.h"
#include "support/catch.h"

using namespace orc;
using orc::test::contains;

namespace {

type_description described(std::string schema, std::string name = "robot_msgs/msg/State") {
  return {std::move(name), "ros2msg", "cdr", std::move(schema)};
}

std::string dependency(const std::string& name, const std::string& text) {
  return "\n" + std::string(80, '=') + "\nMSG: " + name + "\n" + text;
}

const std::string state =
    "# State of an arm.\n\n# The mode\n# of the controller\nuint8 mode 1 # see below\n"
    "uint8 IDLE=0\nstring NAME = a = b\n\nstd_msgs/Header header\nfloat64[7] q\n"
    "float32[] a\nwstring<=5[<=3]\ttexts\nchar c 'x'\nPoint[2] p\n" +
    dependency("std_msgs/Header", "builtin_interfaces/Time stamp\nstring frame_id\n") +
    dependency("builtin_interfaces/msg/Time", "int32 sec\r\nuint32 nanosec\r\n") +
    dependency("robot_msgs/Point", "float64 x\n");

std::string why_bad(const std::string& text) {
  const auto outcome = check_schema(described(text));
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

}  // namespace

TEST_CASE("ros2 schema: fields, bounds, constants, defaults, comments and dependencies are read") {
  schema found;
  const auto outcome = parse_schema(described(state), found);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  REQUIRE(found.structures.size() == 4);
  CHECK(found.structures[1].name == "std_msgs/msg/Header");
  CHECK(found.structures[2].name == "builtin_interfaces/msg/Time");
  const auto& root = found.structures[0];
  CHECK(root.name == "robot_msgs/msg/State");
  CHECK(root.comment == "State of an arm.");
  REQUIRE(root.constants.size() == 2);
  CHECK(root.constants[1].value == "a = b");
  REQUIRE(root.fields.size() == 7);
  CHECK(root.fields[0].default_value == "1");
  CHECK(root.fields[0].comment == "The mode\nof the controller\nsee below");
  CHECK(root.fields[1].structure == 1);
  CHECK(root.fields[2].dimensions == std::vector<dimension>{{7, false, ""}});
  CHECK(root.fields[3].dimensions == std::vector<dimension>{{0, true, ""}});
  CHECK(root.fields[4].kind == field_kind::wide_string);
  CHECK(root.fields[4].max_length == 5);
  CHECK(root.fields[4].dimensions == std::vector<dimension>{{3, true, ""}});
  CHECK(root.fields[5].kind == field_kind::uint8);
  CHECK(root.fields[6].structure == 3);
  CHECK(found.structures[1].fields[0].structure == 2);
  CHECK(found.structures[2].fields.size() == 2);
}

TEST_CASE("ros2 schema: names without a package are of the same package, and Header is std_msgs'") {
  CHECK(check_schema(described("Header h" + dependency("std_msgs/Header", "int8 x"))));
  CHECK(check_schema(described("Header h" + dependency("robot_msgs/Header", "int8 x"))));
  CHECK_THAT(why_bad("Header h"), contains("line 1: message std_msgs/msg/Header is not defined"));
  CHECK_THAT(why_bad("int8 a\nPoint p" + dependency("other/Point", "int8 x")),
             contains("line 2: message robot_msgs/msg/Point is not defined"));
}

TEST_CASE("ros2 schema: a bad one is refused with its line") {
  CHECK_THAT(why_bad("int8 a\nint8 a"), contains("line 2: the name `a` appears twice"));
  CHECK_THAT(why_bad("int8"), contains("line 1: a name is expected, not ``"));
  CHECK_THAT(why_bad("int8 1a"), contains("a name is expected, not `1a`"));
  CHECK_THAT(why_bad("int8[<=0] a"), contains("unknown type `int8[<=0]`"));
  CHECK_THAT(why_bad("string<=0 a"), contains("unknown type `string<=0`"));
  CHECK_THAT(why_bad("int8[2][3] a"), contains("unknown type `int8[2][3]`"));
  CHECK_THAT(why_bad("int8<=3 a"), contains("unknown type `int8<=3`"));
  CHECK_THAT(why_bad("string<=99999999999 a"), contains("unknown type"));
  CHECK_THAT(why_bad("a/b/c/d x"), contains("unknown type `a/b/c/d`"));
  CHECK_THAT(why_bad("\x1b[2J x"), contains("unknown type `\\x1b[2J`"));
  CHECK_THAT(why_bad("int8[2] A=3"), contains("the constant `A` is no number or string"));
  CHECK_THAT(why_bad("int8 a\n" + std::string(80, '=') + "\nIDL: a/b"),
             contains("line 3: `MSG: pkg/Name` is expected"));
  CHECK_THAT(why_bad("int8 a" + dependency("a/B", "int8 x") + dependency("a/msg/B", "int16 x")),
             contains("`a/msg/B` is defined twice, in two ways"));
  CHECK_THAT(why_bad("int8 a" + dependency("robot_msgs/State", "int16 a")), contains("is defined twice"));
  CHECK(check_schema(described("int8 a" + dependency("a/B", "int8 x") + dependency("a/B", "\xEF\xBB\xBFint8 x"))));
}

TEST_CASE("ros2 schema: Time and Duration, which writers leave out, are known also by the words of ROS 1") {
  schema found;
  REQUIRE(parse_schema(described("builtin_interfaces/Time a\nbuiltin_interfaces/msg/Duration b\ntime c\nduration[] d"),
                       found));
  REQUIRE(found.structures.size() == 3);
  CHECK(found.structures[1].name == "builtin_interfaces/msg/Time");
  CHECK(found.structures[2].name == "builtin_interfaces/msg/Duration");
  for (std::size_t i = 0; i < 4; ++i) CHECK(found.structures[0].fields[i].structure == 1 + i % 2);
  for (const auto& each : {found.structures[1], found.structures[2]}) {
    REQUIRE(each.fields.size() == 2);
    CHECK(each.fields[0].name == "sec");
    CHECK(each.fields[0].kind == field_kind::int32);
    CHECK(each.fields[1].name == "nanosec");
    CHECK(each.fields[1].kind == field_kind::uint32);
  }
  // The definition in the text counts.
  REQUIRE(parse_schema(described("time t" + dependency("builtin_interfaces/Time", "int64 ns")), found));
  CHECK(found.structures[1].fields[0].name == "ns");
  CHECK(check_schema({"builtin_interfaces/msg/Stamp", "ros2msg", "cdr", "Time t"}));
}

TEST_CASE("ros2 schema: what other writers put between and before messages is taken") {
  for (const auto length : {3U, 79U, 80U, 81U, 300U}) {
    INFO(length);
    CHECK(check_schema(described("Point p\n" + std::string(length, '=') + " \r\nMSG: robot_msgs/Point\r\nint8 x\r\n")));
  }
  CHECK_THAT(why_bad("int8 x\n==\nMSG: a/B\nint8 y"), contains("line 2: unknown type `==`"));
  const std::string mark = "\xef\xbb\xbf";
  CHECK(check_schema(described(mark + "int8 x\na/B b" + dependency("a/B", mark + "int8 y"))));
  CHECK(check_schema(described("MSG: robot_msgs/State\nint8 x")));
  CHECK(check_schema(described("a/B b" + dependency("a/B", "int8 x\n") + "\n" + std::string(80, '=') + "\n")));
  CHECK(check_schema(described("int8[0] none\nint8 x")));
  CHECK_THAT(why_bad("MSG: robot_msgs/Other\nint8 x"), contains("line 1: unknown type `MSG:`"));
  CHECK(check_schema(described("a/B b" + dependency("a/B", "int8 x\n") + dependency("a/msg/B", "int8 x\r\n\n"))));
  schema found;
  REQUIRE(parse_schema(described("@key int32 id\nint8 x"), found));
  CHECK(found.structures[0].fields[0].name == "id");
}

TEST_CASE("ros2 schema: messages that the type does not contain need not be complete") {
  schema found;
  REQUIRE(
      parse_schema(described("int8 x\na/C c" + dependency("a/B", "NotThere n") + dependency("a/C", "int8 y")), found));
  REQUIRE(found.structures.size() == 2);
  CHECK(found.structures[1].name == "a/msg/C");
  CHECK(found.structures[0].fields[1].structure == 1);
  CHECK_THAT(why_bad("a/C c" + dependency("a/B", "int8 x") + dependency("a/C", "B b\nNotThere n")),
             contains("line 8: message a/msg/NotThere is not defined"));
}

TEST_CASE("ros2 schema: depth is limited, and no message contains itself") {
  CHECK_THAT(why_bad("a/B b" + dependency("a/B", "State s") + dependency("a/State", "B b")),
             contains("contains itself"));
  std::string deep = "a/T1 t";
  for (int i = 1; i < 63; ++i) deep += dependency("a/T" + std::to_string(i), "T" + std::to_string(i + 1) + " t");
  CHECK(check_schema(described(deep + dependency("a/T63", "int8 x"))));
  CHECK_THAT(why_bad(deep + dependency("a/T63", "T64 t") + dependency("a/T64", "int8 x")),
             contains("messages are nested more than 64 levels deep"));
}

TEST_CASE("ros2 schema: the text lists each message") {
  CHECK(type_text(described(state)) ==
        "robot_msgs/msg/State (ros2msg)  # State of an arm.\n"
        "  const uint8 IDLE = 0\n"
        "  const string NAME = a = b\n"
        "  uint8 mode = 1  # The mode of the controller see below\n"
        "  std_msgs/msg/Header header\n"
        "  float64[7] q\n"
        "  float32[] a\n"
        "  wstring<=5[<=3] texts\n"
        "  uint8 c = 'x'\n"
        "  robot_msgs/msg/Point[2] p\n"
        "\n"
        "std_msgs/msg/Header\n"
        "  builtin_interfaces/msg/Time stamp\n"
        "  string frame_id\n"
        "\n"
        "builtin_interfaces/msg/Time\n"
        "  int32 sec\n"
        "  uint32 nanosec\n"
        "\n"
        "robot_msgs/msg/Point\n"
        "  float64 x\n");
}
