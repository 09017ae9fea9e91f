// Encoding flatbuffer: the tables that flatc makes of tests/types/every.fbs.
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "every_bfbs_generated.h"
#include "every_generated.h"
#include "orc/typed/flatbuffers.h"
#include "typed_peer/extremes.h"
#include "typed_peer/peer.h"

ORC_FLATBUFFERS_SCHEMA(typed_fb::every::Every)

// Found by plain() of the vectors that contain them. A table leaves out what its sample does not have.
namespace typed_fb::every {

template <class Optional>
static void add(orc::test::json& to, const char* name, const Optional& value) {
  if (value) to[name] = orc::test::value(*value);
}

static orc::test::json plain(Mode from) { return orc::test::name_or_number(EnumNameMode(from), from); }
static orc::test::json plain(const Point& from) { return ORC_PEER_CALLS(from, x, y); }
static orc::test::json plain(const Part& from) {
  orc::test::json made{{"id", from.id()}};
  add(made, "label", from.label());
  return made;
}
static orc::test::json plain(const Part* from) { return plain(*from); }
static orc::test::json plain(const Point* from) { return plain(*from); }
static orc::test::json plain(const Other& from) { return ORC_PEER_CALLS(from, ratio); }
static orc::test::json plain(const Node& from) {
  orc::test::json made{{"value", from.value()}};
  if (from.children() == nullptr) return made;
  made["children"] = orc::test::json::array();
  for (const Node* const each : *from.children()) made["children"].push_back(plain(*each));
  return made;
}

}  // namespace typed_fb::every

namespace flatbuffers {
static orc::test::json plain(const String* from) { return from->str(); }
static orc::test::json plain(const String& from) { return from.str(); }
}  // namespace flatbuffers

namespace orc::test {

namespace {

using namespace typed_fb::every;
using builder = flatbuffers::FlatBufferBuilder;
using strings = std::vector<flatbuffers::Offset<flatbuffers::String>>;

Box box() {
  const std::array<std::int16_t, 3> ids{lowest<std::int16_t>, 0, highest<std::int16_t>};
  const std::array corners{Point(2, 3), Point(4, 0.3F)};
  const std::array modes{Mode_idle, Mode_reversed};
  return {Point(1.5, 0.1F),
          true,
          Mode_moving,
          lowest<std::int8_t>,
          highest<std::uint16_t>,
          lowest<std::int64_t>,
          flatbuffers::make_span(ids),
          flatbuffers::make_span(corners),
          flatbuffers::make_span(modes)};
}

flatbuffers::Offset<Node> tree(builder& to) {
  const std::vector inner{CreateNode(to, -4)};
  const auto with_child = CreateNodeDirect(to, 3, &inner);
  const std::vector children{CreateNode(to, 2), with_child};
  return CreateNodeDirect(to, 1, &children);
}

// Vectors and tables come before the table that has them.
struct lists {
  explicit lists(builder& to)
      : special(to.CreateVector<double>({no_number, infinity, -infinity})),
        bools(to.CreateVector<std::uint8_t>({1, 0, 1})),
        i8s(to.CreateVector<std::int8_t>({lowest<std::int8_t>, highest<std::int8_t>})),
        u8s(to.CreateVector<std::uint8_t>({0, 128, 255})),
        i16s(to.CreateVector<std::int16_t>({lowest<std::int16_t>, highest<std::int16_t>})),
        u16s(to.CreateVector<std::uint16_t>({0, highest<std::uint16_t>})),
        i32s(to.CreateVector<std::int32_t>({lowest<std::int32_t>, highest<std::int32_t>})),
        u32s(to.CreateVector<std::uint32_t>({0, highest<std::uint32_t>})),
        i64s(to.CreateVector<std::int64_t>({lowest<std::int64_t>, highest<std::int64_t>})),
        u64s(to.CreateVector<std::uint64_t>({0, highest<std::uint64_t>})),
        f32s(to.CreateVector(awkward_floats)),
        f64s(to.CreateVector(awkward_doubles)),
        modes(to.CreateVector<std::int8_t>({Mode_idle, Mode_moving, Mode_reversed, 9})),
        texts(to.CreateVector(strings{to.CreateString(""), to.CreateString("größe")})),
        points(to.CreateVectorOfStructs(std::vector{Point(5, 6), Point(-7.5, 0.7F)})),
        parts(to.CreateVector(std::vector{CreatePartDirect(to, 2, "two"), CreatePart(to, -3)})),
        no_numbers(to.CreateVector(std::vector<double>())),
        no_texts(to.CreateVector(strings())),
        no_parts(to.CreateVector(std::vector<flatbuffers::Offset<Part>>())) {}

  template <class T>
  using vector = flatbuffers::Offset<flatbuffers::Vector<T>>;
  vector<double> special;
  vector<std::uint8_t> bools;
  vector<std::int8_t> i8s;
  vector<std::uint8_t> u8s;
  vector<std::int16_t> i16s;
  vector<std::uint16_t> u16s;
  vector<std::int32_t> i32s;
  vector<std::uint32_t> u32s;
  vector<std::int64_t> i64s;
  vector<std::uint64_t> u64s;
  vector<float> f32s;
  vector<double> f64s;
  vector<std::int8_t> modes;
  vector<flatbuffers::Offset<flatbuffers::String>> texts;
  vector<const Point*> points;
  vector<flatbuffers::Offset<Part>> parts;
  vector<double> no_numbers;
  vector<flatbuffers::Offset<flatbuffers::String>> no_texts;
  vector<flatbuffers::Offset<Part>> no_parts;
};

void add_scalars(EveryBuilder& to) {
  to.add_yes(true);
  to.add_no(false);
  to.add_i8_low(lowest<std::int8_t>);
  to.add_i8_high(highest<std::int8_t>);
  to.add_u8_high(highest<std::uint8_t>);
  to.add_i16_low(lowest<std::int16_t>);
  to.add_i16_high(highest<std::int16_t>);
  to.add_u16_high(highest<std::uint16_t>);
  to.add_i32_low(lowest<std::int32_t>);
  to.add_i32_high(highest<std::int32_t>);
  to.add_u32_high(highest<std::uint32_t>);
  to.add_i64_low(lowest<std::int64_t>);
  to.add_i64_high(highest<std::int64_t>);
  to.add_u64_high(highest<std::uint64_t>);
  to.add_f32_tenth(0.1F);
  to.add_f32_zero(-0.0F);
  to.add_f32_tiny(1e-45F);
  to.add_f32_largest(highest<float>);
  to.add_f64_tenth(0.1);
  to.add_f64_zero(-0.0);
  to.add_f64_tiny(5e-324);
  to.add_f64_largest(highest<double>);
  to.add_mode(Mode_reversed);
  to.add_wide(Wide_most);
  to.add_flags(static_cast<Flags>(Flags_left | Flags_right));
  to.add_unnamed_mode(static_cast<Mode>(77));
  to.add_zero_maybe(0);
  to.add_some_maybe(0.1F);
}

void add_lists(EveryBuilder& to, const lists& from) {
  to.add_f64_special(from.special);
  to.add_bools(from.bools);
  to.add_i8s(from.i8s);
  to.add_u8s(from.u8s);
  to.add_i16s(from.i16s);
  to.add_u16s(from.u16s);
  to.add_i32s(from.i32s);
  to.add_u32s(from.u32s);
  to.add_i64s(from.i64s);
  to.add_u64s(from.u64s);
  to.add_f32s(from.f32s);
  to.add_f64s(from.f64s);
  to.add_modes(from.modes);
  to.add_texts(from.texts);
  to.add_points(from.points);
  to.add_parts(from.parts);
  to.add_no_numbers(from.no_numbers);
  to.add_no_texts(from.no_texts);
  to.add_no_parts(from.no_parts);
}

builder filled() {
  builder to;
  const lists all(to);
  const auto text = to.CreateString(awkward_text);
  const auto no_text = to.CreateString("");
  const auto part = CreatePartDirect(to, 1, "one");
  const auto payload = CreatePartDirect(to, 4, "four").Union();
  const auto other_payload = CreateOther(to, 0.1).Union();
  const auto node = tree(to);
  const Point point(0.1, -0.0F);
  const Box structure = box();
  EveryBuilder every(to);
  add_scalars(every);
  add_lists(every, all);
  every.add_text(text);
  every.add_no_text(no_text);
  every.add_point(&point);
  every.add_box(&structure);
  every.add_part(part);
  every.add_payload_type(Payload_Part);
  every.add_payload(payload);
  every.add_other_payload_type(Payload_Other);
  every.add_other_payload(other_payload);
  every.add_tree(node);
  to.Finish(every.Finish());
  return to;
}

json values(const Box& from) {
  json made = ORC_PEER_CALLS(from, low, flag, mode, i8, u16, i64);
  for (const auto each : *from.ids()) made["ids"].push_back(each);
  for (const flatbuffers::uoffset_t at : {0U, 1U}) made["corners"].push_back(value(*from.corners()->Get(at)));
  for (const auto each : *from.modes()) made["modes"].push_back(value(static_cast<Mode>(each)));
  return made;
}

void add_union(json& to, const std::string& name, Payload type, const Part* part, const Other* other) {
  to[name + "_type"] = EnumNamePayload(type);
  if (part != nullptr) to[name] = value(*part);
  if (other != nullptr) to[name] = value(*other);
}

void add_present(json& to, const Every& from) {
  add(to, "left_out_text", from.left_out_text());
  add(to, "left_out_list", from.left_out_list());
  add(to, "left_out_part", from.left_out_part());
  add(to, "left_out_point", from.left_out_point());
  add(to, "left_out_maybe", from.left_out_maybe());
  add(to, "zero_maybe", from.zero_maybe());
  add(to, "some_maybe", from.some_maybe());
  add(to, "text", from.text());
  add(to, "no_text", from.no_text());
  add(to, "point", from.point());
  add(to, "part", from.part());
  add(to, "tree", from.tree());
  add_union(to, "payload", from.payload_type(), from.payload_as_Part(), from.payload_as_Other());
  add_union(to, "other_payload", from.other_payload_type(), from.other_payload_as_Part(),
            from.other_payload_as_Other());
  add_union(to, "no_payload", from.no_payload_type(), from.no_payload_as_Part(), from.no_payload_as_Other());
}

json read(const Every& from) {
  json made =
      ORC_PEER_CALLS(from, yes, no, i8_low, i8_high, u8_high, i16_low, i16_high, u16_high, i32_low, i32_high, u32_high,
                     i64_low, i64_high, u64_high, f32_tenth, f32_zero, f32_tiny, f32_largest, f64_tenth, f64_zero,
                     f64_tiny, f64_largest, mode, unnamed_mode, left_out_int, left_out_ratio, left_out_mode);
  made["wide"] = name_or_number(EnumNameWide(from.wide()), from.wide());
  made["flags"] = name_or_number(EnumNameFlags(from.flags()), from.flags());
  made["f64_special"] = value(*from.f64_special());
  for (const auto each : *from.bools()) made["bools"].push_back(each != 0);
  for (const auto each : *from.modes()) made["modes"].push_back(value(static_cast<Mode>(each)));
  made["u8s"] = value(*from.u8s());
  made["i8s"] = value(*from.i8s());
  made["i16s"] = value(*from.i16s());
  made["u16s"] = value(*from.u16s());
  made["i32s"] = value(*from.i32s());
  made["u32s"] = value(*from.u32s());
  made["i64s"] = value(*from.i64s());
  made["u64s"] = value(*from.u64s());
  made["f32s"] = value(*from.f32s());
  made["f64s"] = value(*from.f64s());
  made["texts"] = value(*from.texts());
  made["points"] = value(*from.points());
  made["parts"] = value(*from.parts());
  made["no_numbers"] = value(*from.no_numbers());
  made["no_texts"] = value(*from.no_texts());
  made["no_parts"] = value(*from.no_parts());
  made["box"] = values(*from.box());
  add_present(made, from);
  return made;
}

}  // namespace

const encoding flatbuffer_encoding{
    "flatbuffer", [](participant& by, const std::string& topic) { return publish_value<Every>(by, topic, filled()); },
    [](participant& by, const std::string& topic, json& into) { return receive_value<Every>(by, topic, into, read); }};

}  // namespace orc::test
