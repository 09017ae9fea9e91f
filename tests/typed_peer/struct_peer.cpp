// Encoding struct: typed_struct::every of tests/types/every.h.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "typed_peer/extremes.h"
#include "typed_peer/peer.h"
#include "types/every.h"

namespace orc::test {

namespace {

using typed_struct::every;
using typed_struct::part;

every filled() {
  every made{};
  made.yes = true;
  made.letter = 'a';
  made.i8_low = lowest<std::int8_t>, made.i8_high = highest<std::int8_t>, made.u8_high = highest<std::uint8_t>;
  made.i16_low = lowest<std::int16_t>, made.i16_high = highest<std::int16_t>, made.u16_high = highest<std::uint16_t>;
  made.i32_low = lowest<std::int32_t>, made.i32_high = highest<std::int32_t>, made.u32_high = highest<std::uint32_t>;
  made.i64_low = lowest<std::int64_t>, made.i64_high = highest<std::int64_t>, made.u64_high = highest<std::uint64_t>;
  made.f32_tenth = 0.1F, made.f32_zero = -0.0F, made.f32_tiny = 1e-45F, made.f32_largest = highest<float>;
  made.f64_tenth = 0.1, made.f64_zero = -0.0, made.f64_tiny = 5e-324, made.f64_largest = highest<double>;
  fill(made.f64_special, no_number, infinity, -infinity);
  made.mode = typed_struct::mode::moving;
  made.unnamed_mode = static_cast<enum typed_struct::mode>(77);
  made.level = typed_struct::level::low;
  std::strcpy(made.text, "höhe 12 m");
  std::memcpy(made.full_text, "full", 4);
  fill(made.flags, true, false, true);
  fill(made.i8s, lowest<std::int8_t>, highest<std::int8_t>);
  fill(made.u8s, 0, 128, 255);
  fill(made.i16s, lowest<std::int16_t>, highest<std::int16_t>);
  fill(made.u16s, 0, highest<std::uint16_t>);
  fill(made.i32s, lowest<std::int32_t>, highest<std::int32_t>);
  fill(made.u32s, 0, highest<std::uint32_t>);
  made.i64s = {lowest<std::int64_t>, highest<std::int64_t>};
  made.u64s = {0, highest<std::uint64_t>};
  std::copy(awkward_floats.begin(), awkward_floats.end(), made.f32s);
  std::copy(awkward_doubles.begin(), awkward_doubles.end(), made.f64s);
  fill(made.levels, typed_struct::level::high, 5);
  fill(made.grid[0], 1, 2, 3);
  fill(made.grid[1], 4, 5, 6);
  fill(made.cube[0][0], 0.1F, 0.2F);
  fill(made.cube[1][0], 0.3F, 0.4F);
  std::memcpy(made.words[0], "up", 2);
  std::memcpy(made.words[1], "down", 4);
  made.one = {1, "one", {0.1, -0.0}};
  made.pair[0] = {2, "two", {1, 2}}, made.pair[1] = {-3, "", {3.5, 4.5}};
  made.part_grid[0][0] = {4, "four", {5, 6}}, made.part_grid[1][0] = {5, "füüü", {7, 8}};
  made.box = {{6, "low", {9, 10}}, 255, {part{7, "a", {11, 12}}, part{8, "b", {13, 14}}}};
  return made;
}

template <std::size_t Size>
std::string text(const char (&from)[Size]) {
  return {from, ::strnlen(from, Size)};
}

json mode(enum typed_struct::mode value) {
  return name_or_number(value == typed_struct::mode::idle     ? "idle"
                        : value == typed_struct::mode::moving ? "moving"
                                                              : "",
                        value);
}
json level(enum typed_struct::level value) {
  return name_or_number(value == typed_struct::level::low    ? "low"
                        : value == typed_struct::level::high ? "high"
                                                             : "",
                        value);
}
json values(const part& from) {
  json made = ORC_PEER_MEMBERS(from, id, at);
  made["label"] = text(from.label);
  return made;
}

json read(const every& from) {
  json made = ORC_PEER_MEMBERS(from, yes, no, letter, i8_low, i8_high, u8_high, i16_low, i16_high, u16_high, i32_low,
                               i32_high, u32_high, i64_low, i64_high, u64_high, f32_tenth, f32_zero, f32_tiny,
                               f32_largest, f64_tenth, f64_zero, f64_tiny, f64_largest, f64_special, flags, i8s, u8s,
                               i16s, u16s, i32s, u32s, i64s, u64s, f32s, f64s, grid, cube);
  made["mode"] = mode(from.mode);
  made["unnamed_mode"] = mode(from.unnamed_mode);
  made["level"] = level(from.level);
  made["levels"] = {level(from.levels[0]), level(from.levels[1])};
  made["text"] = text(from.text);
  made["no_text"] = text(from.no_text);
  made["full_text"] = text(from.full_text);
  made["words"] = {text(from.words[0]), text(from.words[1])};
  made["one"] = values(from.one);
  made["pair"] = {values(from.pair[0]), values(from.pair[1])};
  made["part_grid"] = {json::array({values(from.part_grid[0][0])}), json::array({values(from.part_grid[1][0])})};
  made["box"] = {{"low", values(from.box.low)},
                 {"kind", from.box.kind},
                 {"corners", {values(from.box.corners[0]), values(from.box.corners[1])}}};
  return made;
}

}  // namespace

const encoding struct_encoding{
    "struct", [](participant& by, const std::string& topic) { return publish_value<every>(by, topic, filled()); },
    [](participant& by, const std::string& topic, json& values) {
      return receive_value<every>(by, topic, values, read);
    }};

}  // namespace orc::test
