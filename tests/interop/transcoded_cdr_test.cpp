// Samples of struct and LCM that we wrote as ROS 2's CDR, read by PyPI's rosbags.
#include <nlohmann/json.hpp>

#include "base/files/temporary_directory.h"
#include "interop/peers.h"
#include "support/child_process.h"
#include "support/files.h"
#include "support/type_decoder.h"
#include "tools/web/ros2/cdr_transcoder.h"

using namespace orc;
using namespace orc::test;
using nlohmann::json;

namespace {

std::optional<std::string> no_rosbags() {
  if (auto why = missing(kind::python)) return why;
  std::string why;
  if (run_command({of_venv("python3"), "-c", "import rosbags"}, why)) return std::nullopt;
  return "no rosbags for Python in " ORC_LCM_VENV ": tools/dev setup installs it, with access to PyPI";
}

// rosbags reads from the sample what our decoder of CDR reads.
void check_with_rosbags(const type_description& type, std::string_view sample, std::string_view constants = "{}") {
  const auto original = decoder_of(type);
  std::string problem;
  const auto transcoder = web::cdr_transcoder::make(*original, type.name, problem);
  INFO(problem);
  REQUIRE(transcoder);
  byte_list message;
  REQUIRE(transcoder->transcode(sample_of(*original, sample), message));
  const auto ours = decoder_of({transcoder->schema_name(), "ros2msg", "cdr", transcoder->schema()});

  const detail::temporary_directory dir;
  write_file(dir.file("definition"), transcoder->schema());
  write_file(dir.file("message"), {reinterpret_cast<const char*>(message.data()), message.size()});
  child_process reader(
      {of_venv("python3"), ORC_ROS2_PEER_PY, transcoder->schema_name(), dir.file("definition"), dir.file("message")});
  const std::string theirs = reader.read_all();
  INFO(theirs);
  REQUIRE(reader.wait_for_end() == 0);
  const json expected{{"message", json::parse(json_of(*ours, message))}, {"constants", json::parse(constants)}};
  CHECK(json::parse(theirs, nullptr, false) == expected);
}

}  // namespace

TEST_CASE("transcoded cdr: rosbags reads a struct with every kind of field", "[interop]") {
  if (const auto why = no_rosbags()) return skip(*why);
  check_with_rosbags(
      {"robot.State", "struct", "struct",
       R"({"byte_order":"big","size":192,"fields":[)"
       R"({"name":"on","type":"bool","offset":0},{"name":"i8","type":"int8","offset":1},)"
       R"({"name":"i16","type":"int16","offset":2},{"name":"i32","type":"int32","offset":4},)"
       R"({"name":"i64","type":"int64","offset":8},{"name":"u8","type":"uint8","offset":16},)"
       R"({"name":"u16","type":"uint16","offset":18},{"name":"u32","type":"uint32","offset":20},)"
       R"({"name":"u64","type":"uint64","offset":24},{"name":"f32","type":"float32","offset":32},)"
       R"({"name":"f64","type":"float64","offset":40},{"name":"letter","type":"char","offset":48},)"
       R"({"name":"Label","type":"char","offset":49,"shape":[7],"comment":"what it says\nhere"},)"
       R"({"name":"words","type":"char","offset":56,"shape":[2,2,3]},)"
       R"({"name":"flags","type":"bool","offset":68,"shape":[3]},)"
       R"({"name":"mode","type":"int16","offset":72,"values":{"idle":0,"kMoving":1,"broken":-1}},)"
       R"({"name":"class","type":"float64","offset":80,"shape":[2,3],"unit":"Nm"},)"
       R"({"name":"nothing","type":{"size":0,"fields":[]},"offset":128},)"
       R"({"name":"tip","type":{"size":24,"fields":[{"name":"c","type":"int8","offset":0},)"
       R"({"name":"x","type":"float64","offset":8,"shape":[2]}],"comment":"inner"},"offset":128},)"
       R"({"name":"grid","type":{"size":8,"fields":[{"name":"a","type":"uint8","offset":0},)"
       R"({"name":"b","type":"int32","offset":4}]},"offset":152,"shape":[2,2]}]})"},
      R"({"on":true,"i8":-8,"i16":-16,"i32":-32,"i64":-9223372036854775808,"u8":255,"u16":65535,"u32":4294967295,)"
      R"("u64":18446744073709551615,"f32":0.5,"f64":-0.1,"letter":"x","Label":"grün","words":[["a","bcd"],["","ef"]],)"
      R"("flags":[true,false,true],"mode":"broken","class":[[1,2,3],[4,5,6]],"nothing":{},)"
      R"("tip":{"c":-1,"x":[0.1,0.2]},"grid":[[{"a":1,"b":-1},{"a":2,"b":-2}],[{"a":3,"b":-3},{"a":4,"b":-4}]]})",
      R"({"MODE_IDLE":0,"MODE_K_MOVING":1,"MODE_BROKEN":-1})");
}

TEST_CASE("transcoded cdr: rosbags reads an LCM type with every kind of field", "[interop]") {
  if (const auto why = no_rosbags()) return skip(*why);
  const type_description type{"demo.all", "lcm", "lcm", R"(package demo;
      struct point { double x; float y; }
      struct empty { }
      /* Everything. */
      struct all {
        const int32_t LIMIT = 0x10;
        int32_t n; int8_t m;  // counts
        boolean on; int8_t i8; int16_t i16; int64_t i64; byte u8; float f; double d; string s; double fixed[3];
        int16_t many[n]; byte raw[m][2]; string words[n]; string table[2][m]; point one; point points[n];
        point grid[m][2]; empty nothing; empty voids[n]; boolean flags[m]; double Tail[n]; int8_t last; })"};
  const std::string point = R"({"x":0.1,"y":0.5})";
  check_with_rosbags(
      type,
      R"({"on":true,"i8":-8,"i16":-16,"i64":-64,"u8":200,"f":0.25,"d":1e300,"s":"ä","fixed":[1,2,3],"many":[-1,2,-3],)"
      R"("raw":[[1,2],[3,4]],"words":["","b","cc"],"table":[["a","b"],["c","d"]],"one":{"x":1,"y":2},"points":[)" +
          point + "," + point + "," + point + R"(],"grid":[[)" + point + "," + point + "],[" + point + "," + point +
          R"(]],"nothing":{},"voids":[{},{},{}],"flags":[true,false],"Tail":[1,2,3],"last":7})");
  check_with_rosbags(type, "{}");
}
