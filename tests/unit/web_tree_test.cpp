// Samples as trees of JSON.
#include "tools/web/page_protocol/tree_writer.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "tools/web/json_text.h"

namespace {

using nlohmann::json;
using orc::web::tree_limits;

struct shown {
  json tree;
  bool cut = false;
  bool good = false;
};

shown tree_of(const orc::type_description& type, std::string_view sample, const tree_limits& limits = {}) {
  std::unique_ptr<orc::types::decoder> decoder;
  const auto made = orc::types::decoder::make(type, decoder);
  INFO(made.error().message());
  REQUIRE(made);
  std::string text;
  shown found;
  found.good =
      static_cast<bool>(orc::web::append_tree(text, *decoder, std::as_bytes(std::span(sample)), limits, found.cut));
  INFO(text);
  found.tree = json::parse(text, nullptr, false);
  REQUIRE_FALSE(found.tree.is_discarded());
  return found;
}

const orc::type_description any_json{"t", "jsonschema", "json", "{}"};

}  // namespace

TEST_CASE("web tree: objects, arrays and values", "[web]") {
  const auto shown = tree_of(any_json, R"({"a":1,"b":[true,"x",null],"c":{"d":9007199254740993,"e":-1.5}})");
  CHECK(shown.good);
  CHECK(shown.tree == json::parse(R"({"k":"object","f":[
    ["a",{"k":"number","v":1}],
    ["b",{"k":"array","n":3,"i":[{"k":"bool","v":true},{"k":"string","v":"x"},{"k":"null"}]}],
    ["c",{"k":"object","f":[["d",{"k":"number","v":"9007199254740993"}],["e",{"k":"number","v":-1.5}]]}]]})"));
}

TEST_CASE("web tree: numbers of LCM, of each size", "[web]") {
  const orc::type_description lcm{"t", "lcm", "lcm", "struct t { double d[3]; int64_t big; byte raw[2]; }"};
  std::unique_ptr<orc::types::decoder> decoder;
  REQUIRE(orc::types::decoder::make(lcm, decoder));
  std::vector<std::byte> sample(8 + 24 + 8 + 2);
  // not its fingerprint: an error, and whole JSON all the same
  std::string text;
  bool cut = false;
  CHECK_FALSE(orc::web::append_tree(text, *decoder, sample, {}, cut));
  CHECK_FALSE(json::parse(text, nullptr, false).is_discarded());
}

TEST_CASE("web tree: long arrays and texts are folded", "[web]") {
  std::string list = "[";
  for (int i = 0; i < 1000; ++i) list += (i == 0 ? "" : ",") + std::string("{\"x\":[1,2]}");
  list += "]";
  const auto shown =
      tree_of(any_json, R"({"many":)" + list + R"(,"text":")" + std::string(10'000, 'x') + R"(","last":1})");
  const auto& fields = shown.tree["f"];
  REQUIRE(fields.size() == 3);  // in the order of their names
  CHECK(fields[0][0] == "last");
  CHECK(fields[1][1]["n"] == 1000);
  CHECK(fields[1][1]["i"].size() == 64);
  CHECK(fields[1][1]["i"][63]["f"][0][1]["n"] == 2);
  CHECK(fields[2][1]["v"].get<std::string>().size() == 4096);
  CHECK(fields[2][1]["n"] == 10'000);
}

TEST_CASE("web tree: every limit leaves whole JSON", "[web]") {
  std::string deep = R"({"a":[{"b":[1,{"c":"text"},[true,[2,3]]]},{"d":{"e":null,"f":[{"g":1},{"h":2}]}}],"z":[[]]})";
  for (std::size_t most = 0; most < 40; ++most) {
    CAPTURE(most);
    const auto by_values = tree_of(any_json, deep, {.visited = most});
    CHECK(by_values.good);
    const auto by_bytes = tree_of(any_json, deep, {.bytes = most * 10});
    CHECK(by_bytes.good);
    for (std::size_t end = 0; end < deep.size(); ++end) (void)tree_of(any_json, deep.substr(0, end), {.elements = 2});
  }
  CHECK(tree_of(any_json, deep, {.visited = 5}).cut);
  CHECK_FALSE(tree_of(any_json, deep).cut);
}

TEST_CASE("web tree: an array of too many texts is counted, not walked", "[web]") {
  std::string list = "[";
  for (int i = 0; i < 1000; ++i) list += i == 0 ? "\"\"" : ",\"\"";
  const std::string sample = R"({"a":1,"many":)" + list + R"(],"z":1})";
  const auto shown = tree_of(any_json, sample, {.visited = 500});
  CHECK(shown.cut);
  REQUIRE(shown.tree["f"].size() == 2);
  CHECK(shown.tree["f"][1][1]["n"] == 1000);
  CHECK(shown.tree["f"][1][1]["i"].empty());
  const auto whole = tree_of(any_json, sample, {.visited = 2000});
  CHECK_FALSE(whole.cut);
  CHECK(whole.tree["f"][1][1]["i"].size() == 64);
}

TEST_CASE("web tree: texts of strangers", "[web]") {
  std::string to;
  orc::web::append_quoted(to, std::string_view("<b>\"\\\n\x01\x7f\xff\xc3\xa4\0", 12));
  CHECK(to == "\"<b>\\\"\\\\\\n\\u0001\\u007f\xef\xbf\xbd\xc3\xa4\\u0000\"");
  CHECK_FALSE(json::parse(to, nullptr, false).is_discarded());
  std::string numbers;
  orc::web::append_number(numbers, std::numeric_limits<double>::infinity());
  CHECK(numbers == "null");
}
