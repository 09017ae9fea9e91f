// Schemas of encoding lcm. tests/interop/lcm_fingerprint_test.cpp compares fingerprints with lcm-gen's.
#include <string>

#include "orc/schema.h"
#include "support/catch.h"

using namespace orc;
using orc::test::contains;

namespace {

type_description described(std::string schema, std::string name = "demo.node") {
  return {std::move(name), "lcm", "lcm", std::move(schema)};
}

// The fingerprint of these types is lcm-gen's (1.5.3).
const std::string demo = R"(package demo;
/* A leaf.
 * Of the tree. */
struct leaf { double x; }
struct node { // of the tree
  // how many
  int32_t n;
  leaf l, m[2]; // two kinds
  node kids[n];
  other.link o;
  string names[n][0x3];
  byte b[4];
  const int32_t A = 1, B = 0x10;
}
package other;
struct link { demo.node back; boolean k; }
)";

std::string why_bad(const std::string& text, const std::string& name = "") {
  const auto outcome = check_schema(described(text, name));
  CHECK(outcome.code() == errc::bad_argument);
  return outcome.error().message();
}

std::string why_bad_member(const std::string& member) { return why_bad("struct s {\n" + member + "\n}\n"); }

}  // namespace

TEST_CASE("lcm schema: all of the language is read, the named type first") {
  schema found;
  const auto outcome = parse_schema(described(demo), found);
  INFO(outcome.error().message());
  REQUIRE(outcome);
  REQUIRE(found.structures.size() == 3);
  CHECK(found.structures[0].name == "demo.node");
  CHECK(found.structures[1].name == "demo.leaf");
  CHECK(found.structures[2].name == "other.link");
  CHECK(found.structures[1].comment == "A leaf.\nOf the tree.");
  CHECK(found.structures[0].comment == "of the tree");
  const auto& fields = found.structures[0].fields;
  REQUIRE(fields.size() == 7);
  CHECK(fields[0].kind == field_kind::int32);
  CHECK(fields[0].comment == "how many");
  CHECK(fields[1].structure == 1);
  CHECK(fields[1].comment == "two kinds");
  CHECK(fields[2].comment == "two kinds");
  CHECK(fields[2].dimensions == std::vector<dimension>{{2, false, ""}});
  CHECK(fields[3].structure == 0);
  CHECK(fields[3].dimensions == std::vector<dimension>{{0, true, "n"}});
  CHECK(fields[4].structure == 2);
  CHECK(fields[5].kind == field_kind::string);
  CHECK(fields[5].dimensions == std::vector<dimension>{{0, true, "n"}, {3, false, ""}});
  CHECK(fields[6].kind == field_kind::uint8);
  CHECK(found.structures[2].fields[0].structure == 0);
  REQUIRE(found.structures[0].constants.size() == 2);
  CHECK(found.structures[0].constants[1].name == "B");
  CHECK(found.structures[0].constants[1].value == "0x10");
}

TEST_CASE("lcm schema: the fingerprint is lcm-gen's") {
  CHECK(lcm_fingerprint(described(demo)) == 0xf0c860a6c82d04bb);
  CHECK(lcm_fingerprint(described(demo, "demo.leaf")) == 0x0cc927bc1eb8cfe0);
  CHECK(lcm_fingerprint(described(demo, "other.link")) == 0xf6637a8c1cc9beb6);
}

TEST_CASE("lcm schema: where only the fingerprint is known, it is the schema") {
  const auto known = described("fingerprint 0x0123456789abcdef\n");
  CHECK(lcm_fingerprint(known) == 0x0123456789abcdef);
  CHECK(check_schema(known));
  schema found;
  CHECK(parse_schema(known, found).error().message() == "schema of demo.node: it has no fields, only a fingerprint");
  CHECK(type_text(known) == "demo.node (lcm, fingerprint 0x0123456789abcdef)\n  the fields are not known\n");
  CHECK_FALSE(lcm_fingerprint(described("fingerprint 0x0123456789abcdef0")));
  CHECK_FALSE(lcm_fingerprint(described("fingerprint 0x")));
  CHECK_FALSE(lcm_fingerprint({"demo.node", "struct", "struct", "fingerprint 0x1"}));
}

TEST_CASE("lcm schema: a bad one is refused with its line") {
  CHECK_THAT(why_bad("// nothing"), contains("line 1: no struct is defined"));
  CHECK(why_bad("struct a { int8_t x; }", "demo.b") == "schema of demo.b: struct demo.b is not defined");
  CHECK_THAT(why_bad("struct a { b x; }"), contains("line 1: struct b is not defined"));
  CHECK_THAT(why_bad("\npackage p;\nstruct a { b x; }\nstruct b { q.c y; }"), contains("line 4: struct q.c is not"));
  CHECK_THAT(why_bad("struct a {}\nstruct a {}"), contains("line 2: struct a is defined twice"));
  CHECK_THAT(why_bad("enum e { A, B }"), contains("enum is not part of LCM's type language any more"));
  CHECK_THAT(why_bad("struct string {}"), contains("`string` is a primitive type"));
  CHECK_THAT(why_bad("struct a { int8_t x; "), contains("the type of a member is expected, not the end of the text"));
  CHECK_THAT(why_bad("struct a { /* int8_t x; }"), contains("not a comment that does not end"));
  CHECK_THAT(why_bad("int8_t x;"), contains("line 1: `struct` or `package` is expected, not `int8_t`"));
  CHECK_THAT(why_bad("\x1b[2J"), contains("not `\\x1b`"));
  CHECK_THAT(why_bad_member("int8_t x"), contains("line 3: `;` is expected, not `}`"));
  CHECK_THAT(why_bad_member("int8_t 1x;"), contains("line 2: a name is expected, not `1x`"));
  CHECK_THAT(why_bad_member("int8_t x, x;"), contains("the name `x` appears twice"));
  CHECK_THAT(why_bad_member("double n; int8_t x[n];"), contains("`n` is no integer member before this array"));
  CHECK_THAT(why_bad_member("int8_t x[n]; int32_t n;"), contains("`n` is no integer member before this array"));
  CHECK_THAT(why_bad_member("const double n = 3; int8_t x[n];"), contains("`n` is no integer member before"));
  CHECK_THAT(why_bad_member("int8_t x[n]; const int32_t n = 3;"), contains("`n` is no integer member before"));
  CHECK_THAT(why_bad_member("int32_t n[2]; int8_t x[n];"), contains("`n` is no integer member before this array"));
  CHECK_THAT(why_bad_member("int8_t x[0];"), contains("the size of an array is a number from 1"));
  CHECK_THAT(why_bad_member("const int32_t n = 0; int8_t x[n];"), contains("the size of an array is a number from 1"));
  CHECK_THAT(why_bad_member("const int64_t n = 0x80000000; int8_t x[n];"),
             contains("the size of an array is a number"));
  CHECK_THAT(why_bad("struct a { const int8_t n = 3; } struct b { int8_t x[n]; }"),
             contains("`n` is no integer member"));
  CHECK_THAT(why_bad_member("int8_t x[];"), contains("the size of an array is expected, not `]`"));
  CHECK_THAT(why_bad_member("const int8_t A = 128;"), contains("`128` is no int8_t constant"));
  CHECK_THAT(why_bad_member("const float A = 1e39;"), contains("`1e39` is no float constant"));
  CHECK_THAT(why_bad_member("const string A = 1;"), contains("`1` is no string constant"));
}

TEST_CASE("lcm schema: a comment on many names is bounded") {
  std::string names = "a";
  for (int i = 0; i < 20; ++i) names += ", a" + std::to_string(i);
  const auto said = [&](std::size_t bytes) {
    return "struct s {\n//" + std::string(bytes, 'x') + "\nint8_t " + names + ";\n}\n";
  };
  CHECK(check_schema(described(said(40'000), "s")));
  CHECK_THAT(why_bad(said(60'000)), contains("line 3: the comments of its members have more than 1 MiB"));
}

TEST_CASE("lcm schema: numbers are those of C") {
  schema found;
  REQUIRE(parse_schema(described("struct a { int8_t x[010], y[0x10]; const int64_t A = -9223372036854775808, B = 0;"
                                 "const double C = -1.5e-3, D = 1E+10; const int16_t E = -0x8000; }",
                                 "a"),
                       found));
  CHECK(found.structures[0].fields[0].dimensions[0].size == 8);
  CHECK(found.structures[0].fields[1].dimensions[0].size == 16);
  CHECK_THAT(why_bad_member("const int64_t A = 9223372036854775808;"), contains("is no int64_t constant"));
  CHECK_THAT(why_bad_member("const int16_t A = -0x8001;"), contains("is no int16_t constant"));
  CHECK_THAT(why_bad_member("const int8_t A = 09;"), contains("`09` is no int8_t constant"));
}

TEST_CASE("lcm schema: a constant is the size of an array, and counts as it was written") {
  const auto fingerprint = [](const std::string& members) {
    return lcm_fingerprint(described("struct a { " + members + " }", "a"));
  };
  // From lcm-gen 1.5.3. That of Debian 12 does not know constants as sizes.
  CHECK(fingerprint("const int32_t N = 3; double x[N];") == 0x43e147301de66ab4);
  CHECK(fingerprint("const int32_t N = 0x3; double x[N];") == 0xb8cfe21999508a28);
  CHECK(fingerprint("double x[0x3];") == 0xb8cfe21999508a28);
  CHECK(fingerprint("const int8_t N = 3; double x[N]; float y /* c */ [ N ];") == 0x64aa11aeee950593);

  schema found;
  REQUIRE(parse_schema(described("struct a { const int64_t N = 0x10; int8_t n; int8_t x[N][n]; }", "a"), found));
  const auto& dimensions = found.structures[0].fields[1].dimensions;
  REQUIRE(dimensions.size() == 2);
  CHECK(dimensions[0] == dimension{.size = 16});
  CHECK(dimensions[1] == dimension{.variable = true, .length = "n"});
}

TEST_CASE("lcm schema: graphs of types that grow exponentially are bounded") {
  // Each type has the next one twice; the last one has none.
  std::string twice;
  for (int i = 0; i < 60; ++i) {
    const auto next = "t" + std::to_string(i + 1);
    twice += "struct t" + std::to_string(i) + " { " + next + " a; " + next + " b; }\n";
  }
  CHECK(lcm_fingerprint(described(twice + "struct t60 { int8_t x; }", "t0")));
  // The same, and the last one closes the circle.
  CHECK(lcm_fingerprint(described(twice + "struct t60 { t0 x; }", "t0")));
  // Each type has all others: more paths than can be followed.
  std::string all;
  for (int i = 0; i < 30; ++i) {
    all += "struct t" + std::to_string(i) + " {";
    for (int j = 0; j < 30; ++j) all += " t" + std::to_string(j) + " f" + std::to_string(j) + ";";
    all += " }\n";
  }
  CHECK(why_bad(all, "t0") == "schema of t0: the types contain each other in too many ways");
  std::string deep;
  for (int i = 0; i < 64; ++i) deep += "struct t" + std::to_string(i) + " { t" + std::to_string(i + 1) + " a; }\n";
  CHECK(why_bad(deep + "struct t64 {}", "t0") == "schema of t0: types are nested more than 64 levels deep");
  CHECK(check_schema(described(deep + "struct t64 {}", "t1")));
  // A type that is found by a shorter way first counts at its real depth.
  CHECK(why_bad("struct r { t40 s; t0 l; }" + deep + "struct t64 {}", "r") ==
        "schema of r: types are nested more than 64 levels deep");
}

TEST_CASE("lcm schema: the text lists each type") {
  CHECK(type_text(described(demo)) ==
        "demo.node (lcm, fingerprint 0xf0c860a6c82d04bb)  # of the tree\n"
        "  const int32_t A = 1\n"
        "  const int32_t B = 0x10\n"
        "  int32 n  # how many\n"
        "  demo.leaf l  # two kinds\n"
        "  demo.leaf[2] m  # two kinds\n"
        "  demo.node[n] kids\n"
        "  other.link o\n"
        "  string[n][3] names\n"
        "  uint8[4] b\n"
        "\n"
        "demo.leaf  # A leaf. Of the tree.\n"
        "  float64 x\n"
        "\n"
        "other.link\n"
        "  demo.node back\n"
        "  bool k\n");
}
