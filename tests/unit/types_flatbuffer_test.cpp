// The decoder and samples of encoding flatbuffer, against FlatBuffers' own parser and text.
#include <flatbuffers/idl.h>
#include <flatbuffers/reflection.h>

#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "support/alloc_counter.h"
#include "support/type_check_cases.h"
#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;

namespace {

const char* const all_kinds = R"(
namespace robot;
attribute "unit";
enum Mode : byte { Idle = 0, Moving = 3 }
struct Point { x:float; y:double; }
struct Box { low:Point; ids:[int16:3]; corner:[Point:2]; mode:Mode; }
table Text { text:string; }
table Leaf { value:int; kids:[Leaf]; }
union Payload { Text, Leaf }
table All {
  flag:bool;
  i8:int8;
  u8:uint8 = 7;
  i16:int16;
  u16:uint16;
  i32:int32;
  u32:uint32;
  i64:int64;
  u64:uint64;
  f32:float;
  /// How far.
  f64:double = 1.5 (unit: "m");
  mode:Mode = Moving;
  maybe:int32 = null;
  gone:int32 (deprecated);
  label:string;
  box:Box;
  numbers:[double];
  modes:[Mode];
  flags:[bool];
  words:[string];
  points:[Point];
  leaf:Leaf;
  payload:Payload;
  payloads:[Payload];
}
root_type All;
)";

struct upstream {
  upstream() {
    flatbuffers::IDLOptions options;
    options.strict_json = true;
    options.output_default_scalars_in_json = true;
    options.indent_step = -1;
    options.binary_schema_comments = true;
    parser.opts = options;
    REQUIRE(parser.Parse(all_kinds));
    parser.Serialize();
    const auto* bytes = reinterpret_cast<const char*>(parser.builder_.GetBufferPointer());
    type = {"robot.All", "flatbuffer", "flatbuffer", std::string(bytes, parser.builder_.GetSize())};
  }
  byte_list write(const std::string& json) {
    INFO(json);
    const bool good = parser.Parse(json.c_str());
    INFO(parser.error_);
    REQUIRE(good);
    const auto* bytes = reinterpret_cast<const std::byte*>(parser.builder_.GetBufferPointer());
    return {bytes, bytes + parser.builder_.GetSize()};
  }
  std::string read(const byte_list& sample) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(sample.data());
    const auto& schema = *reflection::GetSchema(type.schema.data());
    REQUIRE(flatbuffers::Verify(schema, *schema.root_table(), bytes, sample.size()));
    std::string text;
    REQUIRE(print(parser, bytes, text));
    return text;
  }

  // As FlatBuffers calls it since 23, or before
  template <class Parser>
  static bool print(const Parser& by, const std::uint8_t* bytes, std::string& text) {
    if constexpr (requires { GenText(by, bytes, &text); }) {
      return GenText(by, bytes, &text) == nullptr;
    } else {
      return GenerateText(by, bytes, &text);
    }
  }

  flatbuffers::Parser parser = flatbuffers::Parser();
  type_description type = {};
};

const std::string example =
    R"({"flag":true,"i8":-8,"u8":7,"i16":-300,"u16":65535,"i32":-2147483648,"u32":4294967295,)"
    R"("i64":-9223372036854775808,"u64":18446744073709551615,"f32":0.5,"f64":1.5,"mode":"Moving","maybe":0,)"
    R"("label":"arm","box":{"low":{"x":1.0,"y":2.0},"ids":[1,-2,3],"corner":[{"x":3.0,"y":4.0},{"x":5.0,"y":6.0}],)"
    R"("mode":"Idle"},"numbers":[1.0,2.5],"modes":["Idle","Moving"],"flags":[true,false],"words":["a",""],)"
    R"("points":[{"x":7.0,"y":8.0}],"leaf":{"value":1,"kids":[{"value":2},{"value":3}]},"payload_type":"Text",)"
    R"("payload":{"text":"hi"}})";

}  // namespace

TEST_CASE("types flatbuffer: what FlatBuffers writes is read, and the reverse") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list theirs = other.write(example);
  CHECK(json_of(*type, theirs) == example);
  const byte_list ours = sample_of(*type, example);
  CHECK(json_of(*type, ours) == example);
  CHECK(nlohmann::json::parse(other.read(ours)) == nlohmann::json::parse(other.read(theirs)));
}

TEST_CASE("types flatbuffer: what the sample does not have is its default, or is left out") {
  upstream other;
  const auto type = decoder_of(other.type);
  const std::string defaults =
      R"({"flag":false,"i8":0,"u8":7,"i16":0,"u16":0,"i32":0,"u32":0,"i64":0,"u64":0,"f32":0.0,"f64":1.5,)"
      R"("mode":"Moving","payload_type":"NONE"})";
  CHECK(json_of(*type, other.write("{}")) == defaults);
  const byte_list ours = sample_of(*type, "{}");
  CHECK(json_of(*type, ours) == defaults);
  CHECK(json_at(*type, ours, "f64") == "1.5");
  CHECK(json_at(*type, ours, "leaf.value") == "null");
  CHECK(json_at(*type, ours, "label") == "null");
}

TEST_CASE("types flatbuffer: unions and arrays of them") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list sample = sample_of(*type, R"({"payloads_type":["Leaf","Text"],"payloads":[{"value":4},{"text":"t"}],)"
                                            R"("payload_type":"Leaf","payload":{"value":9}})");
  CHECK(json_at(*type, sample, "payloads") == R"([{"value":4},{"text":"t"}])");
  CHECK(json_at(*type, sample, "payloads[1].text") == R"("t")");
  CHECK(number_at(*type, sample, "payload.value") == 9);
  CHECK(json_at(*type, sample, "payload.text") == "null");
  CHECK_THAT(why_no_sample(*type, R"({"payload":{}})"), contains("`payload` is a union"));
}

TEST_CASE("types flatbuffer: paths lead to values without an allocation") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list sample = other.write(example);
  CHECK(number_at(*type, sample, "box.corner[1].y") == 6);
  CHECK(number_at(*type, sample, "numbers[1]") == 2.5);
  CHECK(number_at(*type, sample, "leaf.kids[1].value") == 3);
  CHECK(number_at(*type, sample, "points[0].x") == 7);
  CHECK(json_at(*type, sample, "modes") == R"(["Idle","Moving"])");
  CHECK_THAT(why_no_path(*type, "leaf.valeu"), contains("`leaf` has no field `valeu`; its fields are `value`, `kids`"));
  types::field_path path;
  REQUIRE(type->path("f64", path));
  CHECK(path.info().unit == "m");
  CHECK(path.info().comment == "How far.");
  types::value found;
  std::size_t allocations = 0;
  {
    const alloc_counter counter;
    static_cast<void>(type->find(sample, path, found));
    allocations = counter.count();
  }
  CHECK(found.number() == 1.5);
  if (alloc_counter::counts()) CHECK(allocations == 0);
}

TEST_CASE("types flatbuffer: JSON that does not fit is refused with its path") {
  upstream other;
  const auto type = decoder_of(other.type);
  CHECK_THAT(why_no_sample(*type, R"({"box":{"ids":[1,2]}})"), contains("`box.ids` has 2 elements; it must have 3"));
  CHECK_THAT(why_no_sample(*type, R"({"leaf":{"kids":[{"x":1}]}})"), contains("`leaf.kids[0]` has no field `x`"));
  CHECK_THAT(why_no_sample(*type, R"({"gone":1})"), contains("has no field `gone`"));
  CHECK_THAT(why_no_sample(*type, R"({"i8":128})"), contains("`i8` is 128"));
}

TEST_CASE("types flatbuffer: fields with offsets and lengths of 64 bits are read") {
  flatbuffers::Parser parser;
  REQUIRE(parser.Parse("struct P { x:short; } table T { a:int; far:[ubyte]; points:[P]; } root_type T;"));
  parser.Serialize();
  // This library knows no vector64.
  auto* const schema = reflection::GetSchema(parser.builder_.GetBufferPointer());
  for (const char* const name : {"far", "points"}) {
    const auto* const kind = schema->root_table()->fields()->LookupByKey(name)->type();
    auto* const table = const_cast<flatbuffers::Table*>(reinterpret_cast<const flatbuffers::Table*>(kind));
    REQUIRE(table->SetField<std::int8_t>(reflection::Type::VT_BASE_TYPE, 18));
  }
  const std::string bytes(reinterpret_cast<const char*>(parser.builder_.GetBufferPointer()), parser.builder_.GetSize());
  const type_description vectors{"T", "flatbuffer", "flatbuffer", bytes};
  CHECK(type_text(vectors) ==
        "T (flatbuffer)\n  int a\n  [ubyte] (vector64) far\n  [P] (vector64) points\n\nstruct P\n  short x\n");
  const auto type = decoder_of(vectors);
  const std::string sample(
      "\x14\0\0\0\0\0\0\0\0\0\x0a\0\x18\0\4\0\x08\0\x10\0"      // the root's place, its vtable
      "\x0a\0\0\0\5\0\0\0\x10\0\0\0\0\0\0\0\x14\0\0\0\0\0\0\0"  // the root: a, far, points
      "\3\0\0\0\0\0\0\0\1\2\3\0\2\0\0\0\0\0\0\0\7\0\x08\0",
      68);
  const auto view = std::as_bytes(std::span(sample));
  const byte_list data(view.begin(), view.end());
  CHECK(json_of(*type, data) == R"({"a":5,"far":[1,2,3],"points":[{"x":7},{"x":8}]})");
  CHECK(number_at(*type, data, "far[2]") == 3);
  CHECK(number_at(*type, data, "points[1].x") == 8);
  CHECK_THAT(why_no_sample(*type, R"({"far":[1]})"), contains("`far` has an offset of 64 bits"));
  CHECK(json_of(*type, sample_of(*type, R"({"a":5})")) == R"({"a":5})");
  check_cuts(*type, data);
  byte_list away = data;
  away[31] = std::byte{0x80};
  CHECK_THAT(why_not_decoded(*type, away), contains("`far`: is an offset that leads out of the sample"));
  away = data;
  away[51] = std::byte{0x80};
  CHECK_THAT(why_not_decoded(*type, away), contains("`far`: has 9223372036854775811 elements"));

  const auto far_text = decoder_of(published_in("flatbuffer: offset64"));
  const std::string with_text("\x0c\0\0\0\x08\0\x0c\0\0\0\4\0\x08\0\0\0\x08\0\0\0\0\0\0\0\2\0\0\0hi\0", 31);
  const auto text_view = std::as_bytes(std::span(with_text));
  CHECK(json_of(*far_text, text_view) == R"({"a":0.0,"s":"hi"})");
}

TEST_CASE("types flatbuffer: damaged samples and schemas are errors, never more") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list sample = other.write(example);
  check_cuts(*type, sample);
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 2000; ++i) {
    byte_list damaged = sample;
    for (int j = 0; j < 3; ++j) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    static_cast<void>(types::to_json(*type, damaged, {}, text));
    type_description schema = other.type;
    for (int j = 0; j < 2; ++j) schema.schema[random() % schema.schema.size()] = static_cast<char>(random());
    std::unique_ptr<types::decoder> made;
    if (types::decoder::make(schema, made)) static_cast<void>(types::to_json(*made, sample, {}, text));
  }
  CHECK_THAT(why_not_decoded(*type, byte_list(3)), contains("flatbuffer sample, byte 0"));
  CHECK_THAT(why_no_decoder({"robot.All", "flatbuffer", "flatbuffer", "xxxxxxxxxxxxxxxx"}),
             contains("`BFBS` is expected"));
  CHECK_THAT(why_no_decoder({"robot.Nil", "flatbuffer", "flatbuffer", other.type.schema}),
             contains("table `robot.Nil` is not defined"));
}
