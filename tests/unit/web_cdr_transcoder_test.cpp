// Samples of struct and LCM in ROS 2's CDR: our decoder reads from it what it reads from the samples themselves.
#include "tools/web/ros2/cdr_transcoder.h"

#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "support/leaf_list.h"
#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;
using orc::web::cdr_transcoder;

namespace {

const std::string separator = std::string(80, '=') + "\n";

type_description as_struct(std::string schema, std::string name = "robot.State") {
  return {std::move(name), "struct", "struct", std::move(schema)};
}
type_description as_lcm(std::string schema, std::string name = "t") {
  return {std::move(name), "lcm", "lcm", std::move(schema)};
}

// One field of one structure: {"name":"a","type":"uint8","offset":0} and what follows it.
type_description one_field(const std::string& rest, std::size_t size) {
  return as_struct(R"({"byte_order":"little","size":)" + std::to_string(size) + R"(,"fields":[{"name":)" + rest +
                   "}]}");
}

// A type and what becomes of it.
struct transcoded_type {
  explicit transcoded_type(const type_description& type) : original(decoder_of(type)) {
    std::string problem;
    transcoder = cdr_transcoder::make(*original, type.name, problem);
    INFO(problem);
    REQUIRE(transcoder);
    CHECK(problem.empty());
    INFO(transcoder->schema());
    cdr = decoder_of({transcoder->schema_name(), "ros2msg", "cdr", transcoder->schema()});
  }

  // Both have the same values in the same fields. Returns the sample in CDR.
  [[nodiscard]] byte_list check(const byte_list& sample) const {
    byte_list made{std::byte{42}};
    const result outcome = transcoder->transcode(sample, made);
    INFO(outcome.error().message());
    REQUIRE(outcome);
    leaf_list expected;
    leaf_list found;
    REQUIRE(original->walk(sample, expected));
    const result read = cdr->walk(made, found);
    INFO(read.error().message());
    REQUIRE(read);
    CHECK(found.leaves() == expected.leaves());
    return made;
  }
  [[nodiscard]] byte_list check(std::string_view json) const { return check(sample_of(*original, json)); }
  [[nodiscard]] std::string json(const byte_list& sample) const { return json_of(*cdr, sample); }

  std::unique_ptr<types::decoder> original;
  std::unique_ptr<const cdr_transcoder> transcoder;
  std::unique_ptr<types::decoder> cdr;
};

std::string problem_of(const type_description& type) {
  const auto original = decoder_of(type);
  std::string problem;
  CHECK_FALSE(cdr_transcoder::make(*original, type.name, problem));
  return problem;
}

byte_list bytes_of(std::initializer_list<int> from) {
  byte_list made;
  for (const int each : from) made.push_back(static_cast<std::byte>(each));
  return made;
}

std::string every_struct(const std::string& order) {
  return R"({"byte_order":")" + order +
         R"(","size":200,"fields":[)"
         R"({"name":"on","type":"bool","offset":0},{"name":"i8","type":"int8","offset":1},)"
         R"({"name":"i16","type":"int16","offset":2},{"name":"i32","type":"int32","offset":4},)"
         R"({"name":"i64","type":"int64","offset":8},{"name":"u8","type":"uint8","offset":16},)"
         R"({"name":"u16","type":"uint16","offset":18},{"name":"u32","type":"uint32","offset":20},)"
         R"({"name":"u64","type":"uint64","offset":24},{"name":"f32","type":"float32","offset":32},)"
         R"({"name":"f64","type":"float64","offset":40},{"name":"letter","type":"char","offset":48},)"
         R"({"name":"label","type":"char","offset":49,"shape":[5]},)"
         R"({"name":"words","type":"char","offset":54,"shape":[2,2,3]},)"
         R"({"name":"flags","type":"bool","offset":66,"shape":[3]},)"
         R"({"name":"mode","type":"int16","offset":70,"values":{"idle":0,"moving":1,"broken":-1}},)"
         R"({"name":"m","type":"float64","offset":72,"shape":[2,3],"unit":"Nm","comment":"of the motors"},)"
         R"({"name":"shorts","type":"uint16","offset":120,"shape":[3]},)"
         R"({"name":"nothing","type":{"size":0,"fields":[]},"offset":126},)"
         R"({"name":"tip","type":{"size":24,"fields":[{"name":"c","type":"int8","offset":0},)"
         R"({"name":"x","type":"float64","offset":8,"shape":[2]}]},"offset":128},)"
         R"({"name":"grid","type":{"size":8,"fields":[{"name":"a","type":"uint8","offset":0},)"
         R"({"name":"b","type":"int32","offset":4}]},"offset":152,"shape":[2,3]}]})";
}

const std::string every_value =
    R"({"on":true,"i8":-8,"i16":-16,"i32":-32,"i64":-9223372036854775808,"u8":255,"u16":65535,"u32":4294967295,)"
    R"("u64":18446744073709551615,"f32":0.5,"f64":-0.1,"letter":"x","label":"grün","words":[["a","bcd"],["","ef"]],)"
    R"("flags":[true,false,true],"mode":"broken","m":[[1,2,3],[4,5,6]],"shorts":[1,2,65535],"nothing":{},)"
    R"("tip":{"c":-1,"x":[0.1,0.2]},"grid":[[{"a":1,"b":-1},{"a":2,"b":-2},{"a":3,"b":-3}],)"
    R"([{"a":4,"b":-4},{"a":5,"b":-5},{"a":6,"b":-6}]]})";

const std::string every_lcm = R"(package demo;
struct point { double x; float y; }
struct empty { }
struct all {
  int32_t n; int8_t m; boolean on; int8_t i8; int16_t i16; int64_t i64; byte u8; float f; double d; string s;
  double fixed[3]; int16_t many[n]; byte raw[m][2]; string words[n]; string table[2][m]; point one; point points[n];
  point grid[m][2]; empty nothing; empty voids[n]; boolean flags[m]; int8_t last; })";

}  // namespace

TEST_CASE("web cdr transcoder: a struct with every kind of field, in both byte orders", "[web]") {
  for (const std::string order : {"little", "big"}) {
    INFO(order);
    const transcoded_type type(as_struct(every_struct(order)));
    const auto made = type.check(every_value);
    CHECK(type.transcoder->schema_name() == "orc/msg/RobotState");
    const std::string json = type.json(made);
    CHECK_THAT(json, contains(R"("u64":18446744073709551615,"f32":0.5,"f64":-0.1,"letter":"x","label":"grün",)"
                              R"("words":["a","bcd","","ef"],"flags":[true,false,true],"mode":-1,)"
                              R"("m":[1.0,2.0,3.0,4.0,5.0,6.0],"shorts":[1,2,65535],)"));
    CHECK_THAT(json, contains(R"({"a":5,"b":-5},{"a":6,"b":-6}])"));
  }
}

TEST_CASE("web cdr transcoder: an LCM type with every kind of field", "[web]") {
  const transcoded_type type(as_lcm(every_lcm, "demo.all"));
  CHECK(type.transcoder->schema_name() == "orc/msg/DemoAll");
  const std::string point = R"({"x":0.1,"y":0.5})";
  const auto made = type.check(
      R"({"on":true,"i8":-8,"i16":-16,"i64":-64,"u8":200,"f":0.25,"d":1e300,"s":"ä","fixed":[1,2,3],"many":[-1,2,-3],)"
      R"("raw":[[1,2],[3,4]],"words":["","b","cc"],"table":[["a","b"],["c","d"]],"one":{"x":1,"y":2},"points":[)" +
      point + "," + point + "," + point + R"(],"grid":[[)" + point + "," + point + "],[" + point + "," + point +
      R"(]],"nothing":{},"voids":[{},{},{}],"flags":[true,false],"last":7})");
  CHECK_THAT(type.json(made),
             contains(R"("n":3,"m":2,"on":true)") && contains(R"("many":[-1,2,-3],"raw":[1,2,3,4],)"
                                                              R"("words":["","b","cc"],"table":["a","b","c","d"])"));
  const auto empty = type.check("{}");
  CHECK_THAT(type.json(empty), contains(R"("many":[],"raw":[],"words":[],"table":[])"));
}

TEST_CASE("web cdr transcoder: the definition of a struct", "[web]") {
  const transcoded_type type(as_struct(
      R"({"byte_order":"little","size":48,"fields":[)"
      R"({"name":"q","type":"float32","offset":0,"shape":[2,3],"unit":"rad","comment":"measured\nat the joints"},)"
      R"({"name":"mode","type":"uint8","offset":24,"values":{"kIdle":0,"on-line":1,"huge":256,"none":-1}},)"
      R"({"name":"tip","type":{"size":8,"fields":[{"name":"x","type":"int64","offset":0}]},"offset":32},)"
      R"({"name":"none","type":{"size":0,"fields":[]},"offset":40},{"name":"id","type":"char","offset":40,)"
      R"("shape":[8]}]})"));
  CHECK(type.transcoder->schema() ==
        "# measured\n# at the joints\n# shape [2][3], row-major\n# [rad]\nfloat32[6] q\n"
        "uint8 MODE_K_IDLE=0\nuint8 MODE_ON_LINE=1\nuint8 mode\n"
        "orc/RobotStateTip tip\norc/RobotStateNone none\nstring id\n" +
            separator + "MSG: orc/RobotStateTip\nint64 x\n" + separator +
            "MSG: orc/RobotStateNone\nuint8 structure_needs_at_least_one_member\n");
}

TEST_CASE("web cdr transcoder: the definition of an LCM type has what it uses, once", "[web]") {
  const transcoded_type type(
      as_lcm("package p; struct other { int8_t a; } struct leaf_t { const int32_t X = 5; int8_t a; } "
             "/* All of it. */ struct t { leaf_t one; leaf_t two[3]; int32_t n; leaf_t more[3][n]; }",
             "p.t"));
  CHECK(type.transcoder->schema() ==
        "orc/PLeafT one\norc/PLeafT[3] two\nint32 n\n# shape [3][n], row-major\norc/PLeafT[] more\n" + separator +
            "MSG: orc/PLeafT\nint8 a\n");
}

TEST_CASE("web cdr transcoder: names that ROS 2 does not allow are changed, and stay unique", "[web]") {
  const auto fields = [](std::initializer_list<const char*> names) {
    std::string text;
    for (const char* const each : names) {
      text += (text.empty() ? "" : ",") + std::string(R"({"name":")") + each + R"(","type":"uint8","offset":0})";
    }
    return as_struct(R"({"byte_order":"little","size":1,"fields":[)" + text + "]}");
  };
  const auto names_of = [&](std::initializer_list<const char*> names) {
    const transcoded_type type(fields(names));
    static_cast<void>(type.check(byte_list{std::byte{7}}));
    std::string made = type.json(type.check(byte_list{std::byte{7}}));
    for (std::size_t at = 0; (at = made.find(R"(":7)")) != made.npos;) made.erase(at, 3);
    return made;
  };
  CHECK(names_of({"plain", "a_b2", "a2b"}) == R"({"plain,"a_b2,"a2b})");
  CHECK(names_of({"jointPos", "IMUData", "x2Dot", "ABC"}) == R"({"joint_pos,"imu_data,"x2_dot,"abc})");
  CHECK(names_of({"_a_", "b__c", "d.e", "3d", "-", "größe"}) == R"({"a,"b_c,"d_e,"field_3d,"field,"gr_e})");
  // Those that are allowed keep their names.
  CHECK(names_of({"A", "a", "a_", "a_2", "_A"}) == R"({"a_3,"a,"a_4,"a_2,"a_5})");
  CHECK(names_of({"bool", "string", "class", "MSG:", "structure_needs_at_least_one_member2"}) ==
        R"({"bool,"string,"class,"msg,"structure_needs_at_least_one_member2})");
  const transcoded_type changed(fields({"Q Dot\\n# x"}));
  CHECK(changed.transcoder->schema() == "# original name: Q Dot\\n# x\nuint8 q_dot_x\n");
}

TEST_CASE("web cdr transcoder: long names are cut, and stay unique", "[web]") {
  const std::string name(240, 'a');
  const transcoded_type type(as_struct(R"({"byte_order":"little","size":1,"fields":[{"name":")" + name +
                                       R"(","type":"uint8","offset":0},{"name":")" + name +
                                       R"(aa","type":"uint8","offset":0},{"name":")" + std::string(255, 'B') +
                                       R"(","type":{"size":1,"fields":[{"name":"x","type":{"size":1,"fields":[]},)"
                                       R"("offset":0}]},"offset":0}]})"));
  CHECK_THAT(type.json(type.check(byte_list{std::byte{7}})),
             contains("\"" + name + "\":7") && contains("\"" + name + "_2\":7"));
}

TEST_CASE("web cdr transcoder: names of types", "[web]") {
  const auto name_of = [](std::string name) {
    type_description type = one_field(R"("a","type":"uint8","offset":0)", 1);
    type.name = std::move(name);
    return transcoded_type(type).transcoder->schema_name();
  };
  CHECK(name_of("robot.arm_state") == "orc/msg/RobotArmState");
  CHECK(name_of("demo/msg/State") == "orc/msg/DemoMsgState");
  CHECK(name_of("std::vector<double>") == "orc/msg/StdVectorDouble");
  CHECK(name_of("") == "orc/msg/Type");
  CHECK(name_of("3d") == "orc/msg/Type3d");
  CHECK(name_of("IMU") == "orc/msg/IMU");
  CHECK(name_of(std::string(255, 'a')) == "orc/msg/A" + std::string(79, 'a'));
}

TEST_CASE("web cdr transcoder: nested types of one name stay apart", "[web]") {
  const transcoded_type type(
      as_struct(R"({"byte_order":"little","size":2,"fields":[)"
                R"({"name":"a_b","type":{"size":1,"fields":[{"name":"x","type":"uint8","offset":0}]},"offset":0},)"
                R"({"name":"aB","type":{"size":1,"fields":[{"name":"y","type":"int8","offset":0}]},"offset":1}]})"));
  CHECK_THAT(type.transcoder->schema(), contains("MSG: orc/RobotStateAB\n") && contains("MSG: orc/RobotStateAB2\n"));
  CHECK(type.json(type.check(bytes_of({1, 0xff}))) == R"({"a_b":{"x":1},"a_b_2":{"y":-1}})");
}

TEST_CASE("web cdr transcoder: names of values stay unique, and are in front of their field", "[web]") {
  const transcoded_type type(
      as_struct(R"({"byte_order":"little","size":9,"fields":[{"name":"a","type":"int8","offset":0,"values":)"
                R"({"b_c":-128,"bC":127,"x":128}},{"name":"a_b","type":"uint64","offset":1,)"
                R"("values":{"c":9223372036854775807,"x":-1}}]})"));
  CHECK(type.transcoder->schema() ==
        "int8 A_B_C=-128\nint8 A_B_C_2=127\nint8 a\nuint64 A_B_C_3=9223372036854775807\nuint64 a_b\n");
}

TEST_CASE("web cdr transcoder: numbers are aligned behind the header", "[web]") {
  const transcoded_type type(
      as_lcm("struct t { int8_t n; double d; int16_t s; float f[n]; double e[n]; byte b; string w; }"));
  CHECK(type.check(R"({"n":1,"d":1,"s":258,"f":[1],"e":[2],"b":7,"w":"ab"})") ==
        bytes_of({0, 1, 0, 0,                                                      //
                  1, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0,    0,    0, 0, 0xf0, 0x3f,  // n, d
                  2, 1, 0, 0, 1, 0, 0, 0, 0,   0,   0x80, 0x3f,                    // s, f
                  1, 0, 0, 0, 0, 0, 0, 0, 0,   0,   0,    0x40,                    // e
                  7, 0, 0, 0, 3, 0, 0, 0, 'a', 'b', 0}));
  // Empty sequences of wide numbers are not.
  CHECK(type.check(R"({"n":0,"d":1,"s":258,"b":7,"w":""})") ==
        bytes_of({0, 1, 0, 0,                                            //
                  0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // n, d
                  2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,                    // s, f, e
                  7, 0, 0, 0, 1, 0, 0, 0, 0}));
}

TEST_CASE("web cdr transcoder: bool is 0 or 1, and text is UTF-8", "[web]") {
  const transcoded_type type(as_struct(
      R"({"byte_order":"little","size":8,"fields":[{"name":"one","type":"bool","offset":0},)"
      R"({"name":"two","type":"bool","offset":1,"shape":[2]},{"name":"text","type":"char","offset":3,"shape":[5]}]})"));
  const auto made = type.check(bytes_of({7, 0, 255, 'a', 0xff, 0xc3, 0, 'b'}));
  CHECK(made == bytes_of({0, 1, 0, 0, 1, 0, 1, 0, 8, 0, 0, 0, 'a', 0xef, 0xbf, 0xbd, 0xef, 0xbf, 0xbd, 0}));
}

TEST_CASE("web cdr transcoder: a type without fields", "[web]") {
  const transcoded_type type(as_struct(R"({"byte_order":"little","size":0,"fields":[]})"));
  CHECK(type.transcoder->schema() == "uint8 structure_needs_at_least_one_member\n");
  CHECK(type.check(byte_list{}) == bytes_of({0, 1, 0, 0, 0}));
}

TEST_CASE("web cdr transcoder: bad samples are refused as the decoder refuses them", "[web]") {
  const transcoded_type type(as_lcm(every_lcm, "demo.all"));
  const auto good = sample_of(*type.original, R"({"words":["a","b"],"flags":[true]})");
  byte_list made;
  for (std::size_t size = 0; size < good.size(); ++size) {
    const byte_list cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    leaf_list expected;
    const result refused = type.original->walk(cut, expected);
    const result outcome = type.transcoder->transcode(cut, made);
    REQUIRE_FALSE(refused);
    CHECK(outcome.code() == errc::bad_argument);
    CHECK(outcome.error().message() == refused.error().message());
  }
  REQUIRE(type.transcoder->transcode(good, made));
}

TEST_CASE("web cdr transcoder: a few bytes do not make many", "[web]") {
  // Each element: no bytes in LCM, 64 counts in CDR.
  std::string arrays;
  for (int i = 0; i < 64; ++i) arrays += "double a" + std::to_string(i) + "[n]; ";
  const transcoded_type type(as_lcm("struct inner { int8_t n; " + arrays + "} struct t { int32_t k; inner all[k]; }"));
  byte_list sample = sample_of(*type.original, R"({"k":0})");
  sample[10] = std::byte{0x80};  // k = 32768
  sample.resize(sample.size() + 32768);
  byte_list made;
  const result outcome = type.transcoder->transcode(sample, made);
  CHECK(outcome.code() == errc::bad_argument);
  CHECK_THAT(outcome.error().message(), contains("would have more than 4456544 bytes in CDR"));
  CHECK(made.size() <= cdr_transcoder::most_bytes(sample.size()));
}

TEST_CASE("web cdr transcoder: types without a definition in ROS 2", "[web]") {
  CHECK(problem_of({"x", "jsonschema", "json", ""}) == "samples of encoding `json` are not converted to CDR");
  CHECK(problem_of({"a/msg/T", "ros2msg", "cdr", "int8 a\n"}) == "samples of encoding `cdr` are not converted to CDR");
  CHECK(problem_of(as_lcm("struct t { int8_t n; t kids[n]; }")) == "`t` contains itself, which ROS 2 does not allow");
  CHECK(problem_of(as_lcm("struct t { byte x[65536][32768]; }")) ==
        "the array `x` has more than 2,147,483,647 elements");
  std::string types;
  std::string fields;
  for (int i = 0; i < 12'000; ++i) {
    types += "struct e" + std::to_string(i) + " { int8_t a; } ";
    fields += "e" + std::to_string(i) + " a" + std::to_string(i) + "; ";
  }
  CHECK(problem_of(as_lcm(types + "struct t { " + fields + "}")) == "its definition in ROS 2 has more than 1 MiB");
}

TEST_CASE("web cdr transcoder: the limits of definitions", "[web]") {
  web::ros2msg made;
  std::string problem;
  schema deep;
  for (std::size_t i = 0; i < 65; ++i) {
    schema_field field;
    field.name = "x";
    field.kind = i == 64 ? field_kind::uint8 : field_kind::structure;
    field.structure = i + 1;
    deep.structures.emplace_back().fields.push_back(field);
  }
  CHECK_FALSE(web::write_ros2msg(deep, "t", made, problem));
  CHECK(problem == "its structures are nested more than 64 levels deep");
  deep.structures[63].fields[0].kind = field_kind::uint8;
  CHECK(web::write_ros2msg(deep, "t", made, problem));

  schema wide;
  schema_field& field = wide.structures.emplace_back().fields.emplace_back();
  field.name = "a";
  field.kind = field_kind::int8;
  for (int i = 0; i < 65'534; ++i) field.values.push_back({std::to_string(i), 0});
  CHECK(web::write_ros2msg(wide, "t", made, problem));
  field.values.push_back({"x", 0});
  CHECK_FALSE(web::write_ros2msg(wide, "t", made, problem));
  CHECK(problem == "it has more than 65,536 types, fields and named values");
}
