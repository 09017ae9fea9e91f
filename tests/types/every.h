// A plain struct with every kind of field that encoding struct has.
#pragma once

#include <array>
#include <cstdint>

#include "orc/typed/describe.h"

namespace typed_struct {

enum class mode : std::uint8_t { idle, moving = 5 };
ORC_DESCRIBE_ENUM(mode, idle, moving)

enum class level : std::int16_t { low = -300, high = 300 };
ORC_DESCRIBE_ENUM(level, low, high)

struct part {
  std::int32_t id;
  char label[8];
  double at[2];
};
ORC_DESCRIBE(part, id, label, (at, "m", "in the map"))

struct box {
  part low;
  std::uint8_t kind;
  std::array<part, 2> corners;
};
ORC_DESCRIBE(box, low, kind, corners)

struct every {
  bool yes, no;
  char letter;
  std::int8_t i8_low, i8_high;
  std::uint8_t u8_high;
  std::int16_t i16_low, i16_high;
  std::uint16_t u16_high;
  std::int32_t i32_low, i32_high;
  std::uint32_t u32_high;
  std::int64_t i64_low, i64_high;
  std::uint64_t u64_high;
  float f32_tenth, f32_zero, f32_tiny, f32_largest;
  double f64_tenth, f64_zero, f64_tiny, f64_largest;
  double f64_special[3];
  enum mode mode, unnamed_mode;
  enum level level;
  char text[16], no_text[4], full_text[4];
  bool flags[3];
  std::int8_t i8s[2];
  std::uint8_t u8s[3];
  std::int16_t i16s[2];
  std::uint16_t u16s[2];
  std::int32_t i32s[2];
  std::uint32_t u32s[2];
  std::array<std::int64_t, 2> i64s;
  std::array<std::uint64_t, 2> u64s;
  float f32s[3];
  double f64s[3];
  enum level levels[2];
  std::int16_t grid[2][3];
  float cube[2][1][2];
  char words[2][4];
  part one;
  part pair[2];
  part part_grid[2][1];
  struct box box;
};
ORC_DESCRIBE(every, yes, no, letter, i8_low, i8_high, u8_high, i16_low, i16_high, u16_high, i32_low, i32_high, u32_high,
             i64_low, i64_high, u64_high, f32_tenth, f32_zero, f32_tiny, f32_largest, f64_tenth, f64_zero, f64_tiny,
             f64_largest, f64_special, mode, unnamed_mode, level, text, no_text, full_text, flags, i8s, u8s, i16s, u16s,
             i32s, u32s, i64s, u64s, f32s, f64s, levels, grid, cube, words, one, pair, part_grid, box)

}  // namespace typed_struct
