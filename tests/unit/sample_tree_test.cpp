// A decoded sample as lines for people: rows of numbers that stay where they are.
#include "tools/orc/sample/sample_tree.h"
#include "support/type_decoder.h"
#include "tools/orc/sample/number_rows.h"

using namespace orc;
using namespace orc::cli;
using orc::test::contains;

namespace {

// The lines of a sample with one field `q` of this kind and shape.
tree_text tree_of(std::string_view kind, const std::string& shape, std::span<const std::byte> sample,
                  const tree_style& style) {
  const auto decoder = test::decoder_of({.name = "t",
                                         .schema_encoding = "struct",
                                         .message_encoding = "struct",
                                         .schema = R"({"byte_order":"little","size":)" + std::to_string(sample.size()) +
                                                   R"(,"fields":[{"name":"q","type":")" + std::string(kind) +
                                                   R"(","offset":0,"shape":)" + shape + "}]}"});
  tree_text made;
  REQUIRE(sample_tree(*decoder, sample, style, made));
  return made;
}

std::vector<double> values(std::size_t count, double first) {
  std::vector<double> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(first * static_cast<double>(i + 1));
  return made;
}

}  // namespace

TEST_CASE("sample tree: numbers are exact, or have as many digits as asked") {
  const double third[] = {1.0 / 3, 2};
  CHECK(tree_of("float64", "[2]", std::as_bytes(std::span(third)), {}).lines == "  q: [0.3333333333333333, 2]\n");
  CHECK(tree_of("float64", "[2]", std::as_bytes(std::span(third)), {.digits = 6, .columns = 80}).lines ==
        "  q: [0.333333, 2]\n");
}

TEST_CASE("sample tree: an array that may be too long for a line has rows that no number moves") {
  const auto small = values(12, 1);
  const auto odd = values(12, -1.0 / 3e7);
  const auto drawn = [](const std::vector<double>& all) {
    return tree_of("float64", "[12]", std::as_bytes(std::span(all)), {.fold = 16, .digits = 6, .columns = 80}).lines;
  };
  CHECK(drawn(small).size() == drawn(odd).size());
  CHECK_THAT(drawn(small), contains("\n     [0]            1            2            3            4            5\n"));
  CHECK_THAT(drawn(odd), contains("\n     [0] -3.33333e-08 -6.66667e-08"));
  CHECK_THAT(drawn(small), contains("\n    [10]           11           12\n"));
}

TEST_CASE("sample tree: long arrays end early or are whole, and it says whether there are some") {
  const std::vector<std::uint8_t> bytes(1'000, 7);
  const auto drawn = [&](bool whole, std::size_t columns) {
    return tree_of("uint8", "[1000]", std::as_bytes(std::span(bytes)),
                   {.fold = 16, .whole = whole, .columns = columns});
  };
  CHECK(drawn(false, 80).has_long);
  CHECK(drawn(true, 80).has_long);
  CHECK_THAT(drawn(false, 80).lines, contains("… 984 more"));
  CHECK_THAT(drawn(true, 80).lines, contains("\n    [992]"));
  for (const std::size_t columns : {1U, 20U, 80U, 300U}) CHECK_THAT(drawn(true, columns).lines, !contains("more"));
  const auto few = values(16, 1);
  CHECK_FALSE(tree_of("float64", "[16]", std::as_bytes(std::span(few)), {.fold = 16}).has_long);
}

TEST_CASE("sample tree: a matrix has its rows below each other") {
  const auto six = values(6, 1);
  const auto drawn =
      tree_of("float64", "[2,3]", std::as_bytes(std::span(six)), {.fold = 16, .digits = 6, .columns = 80}).lines;
  CHECK_THAT(drawn, contains("\n    [0][0]            1            2            3\n"));
  CHECK_THAT(drawn, contains("\n    [1][0]            4            5            6\n"));
}

TEST_CASE("sample tree: any number fits into its cell") {
  CHECK(number_text(-1.234567e-5, 6).size() == cell_width(field_kind::float64, 6));
  CHECK(number_text(-1.0f / 3, 6) == "-0.333333");
  CHECK(number_text(-2.2250738585072014e-308, 0).size() <= cell_width(field_kind::float64, 0));
  CHECK(std::to_string(INT64_MIN).size() == cell_width(field_kind::int64, 6));
  CHECK(std::to_string(INT16_MIN).size() == cell_width(field_kind::int16, 6));
}
