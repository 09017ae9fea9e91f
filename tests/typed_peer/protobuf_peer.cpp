// Encoding protobuf: the class that protoc makes of tests/types/every.proto.
#include <cstdint>
#include <string>
#include <utility>

#include "every.pb.h"
#include "orc/typed/protobuf.h"
#include "typed_peer/extremes.h"
#include "typed_peer/peer.h"

using typed_pb::every::Every;
using typed_pb::every::Every_Mode;
using typed_pb::every::Every_Node;
using typed_pb::every::Every_Point;
using typed_pb::every::parts::Colour;
using typed_pb::every::parts::Part;

// Found by plain() of the lists that contain them.
namespace typed_pb::every {
static orc::test::json plain(Every_Mode from) { return orc::test::name_or_number(Every_Mode_Name(from), from); }
static orc::test::json plain(const Every_Point& from) { return ORC_PEER_CALLS(from, x, y); }
static orc::test::json plain(const Every_Node& from) { return ORC_PEER_CALLS(from, value, children); }
}  // namespace typed_pb::every
namespace typed_pb::every::parts {
static orc::test::json plain(Colour from) { return orc::test::name_or_number(Colour_Name(from), from); }
static orc::test::json plain(const Part& from) { return ORC_PEER_CALLS(from, id, label); }
}  // namespace typed_pb::every::parts

namespace orc::test {

namespace {

void set(Every_Point& point, double x, float y) {
  point.set_x(x);
  point.set_y(y);
}
void set(Part& part, std::int32_t id, const char* label) {
  part.set_id(id);
  part.set_label(label);
}

template <class List, class... Values>
void add(List* to, Values... values) {
  (to->Add(std::move(values)), ...);
}

void fill_scalars(Every& made) {
  made.set_yes(true);
  made.set_i32_low(lowest<std::int32_t>);
  made.set_i32_high(highest<std::int32_t>);
  made.set_i64_low(lowest<std::int64_t>);
  made.set_i64_high(highest<std::int64_t>);
  made.set_u32_high(highest<std::uint32_t>);
  made.set_u64_high(highest<std::uint64_t>);
  made.set_s32_low(lowest<std::int32_t>);
  made.set_s32_high(highest<std::int32_t>);
  made.set_s64_low(lowest<std::int64_t>);
  made.set_s64_high(highest<std::int64_t>);
  made.set_x32_high(highest<std::uint32_t>);
  made.set_x64_high(highest<std::uint64_t>);
  made.set_sx32_low(lowest<std::int32_t>);
  made.set_sx64_low(lowest<std::int64_t>);
  made.set_f32_tenth(0.1F);
  made.set_f32_zero(-0.0F);
  made.set_f32_tiny(1e-45F);
  made.set_f32_largest(highest<float>);
  made.set_f64_tenth(0.1);
  made.set_f64_zero(-0.0);
  made.set_f64_tiny(5e-324);
  made.set_f64_largest(highest<double>);
  made.set_text(awkward_text);
  made.set_octets(std::string("\x00\x01\x80\xff", 4));
  made.set_mode(Every::moving);
  made.set_unnamed_mode(static_cast<Every_Mode>(77));
  made.set_colour(typed_pb::every::parts::far);
  made.set_far_number(-1);
}

void fill_messages(Every& made) {
  set(*made.mutable_point(), 0.1, -0.0F);
  set(*made.mutable_part(), 1, "one");
  made.set_zero_maybe(0);
  made.set_text_maybe("");
  made.set_mode_maybe(Every::moving);
  set(*made.mutable_piece(), 4, "four");
  made.set_other_phrase("");
  made.mutable_tree()->set_value(1);
  made.mutable_tree()->add_children()->set_value(2);
  Every_Node& last = *made.mutable_tree()->add_children();
  last.set_value(3);
  last.add_children()->set_value(-4);
  set((*made.mutable_by_name())[""], 1, 0);
  set((*made.mutable_by_name())["größe"], 0.1, 0.3F);
  (*made.mutable_by_number())[lowest<std::int32_t>] = "low";
  (*made.mutable_by_number())[7] = "";
  (*made.mutable_by_flag())[false] = -0.0;
  (*made.mutable_by_flag())[true] = 0.1;
  (*made.mutable_by_large())[highest<std::uint64_t>] = Every::moving;
}

void fill_lists(Every& made) {
  add(made.mutable_f64_special(), no_number, infinity, -infinity);
  add(made.mutable_bools(), true, false, true);
  add(made.mutable_i32s(), lowest<std::int32_t>, 0, highest<std::int32_t>);
  add(made.mutable_i64s(), lowest<std::int64_t>, highest<std::int64_t>);
  add(made.mutable_u32s(), 0U, highest<std::uint32_t>);
  add(made.mutable_u64s(), std::uint64_t{0}, highest<std::uint64_t>);
  add(made.mutable_s32s(), lowest<std::int32_t>, highest<std::int32_t>);
  add(made.mutable_s64s(), lowest<std::int64_t>, highest<std::int64_t>);
  add(made.mutable_x32s(), 0U, highest<std::uint32_t>);
  add(made.mutable_x64s(), std::uint64_t{0}, highest<std::uint64_t>);
  add(made.mutable_sx32s(), lowest<std::int32_t>, highest<std::int32_t>);
  add(made.mutable_sx64s(), lowest<std::int64_t>, highest<std::int64_t>);
  made.mutable_f32s()->Assign(awkward_floats.begin(), awkward_floats.end());
  made.mutable_f64s()->Assign(awkward_doubles.begin(), awkward_doubles.end());
  add(made.mutable_texts(), std::string(), std::string("größe"));
  add(made.mutable_octet_list(), std::string(), std::string("\xff\x00", 2));
  add(made.mutable_modes(), Every::idle, Every::moving, 9);
  add(made.mutable_colours(), typed_pb::every::parts::negative, typed_pb::every::parts::red,
      typed_pb::every::parts::far);
  set(*made.add_points(), 5, 6);
  set(*made.add_points(), -7.5, 0.7F);
  set(*made.add_parts(), 2, "two");
  set(*made.add_parts(), -3, "");
}

Every filled() {
  Every made;
  fill_scalars(made);
  fill_messages(made);
  fill_lists(made);
  return made;
}

json octets(const std::string& from) {
  json made = json::array();
  for (const char each : from) made.push_back(static_cast<std::uint8_t>(each));
  return made;
}

json key_text(const std::string& key) { return key; }
json key_text(bool key) { return key ? "true" : "false"; }
template <std::integral T>
json key_text(T key) {
  return std::to_string(key);
}

template <class Map, class Read>
json object(const Map& from, Read read) {
  json made = json::object();
  for (const auto& [key, each] : from) made[key_text(key).template get<std::string>()] = read(each);
  return made;
}

json enumerations(const Every& from) {
  json made{{"mode", value(from.mode())}, {"unnamed_mode", value(from.unnamed_mode())}};
  made["colour"] = value(from.colour());
  for (const int each : from.modes()) made["modes"].push_back(value(static_cast<Every_Mode>(each)));
  for (const int each : from.colours()) made["colours"].push_back(value(static_cast<Colour>(each)));
  return made;
}

json with_presence(const Every& from) {
  json made = json::object();
  if (from.has_point()) made["point"] = value(from.point());
  if (from.has_part()) made["part"] = value(from.part());
  if (from.has_no_part()) made["no_part"] = value(from.no_part());
  if (from.has_left_out()) made["left_out"] = from.left_out();
  if (from.has_zero_maybe()) made["zero_maybe"] = from.zero_maybe();
  if (from.has_text_maybe()) made["text_maybe"] = from.text_maybe();
  if (from.has_mode_maybe()) made["mode_maybe"] = value(from.mode_maybe());
  if (from.has_tree()) made["tree"] = value(from.tree());
  if (from.has_whole()) made["whole"] = from.whole();
  if (from.has_phrase()) made["phrase"] = from.phrase();
  if (from.has_piece()) made["piece"] = value(from.piece());
  if (from.has_other_whole()) made["other_whole"] = from.other_whole();
  if (from.has_other_phrase()) made["other_phrase"] = from.other_phrase();
  if (from.has_no_whole()) made["no_whole"] = from.no_whole();
  return made;
}

json read(const Every& from) {
  json made = ORC_PEER_CALLS(from, yes, no, i32_low, i32_high, i64_low, i64_high, u32_high, u64_high, s32_low, s32_high,
                             s64_low, s64_high, x32_high, x64_high, sx32_low, sx64_low, f32_tenth, f32_zero, f32_tiny,
                             f32_largest, f64_tenth, f64_zero, f64_tiny, f64_largest, f64_special, text, no_text, bools,
                             i32s, i64s, u32s, u64s, s32s, s64s, x32s, x64s, sx32s, sx64s, f32s, f64s, texts, points,
                             parts, no_numbers, no_texts, far_number);
  made["octets"] = octets(from.octets());
  made["no_octets"] = octets(from.no_octets());
  for (const auto& each : from.octet_list()) made["octet_list"].push_back(octets(each));
  made["by_name"] = object(from.by_name(), value<Every_Point>);
  made["by_number"] = object(from.by_number(), value<std::string>);
  made["by_flag"] = object(from.by_flag(), value<double>);
  made["by_large"] = object(from.by_large(), [](int each) { return value(static_cast<Every_Mode>(each)); });
  made["by_none"] = object(from.by_none(), value<std::int32_t>);
  made.update(enumerations(from));
  made.update(with_presence(from));
  return made;
}

}  // namespace

const encoding protobuf_encoding{
    "protobuf", [](participant& by, const std::string& topic) { return publish_value<Every>(by, topic, filled()); },
    [](participant& by, const std::string& topic, json& values) {
      return receive_value<Every>(by, topic, values, read);
    }};

}  // namespace orc::test
