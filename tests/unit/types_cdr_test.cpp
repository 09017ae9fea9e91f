// The decoder and samples of encoding cdr, with schemas of encoding ros2msg.
#include <initializer_list>
#include <string>

#include "support/type_decoder.h"

using namespace orc;
using namespace orc::test;
using orc::test::contains;

namespace {

const std::string separator = std::string(80, '=') + "\n";

type_description described(std::string schema) { return {"demo/msg/All", "ros2msg", "cdr", std::move(schema)}; }

type_description all_kinds() {
  return described(
      "bool flag\nbyte raw\nint8 i8\nuint8 u8\nint16 i16\nuint16 u16\nint32 i32\nuint32 u32\nint64 i64\nuint64 u64\n"
      "float32 f32\nfloat64 f64\nstring label\nwstring wide\nPoint one\nfloat64[3] fixed\nuint8 after\nfloat64[] many\n"
      "string[] words\nPoint[] points\nint16[<=3] few\nEmpty nothing\nuint8 last\n" +
      separator + "MSG: demo/Point\nfloat64 x\nfloat32 y\n" + separator + "MSG: demo/Empty\n");
}

const std::string example =
    R"({"flag":true,"raw":7,"i8":-1,"u8":200,"i16":-2,"u16":65535,"i32":-3,"u32":4000000000,"i64":-4,)"
    R"("u64":18446744073709551615,"f32":0.25,"f64":0.1,"label":"arm","wide":"ä€😀","one":{"x":1.0,"y":2.0},)"
    R"("fixed":[1.0,2.0,3.0],"after":9,"many":[4.0,5.0],"words":["a","","bc"],"points":[{"x":1.0,"y":2.0},)"
    R"({"x":3.0,"y":4.0}],"few":[1,-2],"nothing":{},"last":255})";

byte_list bytes_of(std::initializer_list<int> from) {
  byte_list made;
  for (const int each : from) made.push_back(static_cast<std::byte>(each));
  return made;
}

}  // namespace

TEST_CASE("types cdr: every kind of field becomes JSON, and comes back") {
  const auto type = decoder_of(all_kinds());
  const byte_list sample = sample_of(*type, example);
  CHECK(json_of(*type, sample) == example);
  CHECK(number_at(*type, sample, "points[1].x") == 3);
  CHECK(number_at(*type, sample, "many[1]") == 5);
  CHECK(number_at(*type, sample, "last") == 255);
  CHECK(json_at(*type, sample, "words[2]") == R"("bc")");
  check_cuts(*type, sample);
}

TEST_CASE("types cdr: numbers are aligned behind the header, in both byte orders") {
  const auto type = decoder_of(described("uint8 a\nfloat64 b\nuint16 c\nuint32[] d\nuint8 e\n"));
  const byte_list little = bytes_of({0, 1, 0, 0,                                            //
                                     5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f,  // a, b
                                     2, 1, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0, 7});
  const byte_list big = bytes_of({0, 0, 0, 0,                                            //
                                  5, 0, 0, 0, 0, 0, 0, 0, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0,  //
                                  1, 2, 0, 0, 0, 0, 0, 1, 0,    0,    0, 9, 7});
  const std::string json = R"({"a":5,"b":1.0,"c":258,"d":[9],"e":7})";
  CHECK(json_of(*type, little) == json);
  CHECK(json_of(*type, big) == json);
  CHECK(sample_of(*type, json) == little);
}

TEST_CASE("types cdr: an empty sequence of wide numbers is not aligned") {
  const auto type = decoder_of(described("float64[] a\nuint8 b\n"));
  const byte_list sample = bytes_of({0, 1, 0, 0, 0, 0, 0, 0, 3});
  CHECK(json_of(*type, sample) == R"({"a":[],"b":3})");
  CHECK(sample_of(*type, R"({"a":[],"b":3})") == sample);
}

TEST_CASE("types cdr: an array of no elements has no bytes") {
  const auto type = decoder_of(described("uint8 a\nfloat64[0] b\nuint8 c\n"));
  CHECK(json_of(*type, bytes_of({0, 1, 0, 0, 1, 2})) == R"({"a":1,"b":[],"c":2})");
  CHECK(sample_of(*type, R"({"a":1,"c":2})") == bytes_of({0, 1, 0, 0, 1, 2}));
}

TEST_CASE("types cdr: bad samples are refused") {
  const auto type = decoder_of(described("float64[] a\n"));
  CHECK_THAT(why_not_decoded(*type, bytes_of({0, 1, 0})), contains("too short for an encapsulation header"));
  for (const int kind : {2, 3, 8, 9, 10, 11, 0x12, 0x15}) {
    CHECK_THAT(why_not_decoded(*type, bytes_of({0, kind, 0, 0})), contains("another encapsulation"));
  }
  CHECK_THAT(why_not_decoded(*type, bytes_of({1, 1, 0, 0})), contains("another encapsulation"));
  CHECK_THAT(why_not_decoded(*type, bytes_of({0, 1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})),
             contains("`a`: has 4294967295 elements of 8 bytes"));
  CHECK_THAT(why_not_decoded(*type, bytes_of({0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8})),
             contains("more bytes"));
  const auto bounded = decoder_of(described("uint8[<=2] a\n"));
  CHECK_THAT(why_not_decoded(*bounded, bytes_of({0, 1, 0, 0, 3, 0, 0, 0, 1, 2, 3})), contains("its bound 2"));
  CHECK_THAT(why_no_sample(*bounded, R"({"a":[1,2,3]})"), contains("`a` has 3 elements; its bound is 2"));
}

TEST_CASE("types cdr: XCDR2 aligns to 4 bytes, and says how long arrays of other things than numbers are") {
  const auto type = decoder_of(described("int32 a\nint64 b\nuint8 c\nfloat64[] d\n"));
  const std::string json = R"({"a":5,"b":6,"c":7,"d":[1.0]})";
  for (const int kind : {7, 0x11}) {
    CHECK(json_of(*type, bytes_of({0, kind, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0,    0,
                                   7, 0,    0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f})) == json);
  }
  for (const int kind : {6, 0x10}) {
    CHECK(json_of(*type, bytes_of({0, kind, 0, 0, 0, 0, 0, 5, 0,    0,    0, 0, 0, 0, 0, 6,
                                   7, 0,    0, 0, 0, 0, 0, 1, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0})) == json);
  }
  const auto words = decoder_of(described("string[] words\nint8 last\n"));
  const byte_list sized = bytes_of({0, 7, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 9});
  CHECK(json_of(*words, sized) == R"({"words":["a"],"last":9})");
  CHECK(json_at(*words, sized, "words[0]") == R"("a")");
  CHECK(json_at(*words, sized, "last") == "9");
  check_cuts(*words, sized);
  const byte_list unsized = bytes_of({0, 7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 9});
  CHECK_THAT(why_not_decoded(*words, unsized), contains("`words[0]`: needs 4 bytes"));
}
