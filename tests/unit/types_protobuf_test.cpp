// The decoder and samples of encoding protobuf, against Protobuf's own JSON.
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/json_util.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;
namespace pb = google::protobuf;

namespace {

const std::string all_kinds = R"(
syntax = "proto3";
package robot;
enum Mode { IDLE = 0; MOVING = 3; }
message Point { double x = 1; float y = 2; }
message All {
  bool flag = 1;
  int32 i32 = 2;
  sint32 s32 = 3;
  sfixed32 f32i = 4;
  uint32 u32 = 5;
  fixed32 f32u = 6;
  int64 i64 = 7;
  sint64 s64 = 8;
  sfixed64 f64i = 9;
  uint64 u64 = 10;
  fixed64 f64u = 11;
  float f = 12;
  double d = 13;
  Mode mode = 14;
  string label = 15;
  bytes raw = 16;
  Point point = 17;
  repeated double q = 18;
  repeated Mode modes = 19;
  repeated string words = 20;
  repeated Point points = 21;
  map<string, Point> named = 22;
  map<int32, string> numbered = 23;
  oneof choice { int32 number = 24; string text = 25; }
  optional int32 maybe = 26;
  All inner = 27;
  repeated int32 loose = 28 [packed = false];
}
)";

struct upstream {
  explicit upstream(const std::string& text = all_kinds, const std::string& name = "robot.All") {
    pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    pb::io::Tokenizer tokenizer(&stream, nullptr);
    pb::compiler::Parser parser;
    pb::FileDescriptorSet files;
    REQUIRE(parser.Parse(&tokenizer, files.add_file()));
    files.mutable_file(0)->set_name("all.proto");
    type = {name, "protobuf", "protobuf", files.SerializeAsString()};
    REQUIRE(pool.BuildFile(files.file(0)));
    message.reset(factory.GetPrototype(pool.FindMessageTypeByName(name))->New());
  }
  byte_list write(const std::string& json) {
    REQUIRE(pb::util::JsonStringToMessage(json, message.get()).ok());
    const std::string made = message->SerializeAsString();
    byte_list bytes(made.size());
    if (!made.empty()) std::memcpy(bytes.data(), made.data(), made.size());
    return bytes;
  }
  nlohmann::json read(const byte_list& sample) {
    REQUIRE(message->ParseFromArray(sample.data(), static_cast<int>(sample.size())));
    std::string text;
    pb::util::JsonPrintOptions options;
    options.preserve_proto_field_names = true;
    REQUIRE(pb::util::MessageToJsonString(*message, &text, options).ok());
    return nlohmann::json::parse(text);
  }

  pb::DescriptorPool pool = {};
  pb::DynamicMessageFactory factory = pb::DynamicMessageFactory(&pool);
  std::unique_ptr<pb::Message> message = {};
  type_description type = {};
};

const std::string head =
    R"({"flag":true,"i32":-1,"s32":-2147483648,"f32i":-3,"u32":4294967295,"f32u":5,"i64":-9223372036854775808,)"
    R"("s64":-4,"f64i":-5,"u64":18446744073709551615,"f64u":6,"f":0.1,"d":1e+300,"mode":"MOVING","label":"arm",)";
const std::string tail =
    R"("point":{"x":1.0,"y":2.0},"q":[1.0,2.5],"modes":["IDLE","MOVING"],"words":["a",""],"points":[{"x":3.0,)"
    R"("y":0.0}],"named":{"a":{"x":4.0,"y":5.0}},"numbered":{"-7":"seven"},"text":"t","maybe":0,"loose":[1,2]})";
const std::string ours = head + R"("raw":[0,255],)" + tail;
const std::string theirs = head + R"("raw":"AP8=",)" + tail;

}  // namespace

TEST_CASE("types protobuf: what Protobuf writes is read, and the reverse") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list sample = other.write(theirs);
  CHECK(nlohmann::json::parse(json_of(*type, sample)) == nlohmann::json::parse(ours));
  const byte_list made = sample_of(*type, ours);
  CHECK(nlohmann::json::parse(json_of(*type, made)) == nlohmann::json::parse(ours));
  CHECK(other.read(made) == other.read(sample));
  check_cuts(*type, sample);
}

TEST_CASE("types protobuf: paths lead to values") {
  const auto type = decoder_of(upstream().type);
  const byte_list sample = sample_of(*type, ours);
  CHECK(number_at(*type, sample, "point.x") == 1);
  CHECK(number_at(*type, sample, "q[1]") == 2.5);
  CHECK(number_at(*type, sample, "points[0].x") == 3);
  CHECK(number_at(*type, sample, "named.a.y") == 5);
  CHECK(json_at(*type, sample, "numbered.-7") == R"("seven")");
  CHECK(json_at(*type, sample, "modes[1]") == R"("MOVING")");
  CHECK(json_at(*type, sample, "number") == "null");
  CHECK(json_at(*type, sample, "inner.label") == "null");
  CHECK(json_at(*type, sample, "named.b.x") == "null");
  CHECK(json_at(*type, sample, "raw") == "[0,255]");
  types::field_path path;
  REQUIRE(type->path("q", path));
  types::value found;
  REQUIRE(type->find(sample, path, found));
  CHECK(std::get<types::number_array>(found.get()).at<double>(1) == 2.5);
  CHECK_THAT(why_no_path(*type, "point.z"), contains("`point` has no field `z`; its fields are `x`, `y`"));
  CHECK_THAT(why_no_path(*type, "q.x"), contains("`q` has no fields"));
}

TEST_CASE("types protobuf: JSON that does not fit is refused with its path") {
  const auto type = decoder_of(upstream().type);
  CHECK_THAT(why_no_sample(*type, R"({"points":[{"z":1}]})"), contains("`points[0]` has no field `z`"));
  CHECK_THAT(why_no_sample(*type, R"({"i32":2147483648})"), contains("`i32` is 2147483648"));
  CHECK_THAT(why_no_sample(*type, R"({"number":1,"text":"t"})"), contains("in the oneof `choice`"));
  CHECK_THAT(why_no_sample(*type, R"({"numbered":{"x":"t"}})"), contains("`numbered.x` is a key"));
  CHECK_THAT(why_no_sample(*type, R"({"mode":"FAST"})"), contains("its names are `IDLE`, `MOVING`"));
  CHECK_THAT(why_no_sample(*type, R"({"raw":"AP8="})"), contains("`raw` is a text; it must be an array"));
  const auto old = decoder_of(upstream("syntax = \"proto2\"; message T { required int32 a = 1; }", "T").type);
  CHECK_THAT(why_no_sample(*old, "{}"), contains("lacks the required field `a`"));
}

TEST_CASE("types protobuf: damaged samples and schemas are errors, never more") {
  upstream other;
  const auto type = decoder_of(other.type);
  const byte_list sample = sample_of(*type, ours);
  std::mt19937 random(1);
  std::string text;
  for (int i = 0; i < 500; ++i) {
    byte_list damaged = sample;
    for (int j = 0; j < 3; ++j) damaged[random() % damaged.size()] = static_cast<std::byte>(random());
    static_cast<void>(types::to_json(*type, damaged, {}, text));
    type_description schema = other.type;
    schema.schema[random() % schema.schema.size()] = static_cast<char>(random());
    std::unique_ptr<types::decoder> made;
    if (types::decoder::make(schema, made)) static_cast<void>(types::to_json(*made, sample, {}, text));
  }
}

TEST_CASE("types protobuf: few bytes never need much memory") {
  std::string text = "syntax = \"proto3\"; message T { repeated T t = 1;";
  for (int i = 2; i < 2000; ++i) text += " double f" + std::to_string(i) + " = " + std::to_string(i) + ";";
  const auto type = decoder_of(upstream(text + "}", "T").type);
  byte_list sample;
  for (int i = 0; i < 50000; ++i) sample.insert(sample.end(), {std::byte{10}, std::byte{0}});
  CHECK_THAT(why_not_decoded(*type, sample), contains("too much memory"));
}

TEST_CASE("types protobuf: bad texts and depths are refused with their place") {
  const auto type = decoder_of(upstream().type);
  CHECK_THAT(why_not_decoded(*type, byte_list{std::byte{0x7a}, std::byte{1}, std::byte{0xff}}),
             contains("protobuf sample, byte 2: `label`: is no UTF-8"));
  CHECK_THAT(why_not_decoded(*type, byte_list{std::byte{0x7a}, std::byte{9}}), contains("needs 9 bytes"));
  CHECK_THAT(why_no_decoder({"robot.Nil", "protobuf", "protobuf", upstream().type.schema}), contains("no message"));
}
