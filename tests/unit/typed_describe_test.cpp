// ORC_DESCRIBE (orc/typed/describe.h) and the schema it gives (orc/typed/struct.h).
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "orc/typed.h"
#include "support/catch.h"

namespace typed_test {

struct plain {
  double q[7];
  float tau;
};
ORC_DESCRIBE(plain, q, tau)

struct padded {
  std::uint8_t first;
  double second;
  std::uint16_t third;
};
ORC_DESCRIBE(padded, third, first, second)

enum class mode : std::uint8_t { idle, moving = 5 };
ORC_DESCRIBE_ENUM(mode, idle, moving)
enum class level : std::int16_t { low = -3, high = 300 };
ORC_DESCRIBE_ENUM(level, low, high)
enum class unnamed : std::uint32_t { a };
enum old_style : int { old_first, old_second };
ORC_DESCRIBE_ENUM(old_style, old_first, old_second)
enum class letter : char { a = 'a' };

namespace deep::inner {
struct vector3 {
  double x, y, z;
};
ORC_DESCRIBE(vector3, (x, "m"), (y, "m"), (z, "m", "up"))
}  // namespace deep::inner

struct pose {
  deep::inner::vector3 position;
  std::array<deep::inner::vector3, 2> axes;
  deep::inner::vector3 grid[2][3];
};
ORC_DESCRIBE(pose, position, axes, grid)

struct every_kind {
  bool flag;
  char letter_;
  signed char i8;
  std::uint8_t u8;
  std::int16_t i16;
  std::uint16_t u16;
  std::int32_t i32;
  std::uint32_t u32;
  std::int64_t i64;
  std::uint64_t u64;
  float f32;
  double f64;
  long along;
  long long longer;
  std::byte raw;
  char name[32];
  mode now;
  level levels[2];
  unnamed other;
  old_style old_;
  letter sign;
  std::array<std::array<float, 4>, 3> matrix;
  const int fixed;
};
ORC_DESCRIBE(every_kind, flag, letter_, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, along, longer, raw, name, now,
             levels, other, old_, sign, matrix, fixed)

struct outer {
  struct nested {
    std::int32_t value;
  };
  nested one;
};
ORC_DESCRIBE(outer::nested, value)
ORC_DESCRIBE(outer, one)

template <class T>
struct point {
  T x, y;
};
using point_f = point<float>;
ORC_DESCRIBE(point_f, x, y)

struct base {
  std::int32_t id;
};
struct derived : base {};
ORC_DESCRIBE(derived, id)

struct quoted {
  float angle;
};
ORC_DESCRIBE(quoted, (angle, "°", "a \"quoted\" \\ text\n\x1f"))

struct alignas(64) wide {
  std::uint8_t first;
  alignas(32) std::uint8_t second;
};
ORC_DESCRIBE(wide, first, second)

// 64 members and more.
struct many {
  int a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9;
  int c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9;
  int e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1, f2, f3, f4, f5, f6, f7, f8, f9;
  int g0, g1, g2, g3, g4, g5, g6, g7, g8, g9;
};
ORC_DESCRIBE(many, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4,
             c5, c6, c7, c8, c9, d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, e0, e1, e2, e3, e4, e5, e6, e7, e8, e9, f0, f1,
             f2, f3, f4, f5, f6, f7, f8, f9, g0, g1, g2, g3, g4, g5, g6, g7, g8, g9)

struct pointer_inside {
  int* pointer;
  std::string text;
  long double large;
  wchar_t wide_letter;
  plain array[2];
};

}  // namespace typed_test

struct global_type {
  float x;
};
ORC_DESCRIBE(global_type, x)

namespace {

using namespace typed_test;

template <class T>
const std::string& schema() {
  return orc::type_traits<T>::describe().schema;
}

std::string field(const std::string& name, const std::string& type, std::size_t offset, const std::string& more = "") {
  return R"({"name":")" + name + R"(","type":)" + type + R"(,"offset":)" + std::to_string(offset) + more + "}";
}

}  // namespace

TEST_CASE("typed: a struct's schema is its canonical JSON") {
  CHECK(schema<plain>() ==
        R"({"byte_order":"little","size":64,"fields":[{"name":"q","type":"float64","offset":0,"shape":[7]},)"
        R"({"name":"tau","type":"float32","offset":56}]})");
}

TEST_CASE("typed: fields have their real offsets, in order, and padding is not listed") {
  CHECK(schema<padded>() ==
        R"({"byte_order":"little","size":24,"fields":[{"name":"first","type":"uint8","offset":0},)"
        R"({"name":"second","type":"float64","offset":8},{"name":"third","type":"uint16","offset":16}]})");
  CHECK(schema<wide>() == R"({"byte_order":"little","size":64,"fields":[{"name":"first","type":"uint8","offset":0},)"
                          R"({"name":"second","type":"uint8","offset":32}]})");
}

TEST_CASE("typed: nested structs, in arrays too, are objects with their units and comments") {
  const std::string vector = R"({"size":24,"fields":[{"name":"x","type":"float64","offset":0,"unit":"m"},)"
                             R"({"name":"y","type":"float64","offset":8,"unit":"m"},)"
                             R"({"name":"z","type":"float64","offset":16,"unit":"m","comment":"up"}]})";
  CHECK(schema<pose>() == R"({"byte_order":"little","size":216,"fields":[)" + field("position", vector, 0) + "," +
                              field("axes", vector, 24, R"(,"shape":[2])") + "," +
                              field("grid", vector, 72, R"(,"shape":[2,3])") + "]}");
}

TEST_CASE("typed: every kind of member has its name, and enumerations their values") {
  const std::string& text = schema<every_kind>();
  const auto has = [&](const std::string& name, const std::string& type, std::size_t offset,
                       const std::string& more = "") {
    const std::string wanted = field(name, '"' + type + '"', offset, more);
    INFO(wanted << " in " << text);
    CHECK(text.find(wanted) != std::string::npos);
  };
  has("flag", "bool", offsetof(every_kind, flag));
  has("letter_", "char", offsetof(every_kind, letter_));
  has("i8", "int8", offsetof(every_kind, i8));
  has("u8", "uint8", offsetof(every_kind, u8));
  has("i16", "int16", offsetof(every_kind, i16));
  has("u16", "uint16", offsetof(every_kind, u16));
  has("i32", "int32", offsetof(every_kind, i32));
  has("u32", "uint32", offsetof(every_kind, u32));
  has("i64", "int64", offsetof(every_kind, i64));
  has("u64", "uint64", offsetof(every_kind, u64));
  has("f32", "float32", offsetof(every_kind, f32));
  has("f64", "float64", offsetof(every_kind, f64));
  has("along", "int64", offsetof(every_kind, along));
  has("longer", "int64", offsetof(every_kind, longer));
  has("raw", "uint8", offsetof(every_kind, raw));
  has("name", "char", offsetof(every_kind, name), R"(,"shape":[32])");
  has("now", "uint8", offsetof(every_kind, now), R"(,"values":{"idle":0,"moving":5})");
  has("levels", "int16", offsetof(every_kind, levels), R"(,"shape":[2],"values":{"low":-3,"high":300})");
  has("other", "uint32", offsetof(every_kind, other));
  has("old_", "int32", offsetof(every_kind, old_), R"(,"values":{"old_first":0,"old_second":1})");
  has("sign", "int8", offsetof(every_kind, sign));
  has("matrix", "float32", offsetof(every_kind, matrix), R"(,"shape":[3,4])");
  has("fixed", "int32", offsetof(every_kind, fixed));
}

TEST_CASE("typed: names of types have their namespaces and classes") {
  CHECK(orc::type_traits<plain>::describe().name == "typed_test.plain");
  CHECK(orc::type_traits<deep::inner::vector3>::describe().name == "typed_test.deep.inner.vector3");
  CHECK(orc::type_traits<outer::nested>::describe().name == "typed_test.outer.nested");
  CHECK(orc::type_traits<global_type>::describe().name == "global_type");
  CHECK(orc::type_traits<point_f>::describe().name == "typed_test.point<float>");
  CHECK(orc::type_traits<plain>::describe().schema_encoding == "struct");
  CHECK(orc::type_traits<plain>::describe().message_encoding == "struct");
}

TEST_CASE("typed: text in a schema is escaped as JSON, and stays UTF-8") {
  CHECK(schema<quoted>() == R"({"byte_order":"little","size":4,"fields":[{"name":"angle","type":"float32","offset":0,)"
                            R"("unit":"°","comment":"a \"quoted\" \\ text\u000a\u001f"}]})");
}

TEST_CASE("typed: members of a base class are described as the struct's own") {
  CHECK(schema<derived>() == R"({"byte_order":"little","size":4,"fields":[{"name":"id","type":"int32","offset":0}]})");
}

TEST_CASE("typed: a struct with 70 members is described in one line") {
  CHECK(orc::detail::fields_of<many>.size() == 70);
  CHECK(schema<many>().find(R"({"name":"g9","type":"int32","offset":276}]})") != std::string::npos);
}

TEST_CASE("typed: a description is made once") {
  CHECK(&orc::type_traits<plain>::describe() == &orc::type_traits<plain>::describe());
}

TEST_CASE("typed: members that cannot be sent as bytes are not describable") {
  CHECK(!orc::describable<decltype(pointer_inside::pointer)>);
  CHECK(!orc::describable<decltype(pointer_inside::text)>);
  CHECK(!orc::describable<decltype(pointer_inside::large)>);
  CHECK(!orc::describable<decltype(pointer_inside::wide_letter)>);
  CHECK(!orc::describable<pointer_inside>);
  CHECK(!orc::describable<std::array<int, 0>>);
  CHECK(!orc::describable<int[1][1][1][1][1][1][1][1][1]>);
  CHECK(orc::describable<decltype(pointer_inside::array)>);
  CHECK(!orc::typed<pointer_inside>);
}
