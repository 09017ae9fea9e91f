// The decoder and samples of encoding lcm.
#include <cstdint>
#include <initializer_list>
#include <string>

#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;

namespace {

const std::string all_kinds = R"(package robot;
struct joint_t { string name; double q; }
struct all_t {
  boolean flag;
  byte raw;
  int8_t i8;
  int16_t i16;
  int32_t i32;
  int64_t i64;
  float f32;
  double f64;
  string label;
  int32_t n;
  int16_t m;
  double q[n];
  float grid[2][m];
  string words[n];
  joint_t joints[m];
  byte fixed[3];
  joint_t one;
  double behind; // metres
}
)";

type_description described(std::string schema = all_kinds, std::string name = "robot.all_t") {
  return {std::move(name), "lcm", "lcm", std::move(schema)};
}

const std::string example =
    R"({"flag":true,"raw":255,"i8":-1,"i16":-300,"i32":70000,"i64":-5000000000,"f32":0.5,"f64":0.1,"label":"arm",)"
    R"("n":2,"m":1,"q":[1.0,2.5],"grid":[[3.0],[4.0]],"words":["a",""],"joints":[{"name":"j","q":7.0}],)"
    R"("fixed":[1,2,3],"one":{"name":"","q":0.0},"behind":9.0})";

byte_list header(const type_description& type) {
  const auto fingerprint = lcm_fingerprint(type);
  REQUIRE(fingerprint);
  byte_list made;
  for (unsigned i = 0; i < 8; ++i) made.push_back(static_cast<std::byte>(*fingerprint >> (56U - 8U * i) & 0xffU));
  return made;
}

void append(byte_list& to, std::initializer_list<int> bytes) {
  for (const int each : bytes) to.push_back(static_cast<std::byte>(each));
}

}  // namespace

TEST_CASE("types lcm: bytes are as LCM writes them") {
  const type_description described_type =
      described("package p; struct t { int16_t n; float x[n]; string s; boolean b; int64_t l; }", "p.t");
  const auto type = decoder_of(described_type);
  byte_list expected = header(described_type);
  append(expected, {0, 2, 0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 3, 'h', 'i', 0, 1, 0, 0, 0, 0, 0, 0, 1, 2});
  const std::string json = R"({"n":2,"x":[1.0,-2.0],"s":"hi","b":true,"l":258})";
  CHECK(sample_of(*type, json) == expected);
  CHECK(json_of(*type, expected) == json);
}

TEST_CASE("types lcm: every kind of field becomes JSON, and comes back") {
  const auto type = decoder_of(described());
  const byte_list sample = sample_of(*type, example);
  CHECK(json_of(*type, sample) == example);
  CHECK(number_at(*type, sample, "q[1]") == 2.5);
  CHECK(number_at(*type, sample, "grid[1][0]") == 4);
  CHECK(number_at(*type, sample, "joints[0].q") == 7);
  CHECK(number_at(*type, sample, "behind") == 9);
  CHECK(json_at(*type, sample, "words[0]") == R"("a")");
  CHECK(json_at(*type, sample, "joints[0]") == R"({"name":"j","q":7.0})");
  CHECK(json_at(*type, sample, "joints") == R"([{"name":"j","q":7.0}])");
  CHECK(json_at(*type, sample, "grid[1]") == "[4.0]");
  check_cuts(*type, sample);
}

TEST_CASE("types lcm: an array whose size is a constant has no length in the sample") {
  const type_description constant = described("struct t { const int32_t N = 2; int16_t x[N]; }", "t");
  const auto type = decoder_of(constant);
  byte_list expected = header(constant);
  append(expected, {0, 1, 0, 2});
  CHECK(sample_of(*type, R"({"x":[1,2]})") == expected);
  CHECK(json_of(*type, expected) == R"({"x":[1,2]})");
  CHECK_THAT(why_no_sample(*type, R"({"x":[1,2,3]})"), contains("`x` has 3 elements; it must have 2"));
}

TEST_CASE("types lcm: lengths follow from the arrays") {
  const auto type = decoder_of(described());
  CHECK(json_at(*type, sample_of(*type, R"({"q":[1,2],"words":["a","b"]})"), "n") == "2");
  CHECK(json_at(*type, sample_of(*type, R"({"n":3})"), "q") == "[0.0,0.0,0.0]");
  CHECK(json_at(*type, sample_of(*type, "{}"), "q") == "[]");
  CHECK_THAT(why_no_sample(*type, R"({"q":[1,2],"words":["a"]})"), contains("`words` has 1 elements; `n` is 2"));
  CHECK_THAT(why_no_sample(*type, R"({"n":1,"q":[1,2]})"), contains("`q` has 2 elements; `n` is 1"));
  CHECK_THAT(why_no_sample(*type, R"({"n":-1})"), contains("`n` is -1"));
  CHECK_THAT(why_no_sample(*type, R"({"m":40000})"), contains("`m`"));
  CHECK_THAT(why_no_sample(*type, R"({"grid":[[1],[1,2]]})"), contains("`grid[1]` has 2 elements; it must have 1"));
  CHECK_THAT(why_no_sample(*type, "{\"label\":\"a\\u0000b\"}"), contains("zero byte"));
}

TEST_CASE("types lcm: a message of another type is refused") {
  const auto type = decoder_of(described());
  byte_list sample = sample_of(*type, example);
  sample[0] ^= std::byte{1};
  CHECK_THAT(why_not_decoded(*type, sample), contains("has the fingerprint 0x"));
  CHECK_THAT(why_not_decoded(*type, byte_list(4)), contains("too short for a fingerprint"));
}

TEST_CASE("types lcm: bad lengths are refused") {
  const type_description numbers = described("struct t { int32_t n; double x[n]; }", "t");
  const auto type = decoder_of(numbers);
  byte_list sample = header(numbers);
  append(sample, {0xff, 0xff, 0xff, 0xff});
  CHECK_THAT(why_not_decoded(*type, sample), contains("`x`: has the negative length -1"));
  sample = header(numbers);
  append(sample, {0x7f, 0xff, 0xff, 0xff, 0, 0});
  CHECK_THAT(why_not_decoded(*type, sample),
             contains("lcm sample, byte 12: `x`: has 2147483647 elements of 8 bytes, the sample has 2 more bytes"));
  sample = header(numbers);
  append(sample, {0, 0, 0, 0, 7});
  CHECK_THAT(why_not_decoded(*type, sample), contains("1 more bytes"));

  const type_description text = described("struct t { string s; }", "t");
  sample = header(text);
  append(sample, {0, 0, 0, 1, 'x'});
  CHECK_THAT(why_not_decoded(*decoder_of(text), sample), contains("`s`: is a text that does not end with a zero byte"));
}

TEST_CASE("types lcm: few bytes never become many values") {
  const type_description empty = described("struct e { } struct t { int32_t n; e x[n][n]; }", "t");
  const auto type = decoder_of(empty);
  byte_list sample = header(empty);
  append(sample, {0x7f, 0xff, 0xff, 0xff});
  CHECK_THAT(why_not_decoded(*type, sample), contains("more values than are shown"));
  const type_description zero = described("struct t { int32_t n; int32_t z; double x[n][z]; }", "t");
  sample = header(zero);
  append(sample, {0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0});
  CHECK_THAT(why_not_decoded(*decoder_of(zero), sample), contains("more values than are shown"));
  CHECK_THAT(why_no_sample(*type, R"({"n":2147483647})"), contains("more values than are made"));
}

TEST_CASE("types lcm: a tree is read to the allowed depth") {
  const type_description tree = described("struct t { int32_t n; t kids[n]; }", "t");
  const auto type = decoder_of(tree);
  byte_list sample = header(tree);
  append(sample, {0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(json_of(*type, sample) == R"({"n":2,"kids":[{"n":1,"kids":[{"n":0,"kids":[]}]},{"n":0,"kids":[]}]})");
  CHECK(json_at(*type, sample, "kids[1].n") == "0");
  CHECK(sample_of(*type, json_of(*type, sample)) == sample);
  sample = header(tree);
  for (int i = 0; i < 100; ++i) append(sample, {0, 0, 0, 1});
  CHECK_THAT(why_not_decoded(*type, sample), contains("nested deeper than 64"));
}

// The length alone makes the zeros of an array.
TEST_CASE("types lcm: a short JSON makes no sample beyond the caller's limit") {
  const auto type = decoder_of(described("package p; struct t { int32_t n; double x[n]; }", "p.t"));
  byte_list sample;
  const result done = types::from_json(*type, R"({"n":1000})", sample, 8012);
  INFO(done.error().message());
  CHECK(done);
  CHECK(sample.size() == 8012);
  const result refused = types::from_json(*type, R"({"n":1001})", sample, 8012);
  CHECK(refused.code() == errc::bad_argument);
  CHECK_THAT(refused.error().message(), contains("makes the sample larger than 8012 bytes"));
  CHECK_THAT(types::from_json(*type, R"({"n":33000000})", sample, std::size_t{4} << 20).error().message(),
             contains("4 MiB"));
  CHECK(sample.size() == 8012);
}
