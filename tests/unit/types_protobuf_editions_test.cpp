// Protobuf's extensions, and files of its editions.
#include <google/protobuf/compiler/parser.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/io/tokenizer.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/unknown_field_set.h>

#include <initializer_list>
#include <string>
#include <utility>

#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;
namespace pb = google::protobuf;

namespace {

pb::FileDescriptorProto parsed(const std::string& name, const std::string& text) {
  pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
  pb::io::Tokenizer tokenizer(&stream, nullptr);
  pb::compiler::Parser parser;
  pb::FileDescriptorProto file;
  REQUIRE(parser.Parse(&tokenizer, &file));
  file.set_name(name);
  pb::DescriptorPool pool;  // finds the types of fields, as protoc does
  const auto* const built = pool.BuildFile(file);
  REQUIRE(built != nullptr);
  file.Clear();
  built->CopyTo(&file);
  return file;
}

type_description described(const std::string& name, std::initializer_list<pb::FileDescriptorProto> files) {
  pb::FileDescriptorSet set;
  for (const auto& each : files) *set.add_file() = each;
  return {name, "protobuf", "protobuf", set.SerializeAsString()};
}

byte_list bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// Appends `features`, field `number` of these options, to what they have.
using feature_list = std::initializer_list<std::pair<int, std::uint64_t>>;
template <class Options>
void set_features(Options* options, int number, feature_list features) {
  pb::UnknownFieldSet set;
  for (const auto& [feature, value] : features) set.AddVarint(feature, value);
  std::string bytes;
  REQUIRE(set.SerializeToString(&bytes));
  options->GetReflection()->MutableUnknownFields(options)->AddLengthDelimited(number)->assign(bytes);
}

constexpr int presence = 1;
constexpr int enum_type = 2;
constexpr int repeated_encoding = 3;
constexpr int utf8_validation = 4;
constexpr int message_encoding = 5;

// The library's parser knows no editions: a file of proto2 becomes one.
pb::FileDescriptorProto edition_file() {
  auto file = parsed("edition.proto", R"(
syntax = "proto2";
package x;
enum Open { ZERO = 0; ONE = 1; }
enum Shut { A = 1; B = 2; }
message T {
  optional int32 a = 1;
  repeated int32 r = 2;
  optional string s = 3;
  optional T d = 4;
  optional Open o = 5;
  repeated Open os = 6;
  optional Shut c = 7;
  oneof which { string left = 8; Open right = 9; }
  map<string, Open> m = 10;
  optional Open od = 11 [default = ONE];
  optional bytes loose = 12;
  optional string any = 13;
  map<int32, T> ts = 14;
}
message Strict { optional int32 must = 1; optional string zero = 2; oneof one { int32 part = 3; } }
)");
  file.set_syntax("editions");
  file.GetReflection()->MutableUnknownFields(&file)->AddVarint(14, 1000);
  set_features(file.mutable_enum_type(1)->mutable_options(), 7, {{enum_type, 2}});
  auto& fields = *file.mutable_message_type(0)->mutable_field();
  set_features(fields[2].mutable_options(), 21, {{presence, 2}});
  set_features(fields[3].mutable_options(), 21, {{message_encoding, 2}});
  set_features(fields[1].mutable_options(), 21, {{repeated_encoding, 2}});
  set_features(fields[12].mutable_options(), 21, {{utf8_validation, 3}});
  auto& strict = *file.mutable_message_type(1);
  set_features(strict.mutable_options(), 12, {{presence, 2}, {message_encoding, 2}});
  set_features(strict.mutable_field(0)->mutable_options(), 21, {{presence, 3}});
  return file;
}

}  // namespace

TEST_CASE("types protobuf: extensions have their names in brackets") {
  const auto type = decoder_of(described("x.Base", {parsed("t.proto", R"(
syntax = "proto2";
package x;
enum Mode { IDLE = 0; MOVING = 3; }
message Base { optional int32 a = 1; extensions 100 to 200; optional Base inner = 2; }
message Part { optional int32 n = 1; extend Base { optional Part of_part = 101; } }
extend Base { optional int32 ext = 100; repeated Part parts = 102; repeated Mode modes = 103 [packed = true]; }
)")}));
  const byte_list sample =
      bytes_of(std::string("\x08\x05\xa0\x06\x07\xaa\x06\x02\x08\x01\xb2\x06\x02\x08\x02\xb2\x06\0"
                           "\xba\x06\x02\x00\x03\x12\x03\xa0\x06\x09",
                           28));
  const std::string json =
      R"({"a":5,"inner":{"[x.ext]":9},"[x.ext]":7,"[x.Part.of_part]":{"n":1},"[x.parts]":[{"n":2},{}],)"
      R"("[x.modes]":["IDLE","MOVING"]})";
  CHECK(json_of(*type, sample) == json);
  CHECK(json_of(*type, sample_of(*type, json)) == json);
  CHECK(json_of(*type, {}) == "{}");
  CHECK(json_at(*type, sample, "[x.ext]") == "7");
  CHECK(json_at(*type, sample, "inner.[x.ext]") == "9");
  CHECK(json_at(*type, sample, "[x.Part.of_part].n") == "1");
  CHECK(json_at(*type, sample, "[x.parts][0].n") == "2");
  CHECK_THAT(why_no_path(*type, "[x.other]"), contains("has no field `[x.other]`"));
  CHECK_THAT(why_no_path(*type, "[x.ext"), contains("a ']' is missing"));
  CHECK_THAT(why_no_sample(*type, R"({"[x.other]":1})"), contains("has no field `[x.other]`"));
  check_cuts(*type, sample);
  // Few bytes never need much memory: also a message that an extension has.
  std::string many;
  for (int i = 0; i < 2'000'000; ++i) many += std::string("\xb2\x06\0", 3);
  CHECK_THAT(why_not_decoded(*type, bytes_of(many)), contains("the sample would need too much memory"));
}

TEST_CASE("types protobuf: files of an edition mean what their features say") {
  const auto type = decoder_of(described("x.T", {edition_file()}));
  CHECK(json_of(*type, {}) == R"({"r":[],"s":"","os":[],"m":{},"ts":{}})");
  // Delimited and packed or not; an enumeration that is open has other values too.
  const byte_list sample = bytes_of(
      "\x08\x05\x12\x02\x01\x02\x10\x03\x1a\x01x\x23\x08\x07\x24\x28\x09\x32\x02\x01\x09\x38\x02\x48\x01\x52\x05\x0a"
      "\x01"
      "k\x10\x01\x6a\x01\xff");
  CHECK(json_of(*type, sample) ==
        R"({"a":5,"r":[1,2,3],"s":"x","d":{"a":7,"r":[],"s":"","os":[],"m":{},"ts":{}},"o":9,"os":["ONE",9],"c":"B",)"
        R"("right":"ONE","m":{"k":"ONE"},"any":"�","ts":{}})");
  CHECK(json_at(*type, sample, "d.a") == "7");
  CHECK(json_at(*type, sample, "d.s") == R"("")");
  CHECK(json_at(*type, sample, "m.k") == R"("ONE")");
  CHECK_THAT(why_not_decoded(*type, bytes_of("\x1a\x01\xff")), contains("`s`: is no UTF-8"));
  const std::string json = R"({"r":[1],"s":"x","d":{"o":"ONE"},"os":["ONE",7],"c":"A","left":"l","ts":{"1":{"a":1}}})";
  CHECK(sample_of(*type, json) == bytes_of("\x10\x01\x1a\x01x\x23\x28\x01\x24\x32\x02\x01\x07\x38\x01\x42\x01l"
                                           "\x72\x06\x08\x01\x12\x02\x08\x01"));
  CHECK_THAT(why_no_sample(*type, R"({"c":5})"), contains("`c` is 5, which is no value of the enumeration"));
  check_cuts(*type, sample);
}

TEST_CASE("types protobuf: messages of an edition have the features of what is around them") {
  const auto strict = decoder_of(described("x.Strict", {edition_file()}));
  CHECK(json_of(*strict, bytes_of("\x08\x01")) == R"({"must":1,"zero":""})");
  CHECK_THAT(why_no_sample(*strict, "{}"), contains("lacks the required field `must`"));
  // A file of proto3 that uses its enumeration.
  auto three = parsed("three.proto", "syntax = \"proto3\"; package y; message U { int32 o = 1; }");
  three.add_dependency("edition.proto");
  three.mutable_message_type(0)->mutable_field(0)->set_type(pb::FieldDescriptorProto::TYPE_ENUM);
  three.mutable_message_type(0)->mutable_field(0)->set_type_name(".x.Open");
  const auto user = decoder_of(described("y.U", {three, edition_file()}));
  CHECK(json_of(*user, {}) == R"({"o":"ZERO"})");
  CHECK(json_of(*user, bytes_of("\x08\x09")) == R"({"o":9})");
}
