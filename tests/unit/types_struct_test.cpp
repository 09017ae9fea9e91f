// The decoder and samples of encoding struct.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "support/alloc_counter.h"
#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;

namespace {

struct joint {
  std::int16_t id;
  char name[6];
};

struct all_kinds {
  bool flag;
  std::int8_t i8;
  std::uint8_t u8;
  std::int16_t i16;
  std::uint16_t u16;
  std::int32_t i32;
  std::uint32_t u32;
  std::int64_t i64;
  std::uint64_t u64;
  float f32;
  double f64;
  char label[8];
  float matrix[2][3];
  joint joints[2];
  char words[2][4];
  std::uint8_t mode;
};

std::string at(std::size_t offset) { return R"(,"offset":)" + std::to_string(offset); }

type_description all_kinds_type() {
  const std::string joint_type = R"({"size":8,"fields":[{"name":"id","type":"int16","offset":0},)"
                                 R"({"name":"name","type":"char","offset":2,"shape":[6]}]})";
  std::string schema = R"({"byte_order":"little","size":)" + std::to_string(sizeof(all_kinds)) + R"(,"fields":[)";
  schema += R"({"name":"flag","type":"bool")" + at(offsetof(all_kinds, flag));
  schema += R"(},{"name":"i8","type":"int8")" + at(offsetof(all_kinds, i8));
  schema += R"(},{"name":"u8","type":"uint8")" + at(offsetof(all_kinds, u8));
  schema += R"(},{"name":"i16","type":"int16")" + at(offsetof(all_kinds, i16));
  schema += R"(},{"name":"u16","type":"uint16")" + at(offsetof(all_kinds, u16));
  schema += R"(},{"name":"i32","type":"int32")" + at(offsetof(all_kinds, i32));
  schema += R"(},{"name":"u32","type":"uint32")" + at(offsetof(all_kinds, u32));
  schema += R"(},{"name":"i64","type":"int64")" + at(offsetof(all_kinds, i64));
  schema += R"(},{"name":"u64","type":"uint64")" + at(offsetof(all_kinds, u64));
  schema += R"(},{"name":"f32","type":"float32")" + at(offsetof(all_kinds, f32)) + R"(,"unit":"m")";
  schema += R"(},{"name":"f64","type":"float64")" + at(offsetof(all_kinds, f64));
  schema += R"(},{"name":"label","type":"char")" + at(offsetof(all_kinds, label)) + R"(,"shape":[8])";
  schema +=
      R"(},{"name":"matrix","type":"float32")" + at(offsetof(all_kinds, matrix)) + R"(,"shape":[2,3],"unit":"rad")";
  schema += R"(},{"name":"joints","type":)" + joint_type + at(offsetof(all_kinds, joints)) + R"(,"shape":[2])";
  schema += R"(},{"name":"words","type":"char")" + at(offsetof(all_kinds, words)) + R"(,"shape":[2,4])";
  schema += R"(},{"name":"mode","type":"uint8")" + at(offsetof(all_kinds, mode)) + R"(,"values":{"idle":0,"moving":1})";
  return {"robot.AllKinds", "struct", "struct", schema + "}]}"};
}

const std::string example_json =
    R"({"flag":true,"i8":-8,"u8":200,"i16":-1600,"u16":65535,"i32":-2147483648,"u32":4294967295,)"
    R"("i64":-9223372036854775808,"u64":18446744073709551615,"f32":0.1,"f64":1e+300,"label":"arm",)"
    R"("matrix":[[1.0,2.0,3.0],[4.0,5.0,6.5]],"joints":[{"id":1,"name":"base"},{"id":-2,"name":"wrist1"}],)"
    R"("words":["ab","cdef"],"mode":"moving"})";

byte_list example_sample() {
  all_kinds value;
  std::memset(&value, 0, sizeof value);  // also the padding
  value.flag = true;
  value.i8 = -8;
  value.u8 = 200;
  value.i16 = -1600;
  value.u16 = 65535;
  value.i32 = std::numeric_limits<std::int32_t>::min();
  value.u32 = std::numeric_limits<std::uint32_t>::max();
  value.i64 = std::numeric_limits<std::int64_t>::min();
  value.u64 = std::numeric_limits<std::uint64_t>::max();
  value.f32 = 0.1F;
  value.f64 = 1e300;
  std::memcpy(value.label, "arm", 3);
  const float matrix[2][3] = {{1, 2, 3}, {4, 5, 6.5F}};
  std::memcpy(value.matrix, matrix, sizeof matrix);
  value.joints[0].id = 1;
  std::memcpy(value.joints[0].name, "base", 4);
  value.joints[1].id = -2;
  std::memcpy(value.joints[1].name, "wrist1", 6);
  std::memcpy(value.words[0], "ab", 2);
  std::memcpy(value.words[1], "cdef", 4);
  value.mode = 1;
  byte_list bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

type_description with_fields(const std::string& fields, std::size_t size = 8, const std::string& order = "little") {
  return {"t", "struct", "struct",
          R"({"byte_order":")" + order + R"(","size":)" + std::to_string(size) + R"(,"fields":[)" + fields + "]}"};
}

}  // namespace

TEST_CASE("types struct: every kind of field becomes JSON, and comes back") {
  const auto type = decoder_of(all_kinds_type());
  const byte_list sample = example_sample();
  CHECK(json_of(*type, sample) == example_json);
  const byte_list made = sample_of(*type, example_json);
  CHECK(made.size() == sizeof(all_kinds));
  CHECK(made == sample);
}

TEST_CASE("types struct: paths lead to values without an allocation") {
  const auto type = decoder_of(all_kinds_type());
  const byte_list sample = example_sample();
  CHECK(number_at(*type, sample, "matrix[1][2]") == 6.5);
  CHECK(number_at(*type, sample, "joints[1].id") == -2);
  CHECK(json_at(*type, sample, "joints[1]") == R"({"id":-2,"name":"wrist1"})");
  CHECK(json_at(*type, sample, "matrix[1]") == "[4.0,5.0,6.5]");
  CHECK(json_at(*type, sample, "words[1]") == R"("cdef")");
  CHECK(json_at(*type, sample, "mode") == R"("moving")");
  CHECK(json_at(*type, sample, "") == example_json);

  types::field_path path;
  REQUIRE(type->path("matrix", path));
  CHECK(path.info().unit == "rad");
  types::value found;
  std::size_t allocations = 0;
  bool good = false;
  {
    const alloc_counter counter;
    good = static_cast<bool>(type->find(sample, path, found));
    allocations = counter.count();
  }
  REQUIRE(good);
  if (alloc_counter::counts()) CHECK(allocations == 0);
  const auto& matrix = std::get<types::number_array>(found.get());
  REQUIRE(matrix.shape().size() == 2);
  CHECK(matrix.shape()[0] == 2);
  CHECK(matrix.at<double>(5) == 6.5);
}

TEST_CASE("types struct: a path that leads nowhere is explained") {
  const auto type = decoder_of(all_kinds_type());
  CHECK_THAT(why_no_path(*type, "joints[0].nam"),
             contains("`joints[0]` has no field `nam`; its fields are `id`, `name`"));
  CHECK_THAT(why_no_path(*type, "matrix[2]"), contains("`matrix` has 2 elements, so no [2]"));
  CHECK_THAT(why_no_path(*type, "i8[0]"), contains("`i8` has no elements"));
  CHECK_THAT(why_no_path(*type, "i8.x"), contains("`i8` has no fields, so no `x`"));
  CHECK_THAT(why_no_path(*type, "joints.id"), contains("`joints` has no fields"));
  CHECK_THAT(why_no_path(*type, "a..b"), contains("at character 3 a name is expected"));
  CHECK_THAT(why_no_path(*type, "a[x]"), contains("a [number] is expected"));
  CHECK_THAT(why_no_path(*type, "[0]"), contains("no elements"));
  types::field_path path;
  REQUIRE(type->path("joints", path));
  types::value found;
  const result outcome = type->find(example_sample(), path, found);
  CHECK(outcome.code() == errc::bad_argument);
  CHECK_THAT(outcome.error().message(), contains("it has parts"));
}

TEST_CASE("types struct: the other byte order is read and written") {
  const auto type = decoder_of(with_fields(R"({"name":"a","type":"uint16","offset":0},)"
                                           R"({"name":"b","type":"int16","offset":2,"shape":[3]})",
                                           8, "big"));
  const byte_list sample{std::byte{1}, std::byte{2}, std::byte{0xff}, std::byte{0xfe},
                         std::byte{0}, std::byte{1}, std::byte{0x7f}, std::byte{0xff}};
  const std::string json = R"({"a":258,"b":[-2,1,32767]})";
  CHECK(json_of(*type, sample) == json);
  CHECK(sample_of(*type, json) == sample);
  CHECK(number_at(*type, sample, "b[2]") == 32767);
}

TEST_CASE("types struct: numbers that JSON does not have are texts") {
  const auto type = decoder_of(with_fields(R"({"name":"x","type":"float64","offset":0,"shape":[4]})", 32));
  const std::string json = R"({"x":["nan","inf","-inf",-0.0]})";
  CHECK(json_of(*type, sample_of(*type, json)) == json);
}

TEST_CASE("types struct: the largest and the smallest numbers come back from their shortest digits") {
  const auto type = decoder_of(all_kinds_type());
  const auto check = [&](const std::string& path, const std::string& digits) {
    CHECK(json_at(*type, sample_of(*type, "{\"" + path + "\":" + digits + "}"), path) == digits);
  };
  for (const std::string sign : {"", "-"}) {
    check("f32", sign + "3.4028235e+38");
    check("f32", sign + "1e-45");
    check("f32", sign + "0.0");
    check("f64", sign + "1.7976931348623157e+308");
    check("f64", sign + "5e-324");
  }
}

TEST_CASE("types struct: options fold, indent, and show units") {
  const auto type = decoder_of(with_fields(R"({"name":"x","type":"uint8","offset":0,"shape":[8],"unit":"m"})"));
  const byte_list sample = sample_of(*type, R"({"x":[1,2,3,4,5,6,7,8]})");
  CHECK(json_of(*type, sample, {.fold = 2}) == "{\"x\":[1,2,\"\u2026 6 more\"]}");
  CHECK(json_of(*type, sample, {.fold = 8}) == R"({"x":[1,2,3,4,5,6,7,8]})");
  CHECK(json_of(*type, sample, {.units = true}) == R"({"x":{"value":[1,2,3,4,5,6,7,8],"unit":"m"}})");
  CHECK(json_of(*type, sample, {.pretty = true}) == "{\n  \"x\": [1, 2, 3, 4, 5, 6, 7, 8]\n}");
  std::string text;
  const result outcome = types::to_json(*type, sample, {.max_bytes = 10}, text);
  CHECK_THAT(outcome.error().message(), contains("longer than 10 bytes"));

  const auto structures = decoder_of(
      with_fields(R"({"name":"s","type":{"size":1,"fields":[{"name":"v","type":"int8","offset":0}]},"offset":0,)"
                  R"("shape":[4]})"));
  const byte_list four = sample_of(*structures, R"({"s":[{"v":1},{"v":2},{"v":3},{"v":4}]})");
  CHECK(json_of(*structures, four, {.fold = 1}) == "{\"s\":[{\"v\":1},\"\u2026 3 more\"]}");
}

TEST_CASE("types struct: text is made safe") {
  const auto type = decoder_of(with_fields(R"({"name":"t","type":"char","offset":0,"shape":[8]})"));
  byte_list sample(8);
  std::memcpy(sample.data(), "a\"\n\xff\xc3\xa4", 6);
  CHECK(json_of(*type, sample) == "{\"t\":\"a\\\"\\u000a\xef\xbf\xbd\xc3\xa4\"}");
}

TEST_CASE("types struct: JSON that does not fit is refused with its path") {
  const auto type = decoder_of(all_kinds_type());
  CHECK_THAT(why_no_sample(*type, R"({"i8":128})"), contains("`i8` is 128; the range is -128 to 127"));
  CHECK_THAT(why_no_sample(*type, R"({"u64":18446744073709551616})"), contains("`u64`"));
  CHECK_THAT(why_no_sample(*type, R"({"u8":-1})"), contains("`u8` is -1; the range is 0 to 255"));
  CHECK_THAT(why_no_sample(*type, R"({"u8":1.5})"), contains("it must be an integer"));
  CHECK_THAT(why_no_sample(*type, R"({"f32":1e39})"), contains("`f32` is out of the range of float32"));
  CHECK_THAT(why_no_sample(*type, R"({"f32":3.4028236e+38})"), contains("`f32` is out of the range of float32"));
  CHECK_THAT(why_no_sample(*type, R"({"flag":"yes"})"), contains("`flag` is a text; it must be true or false"));
  CHECK_THAT(why_no_sample(*type, R"({"label":"123456789"})"), contains("`label` has 9 bytes; there is room for 8"));
  CHECK_THAT(why_no_sample(*type, R"({"matrix":[[1,2,3],[4,5]]})"),
             contains("`matrix[1]` has 2 elements; it must have 3"));
  CHECK_THAT(why_no_sample(*type, R"({"joints":[{},{"idd":1}]})"),
             contains("`joints[1]` has no field `idd`; its fields are `id`, `name`"));
  CHECK_THAT(why_no_sample(*type, R"({"mode":"fast"})"),
             contains(R"(`mode` is "fast"; its names are `idle`, `moving`)"));
  CHECK_THAT(why_no_sample(*type, R"([1])"), contains("is an array; it must be an object"));
  CHECK_THAT(why_no_sample(*type, R"({"i8":)"), contains("not JSON"));
  CHECK_THAT(why_no_sample(*type, std::string(100, '[') + std::string(100, ']')), contains("nested deeper than 64"));
  CHECK(json_at(*type, sample_of(*type, R"({"mode":7,"i8":null})"), "mode") == "7");
}

TEST_CASE("types struct: a sample of another size is refused") {
  const auto type = decoder_of(all_kinds_type());
  byte_list sample = example_sample();
  sample.pop_back();
  CHECK_THAT(why_not_decoded(*type, sample), contains("struct sample, byte " + std::to_string(sample.size())));
  check_cuts(*type, example_sample());
}

TEST_CASE("types struct: a type that cannot be read is refused") {
  CHECK_THAT(why_no_decoder({"t", "struct", "struct", "{"}), contains("byte 1"));
  CHECK_THAT(why_no_decoder({"t", "thrift", "thrift", ""}), contains("cannot read samples of message encoding"));
  CHECK_THAT(why_no_decoder({}), contains("no type"));
}

TEST_CASE("types struct: one sample cannot show its bytes without end") {
  std::string fields;
  for (int i = 0; i < 200; ++i) {
    fields +=
        (i ? "," : "") + (R"({"name":"f)" + std::to_string(i)) + R"(","type":"uint8","offset":0,"shape":[1048576]})";
  }
  std::unique_ptr<types::decoder> type;
  if (!types::decoder::make(with_fields(fields, 1048576), type)) return;  // fields must not overlap: just as good
  types::visitor nothing;
  CHECK_THAT(type->walk(byte_list(1048576), nothing).error().message(), contains("the same bytes in too many fields"));
}
