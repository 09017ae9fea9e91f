// Values of parameters: which are allowed, and how they stand in JSON, schemas and TOML.
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "orc/parameters.h"
#include "parameters/parameter_json.h"
#include "support/budget.h"
#include "support/catch.h"
#include "tools/parameter_files/parameter_files.h"

using namespace orc::test;
using orc::check_value;
using orc::errc;
using orc::parameter_description;
using orc::parameter_value;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

using numbers = std::vector<double>;

[[nodiscard]] parameter_value whole(std::int64_t value) { return value; }
[[nodiscard]] parameter_value text(std::string value) { return value; }

template <class T>
[[nodiscard]] parameter_description described(const T& initial, const orc::parameter_options<T>& options = {}) {
  return orc::detail::description_of<T>("pid/gain", initial, options);
}

[[nodiscard]] bool allows(const parameter_description& parameter, const parameter_value& value) {
  return static_cast<bool>(check_value(parameter, value));
}

[[nodiscard]] orc::type_description type_with(std::string schema) {
  return {std::string(orc::parameter_type_name), "jsonschema", "json", std::move(schema)};
}

[[nodiscard]] std::string parsed_back(const std::string& toml) {
  std::map<std::string, std::optional<parameter_value>> found;
  if (const auto read = orc::cli::from_toml(toml, found); !read) return "error: " + read.error().message();
  std::string all;
  for (const auto& [name, value] : found)
    all += (all.empty() ? "" : ", ") + name + "=" + (value ? orc::to_json(*value) : "?");
  return all;
}

}  // namespace

TEST_CASE("parameters: a value is checked against its description", "[unit]") {
  const auto gain = described<double>(1, {.min = 0, .max = 10, .unit = "N"});
  CHECK(allows(gain, 0.0));
  CHECK(allows(gain, 10.0));
  for (const parameter_value& each :
       {parameter_value(-0.1), parameter_value(10.1), parameter_value(std::nan("")), parameter_value(infinity),
        parameter_value(-infinity), whole(1), text("1"), parameter_value(true), parameter_value(numbers{1})}) {
    INFO(orc::to_json(each));
    CHECK(check_value(gain, each).code() == errc::bad_argument);
  }
  CHECK(check_value(gain, 12.0).error().message() == "pid/gain is a number from 0.0 to 10.0 N, not 12.0");
  CHECK_THAT(check_value(gain, std::nan("")).error().message(), contains("not nan"));
  CHECK(allows(described<double>(1), std::numeric_limits<double>::max()));
  CHECK_FALSE(allows(described<double>(1), infinity));

  const auto small = described<std::int8_t>(1);
  CHECK(allows(small, whole(-128)));
  CHECK(check_value(small, whole(128)).error().message() == "pid/gain is a whole number from -128 to 127, not 128");
  CHECK_FALSE(allows(described<unsigned>(1), whole(-1)));
  CHECK(allows(described<std::int64_t>(1), whole(std::numeric_limits<std::int64_t>::min())));
  CHECK_FALSE(allows(described<float>(1), 1e39));

  const auto mode = described<std::string>("auto", {.choices = {"auto", "off"}});
  CHECK(allows(mode, text("off")));
  CHECK(check_value(mode, text("on")).error().message() == R"(pid/gain is one of "auto", "off", not "on")");
  const auto name = described<std::string>("", {.max_length = 3});
  CHECK(allows(name, text("äöü")));
  CHECK_FALSE(allows(name, text("abcd")));
  CHECK_FALSE(allows(name, text("\xff")));
  CHECK_FALSE(allows(described<std::string>(""), text(std::string(4097, 'x'))));

  const auto gains = described<std::array<double, 3>>({1, 2, 3}, {.min = 0, .max = 9});
  CHECK(allows(gains, numbers{0, 1, 9}));
  CHECK_FALSE(allows(gains, numbers{0, 1}));
  CHECK_FALSE(allows(gains, numbers{0, 1, 2, 3}));
  CHECK_FALSE(allows(gains, numbers{0, 1, std::nan("")}));
  CHECK(check_value(gains, numbers{0, 1, 10}).error().message() ==
        "pid/gain is a list of 3 numbers, each from 0.0 to 9.0, not [0.0,1.0,10.0]");
  const auto list = described<numbers>({}, {.max_length = 2});
  CHECK(allows(list, numbers{}));
  CHECK_FALSE(allows(list, numbers{1, 2, 3}));
}

TEST_CASE("parameters: a refusal shows a part of a long value", "[unit]") {
  const auto refused = check_value(described<bool>(true), text(std::string(4000, 'x'))).error().message();
  CHECK(refused.size() < 120);
  CHECK_THAT(refused, contains("pid/gain is true or false, not \"xxx"));
  std::string umlauts;
  for (int n = 0; n < 100; ++n) umlauts += "ä";
  CHECK(orc::to_json(text(check_value(described<bool>(true), text(umlauts)).error().message())).find("\xef\xbf\xbd") ==
        std::string::npos);
}

TEST_CASE("parameters: values go through JSON and back", "[unit]") {
  for (const parameter_value& each :
       {parameter_value(true), whole(-3), whole(std::numeric_limits<std::int64_t>::max()), parameter_value(2.0),
        parameter_value(0.1), parameter_value(1e300), parameter_value(-0.0), text("a\"b\\\n\x01\x7f ä"), text(""),
        parameter_value(numbers{}), parameter_value(numbers{1, 0.1, -1e-300})}) {
    parameter_value read;
    INFO(orc::to_json(each));
    REQUIRE(orc::from_json(orc::to_json(each), read));
    CHECK(read == each);
  }
  CHECK(orc::to_json(2.0) == "2.0");
  for (const std::string bad : {"", "nul", "null", "{}", R"({"value":1})", "NaN", "Infinity", "1e999", "[1,\"2\"]",
                                "[[1]]", "[null]", "1 2", "\"\xff\"", "'x'", "tru", "0x10", "[1,"}) {
    parameter_value read = whole(7);
    INFO(bad);
    CHECK(orc::from_json(bad, read).code() == errc::bad_argument);
    CHECK(read == whole(7));
  }
  parameter_value read;
  CHECK_FALSE(orc::from_json(std::string(orc::max_parameter_bytes + 1, ' ') + "1", read));
  CHECK_FALSE(orc::from_json(std::string(100'000, '['), read));
  REQUIRE(orc::from_json("18446744073709551615", read));
  CHECK(std::holds_alternative<double>(read));
}

TEST_CASE("parameters: whole numbers and numbers are converted where nothing is lost", "[unit]") {
  using orc::detail::converted;
  CHECK(converted(whole(2), 0.0) == parameter_value(2.0));
  CHECK(converted(3.0, whole(0)) == whole(3));
  CHECK(converted(3.5, whole(0)) == parameter_value(3.5));
  CHECK(converted(1e300, whole(0)) == parameter_value(1e300));
  CHECK(converted(std::nan(""), whole(0)).index() == parameter_value(0.0).index());
  CHECK(converted(true, 0.0) == parameter_value(true));
  CHECK(converted(text("3"), whole(0)) == text("3"));
}

TEST_CASE("parameters: a description goes through its schema and back", "[unit]") {
  const auto check = [](const parameter_description& from) {
    orc::type_description type;
    REQUIRE(orc::detail::type_of(from, type));
    INFO(type.schema);
    CHECK(type.name == "orc.Parameter");
    parameter_description read{.name = from.name};
    REQUIRE(orc::detail::read_type(type, read));
    CHECK(read.initial == from.initial);
    CHECK(read.min == from.min);
    CHECK(read.max == from.max);
    CHECK(read.min_length == from.min_length);
    CHECK(read.max_length == from.max_length);
    CHECK(read.choices == from.choices);
    CHECK(read.description == from.description);
    CHECK(read.unit == from.unit);
    CHECK(read.read_only == from.read_only);
    CHECK(read.name == from.name);
  };
  check(described<double>(1, {.min = 0, .max = 10, .unit = "Nm/rad", .description = "of the \"inner\" loop"}));
  check(described<bool>(true, {.read_only = true}));
  check(described<int>(3, {.choices = {1, 2, 3}}));
  check(described<std::int64_t>(std::numeric_limits<std::int64_t>::min()));
  check(described<std::string>("ä", {.choices = {"ä", "b"}, .max_length = 7}));
  check(described<numbers>({1, 2}, {.min = 0, .choices = {{1, 2}, {3}}, .max_length = 5}));
  check(described<std::array<double, 2>>({1, 2}, {.max = 5}));
  check(described<float>(0.1F));
}

TEST_CASE("parameters: the schema is JSON Schema of the sample", "[unit]") {
  orc::type_description type;
  REQUIRE(orc::detail::type_of(described<double>(1, {.min = 0, .max = 10, .unit = "N"}), type));
  CHECK(type.schema_encoding == "jsonschema");
  CHECK(type.message_encoding == "json");
  CHECK(type.schema ==
        R"({"additionalProperties":false,"properties":{"value":{"default":1.0,"maximum":10.0,"minimum":0.0,)"
        R"("type":"number"}},"required":["value"],"title":"orc.Parameter","type":"object",)"
        R"("x-orc-parameter":{"unit":"N"}})");
  CHECK(orc::detail::sample_of(2.5) == R"({"value":2.5})");
  CHECK(orc::detail::type_of(described<double>(1, {.description = "\xff"}), type).code() == errc::bad_argument);
  orc::parameter_options<std::string> many;
  for (int n = 0; n < 256; ++n) many.choices.push_back(std::string(4096, 'x'));
  CHECK(orc::detail::type_of(described<std::string>("", many), type).code() == errc::bad_argument);
}

TEST_CASE("parameters: a schema of a stranger is read or left out", "[unit]") {
  orc::type_description good;
  REQUIRE(orc::detail::type_of(described<int>(3, {.min = 1, .max = 5, .choices = {1, 3}, .unit = "N"}), good));
  const auto reads = [](const std::string& schema) {
    parameter_description found{.name = "kept"};
    const bool read = orc::detail::read_type(type_with(schema), found);
    if (!read) CHECK(found.unit.empty());
    CHECK(found.name == "kept");
    return read;
  };
  CHECK(reads(good.schema));
  for (const std::string bad : {
           "",
           "{",
           "[]",
           "null",
           R"({"x-orc-parameter":{}})",
           R"({"x-orc-parameter":{},"properties":[]})",
           R"({"x-orc-parameter":7,"properties":{"value":{"type":"number","default":1}}})",
           R"({"properties":{"value":{"type":"number","default":1}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number"}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":"1"}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"object","default":{}}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1,"minimum":"0"}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1,"enum":3}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"string","default":"","maxLength":"x"}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"array","default":[],"items":3}}})",
           R"({"x-orc-parameter":{"unit":3},"properties":{"value":{"type":"number","default":1}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":[],"default":{}}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1,"enum":["a"]}}})",
           R"({"x-orc-parameter":{},"properties":{"value":{"type":"number","default":1e999}}})",
       }) {
    INFO(bad);
    CHECK_FALSE(reads(bad));
  }
  CHECK_FALSE(reads(std::string(100'000, '[')));
  CHECK_FALSE(reads(good.schema + std::string(256 << 10, ' ')));
  CHECK(reads(R"({"x-orc-parameter":{},"properties":{"value":{"type":"string","default":"","maxLength":-1}}})"));
  CHECK_FALSE(
      orc::detail::read_type({"other", "jsonschema", "json", good.schema}, *std::make_unique<parameter_description>()));
  std::mt19937 random(7);
  for (std::size_t n = 0; n < rounds(20'000, 200'000); ++n) {
    std::string changed = good.schema;
    for (int times = 0; times < 3; ++times) changed[random() % changed.size()] = static_cast<char>(random());
    (void)reads(changed);
  }
}

TEST_CASE("parameters: TOML is what a person would write", "[unit]") {
  CHECK(orc::cli::to_toml({{"arm.left/v", true},
                           {"mode", text("auto \"x\"\n\x7f")},
                           {"pid", whole(3)},
                           {"pid/gain", 2.5},
                           {"pid/inner/limit", 1e300},
                           {"motor/left/gains", numbers{0.1, 2}},
                           {"motor/speed", 0.1},
                           {"/odd//name/", false}}) == R"(mode = "auto \"x\"\n\u007F"
pid = 3
"pid/gain" = 2.5
"pid/inner/limit" = 1e+300

["".odd."".name]
"" = false

["arm.left"]
v = true

[motor]
speed = 0.1

[motor.left]
gains = [0.1,2.0]
)");
  CHECK(orc::cli::to_toml({}).empty());
  CHECK(orc::cli::to_toml({{"a", text("\u009b2J \u202e\u2028 \u00e4\u2067")}}) ==
        "a = \"\\u009B2J \\u202E\\u2028 \u00e4\\u2067\"\n");
  CHECK(parsed_back("a = \"\\u009B\"\n") == "a=\"\u009b\"");
}

TEST_CASE("parameters: TOML goes and comes back", "[unit]") {
  std::map<std::string, parameter_value> values{{"", whole(1)}};
  values.clear();
  std::mt19937 random(11);
  const std::string characters = "ab./-_9";
  for (int round = 0; round < 200; ++round) {
    values.clear();
    for (int n = 0; n < 12; ++n) {
      std::string name(1 + random() % 7, 'a');
      for (char& each : name) each = characters[random() % characters.size()];
      switch (random() % 5) {
        case 0: values[name] = (random() & 1U) != 0; break;
        case 1: values[name] = whole(static_cast<std::int64_t>(random())); break;
        case 2: values[name] = static_cast<double>(random()) / 7; break;
        case 3: values[name] = text(std::string(random() % 5, static_cast<char>(random() % 128))); break;
        default: values[name] = numbers(random() % 3, static_cast<double>(random()) / 3);
      }
    }
    const std::string toml = orc::cli::to_toml(values);
    INFO(toml);
    std::map<std::string, std::optional<parameter_value>> found;
    const auto read = orc::cli::from_toml(toml, found);
    INFO(read.error().message());
    REQUIRE(read);
    REQUIRE(found.size() == values.size());
    for (const auto& [name, value] : values) CHECK(found.at(name) == value);
  }
}

TEST_CASE("parameters: TOML by hand, good and bad", "[unit]") {
  CHECK(parsed_back("[pid]\ngain = 2.5 # N\n") == "pid/gain=2.5");
  CHECK(parsed_back("pid.gain = 2\n") == "pid/gain=2");
  CHECK(parsed_back("\"pid/gain\" = 2\npid = {limit = 3}\n") == "pid/gain=2, pid/limit=3");
  CHECK(parsed_back("a = [1, 2.5]\nb = '''x\ny'''\nc = 0x10\nd = []") == R"(a=[1.0,2.5], b="x\ny", c=16, d=[])");
  CHECK(parsed_back("").empty());
  CHECK(parsed_back("a = nan\nb = [inf]\nc = 1979-05-27\nd = [[1]]\ne = [{}]\nf = [\"x\"]") ==
        "a=?, b=?, c=?, d=?, e=?, f=?");
  CHECK_THAT(parsed_back("x = 1\npid = \n"), contains("error: line 2 is no TOML"));
  CHECK(parsed_back("\"pid/gain\" = 2\n[pid]\ngain = 3\n") == "error: pid/gain stands there twice");
  CHECK_THAT(parsed_back("x = 1\nx = 2\n"), contains("error: line 2"));
  CHECK_THAT(parsed_back("\"\xff\" = 1\n"), contains("error"));
  CHECK_THAT(parsed_back(std::string(300, 'n') + " = 1\n"), contains("error: a name has more than 255 bytes"));
  CHECK_THAT(parsed_back(std::string(1'100'000, '#')), contains("error: the text has 1100000 bytes"));
  std::string list = "x = [0.5";
  for (int n = 0; n < 5000; ++n) list += ", 0.5";
  CHECK(parsed_back(list + "]") == "x=?");
}

TEST_CASE("parameters: TOML that is nested deeply is refused", "[unit]") {
  const auto repeated = [](const std::string& what, int times) {
    std::string all;
    for (int n = 0; n < times; ++n) all += what;
    return all;
  };
  const std::string key = repeated("a.", 200'000) + "a";
  for (const std::string& each :
       {key + " = 1", "[" + key + "]\nx = 1", "[[" + key + "]]", "x = {" + key + " = 1}",
        "x = {a = \"\"\"\n\"\"\"," + key + " = 1}", "x = {a = \"\"\"\"\"\"\"\"," + key + " = 1}",
        "x = '\\'\n" + key + " = 1", "x = '''\\'''\n" + key + " = 1", "x = \"\\\\\"\n" + key + " = 1",
        repeated("\"a\".", 100'000) + "a = 1"}) {
    INFO(each.substr(0, 40));
    CHECK_THAT(parsed_back(each), contains("error: a key has too many parts"));
  }
  CHECK_THAT(parsed_back("x = " + repeated("[", 100'000)), contains("error"));
  CHECK_THAT(parsed_back("x = " + repeated("{a=", 100'000)), contains("error"));
  CHECK(parsed_back("x = \"" + repeated(".", 4000) + "\" # " + repeated(".", 4000)) ==
        "x=\"" + repeated(".", 4000) + "\"");
}

TEST_CASE("parameters: names with a part that begins with a dot are ORC's own", "[unit]") {
  for (const char* const each : {".", ".a", "a/.b", "gripper/.call/0123456789abcdef", ".parameters/x", "a/..", "//.a"})
    CHECK(orc::is_reserved(each));
  for (const char* const each : {"a", "a.b", "a./b", "a/b.", "", "/a"}) CHECK_FALSE(orc::is_reserved(each));
}
