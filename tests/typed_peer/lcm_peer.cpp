// Encoding lcm: the class that lcm-gen makes of tests/types/every.lcm.
#include <algorithm>
#include <cstdint>
#include <string>

#include "every_lcm_text.h"
#include "orc/typed/lcm.h"
#include "typed_lcm/every/every_t.hpp"
#include "typed_peer/extremes.h"
#include "typed_peer/peer.h"

ORC_LCM_SCHEMA(typed_lcm::every::every_t, every_lcm_text)

// Found by plain() of the arrays that contain them.
namespace typed_lcm::every {
static orc::test::json plain(const node_t& from) { return ORC_PEER_MEMBERS(from, value, count, children); }
}  // namespace typed_lcm::every
namespace typed_lcm::every::parts {
static orc::test::json plain(const part_t& from) { return ORC_PEER_MEMBERS(from, id, label, at); }
}  // namespace typed_lcm::every::parts

namespace orc::test {

namespace {

using typed_lcm::every::every_t;
using typed_lcm::every::node_t;
using typed_lcm::every::parts::part_t;

part_t part(std::int32_t id, const char* label, double x, double y) {
  part_t made;
  made.id = id;
  made.label = label;
  fill(made.at, x, y);
  return made;
}

node_t node(std::int16_t value, const std::vector<node_t>& children) {
  node_t made;
  made.value = value;
  made.count = static_cast<std::int8_t>(children.size());
  made.children = children;
  return made;
}

void fill_scalars(every_t& made) {
  made.yes = 1, made.no = 0;
  made.octet_low = 0, made.octet_high = 255;
  made.i8_low = lowest<std::int8_t>, made.i8_high = highest<std::int8_t>;
  made.i16_low = lowest<std::int16_t>, made.i16_high = highest<std::int16_t>;
  made.i32_low = lowest<std::int32_t>, made.i32_high = highest<std::int32_t>;
  made.i64_low = lowest<std::int64_t>, made.i64_high = highest<std::int64_t>;
  made.f32_tenth = 0.1F, made.f32_zero = -0.0F, made.f32_tiny = 1e-45F, made.f32_largest = highest<float>;
  made.f64_tenth = 0.1, made.f64_zero = -0.0, made.f64_tiny = 5e-324, made.f64_largest = highest<double>;
  made.text = awkward_text;
  made.part = part(1, "one", 0.1, -0.0);
  made.tree = node(1, {node(2, {}), node(3, {node(-4, {})})});
}

void fill_arrays(every_t& made) {
  fill(made.f64_special, no_number, infinity, -infinity);
  fill(made.flags, 1, 0, 1);
  fill(made.octets, 0, 1, 128, 255);
  fill(made.i8s, lowest<std::int8_t>, highest<std::int8_t>);
  fill(made.i16s, lowest<std::int16_t>, highest<std::int16_t>);
  fill(made.i32s, lowest<std::int32_t>, highest<std::int32_t>);
  fill(made.i64s, lowest<std::int64_t>, highest<std::int64_t>);
  std::copy(awkward_floats.begin(), awkward_floats.end(), made.f32s);
  std::copy(awkward_doubles.begin(), awkward_doubles.end(), made.f64s);
  fill(made.texts, "", "größe");
  fill(made.pair, part(2, "two", 1, 2), part(-3, "", 3.5, 4.5));
  fill(made.grid[0], 1, 2, 3);
  fill(made.grid[1], 4, 5, 6);
  fill(made.cube[0][0], 0.1, 0.2);
  fill(made.cube[1][0], 0.3, 0.4);
  fill(made.words[0], "up", "down");
  fill(made.part_grid[0], part(4, "four", 5, 6));
  fill(made.part_grid[1], part(5, "fünf", 7, 8));
}

void fill_lists(every_t& made) {
  made.numbers = {0.1F, -0.0F, 1e-45F};
  made.n_numbers = 3;
  made.octet_list = {255, 0, 127, 128, 10};
  made.n_octets = 5;
  made.names = {"α", ""};
  made.n_names = 2;
  made.part_list = {part(6, "six", 9, 10)};
  made.n_parts = 1;
  made.table = {{lowest<std::int16_t>, 0, 1}, {2, 3, highest<std::int16_t>}};
  made.rows = 2, made.columns = 3;
  made.flag_rows = {{1, 0}, {0, 1}};
  made.none = 0;
}

every_t filled() {
  every_t made;
  fill_scalars(made);
  fill_arrays(made);
  fill_lists(made);
  return made;
}

// lcm-gen has no bool in C++.
template <class Bools>
json flags(const Bools& from) {
  json made = json::array();
  for (const auto each : from) made.push_back(each != 0);
  return made;
}

json values(const every_t& from) {
  json made =
      ORC_PEER_MEMBERS(from, octet_low, octet_high, i8_low, i8_high, i16_low, i16_high, i32_low, i32_high, i64_low,
                       i64_high, f32_tenth, f32_zero, f32_tiny, f32_largest, f64_tenth, f64_zero, f64_tiny, f64_largest,
                       f64_special, text, no_text, octets, i8s, i16s, i32s, i64s, f32s, f64s, texts, part, pair, grid,
                       cube, words, part_grid, n_numbers, numbers, n_octets, octet_list, n_names, names, n_parts,
                       part_list, rows, columns, table, none, no_numbers, no_names, no_parts, no_octets, tree);
  made["yes"] = from.yes != 0;
  made["no"] = from.no != 0;
  made["flags"] = flags(from.flags);
  made["flag_rows"] = {flags(from.flag_rows[0]), flags(from.flag_rows[1])};
  return made;
}

}  // namespace

const encoding lcm_encoding{
    "lcm", [](participant& by, const std::string& topic) { return publish_value<every_t>(by, topic, filled()); },
    [](participant& by, const std::string& topic, json& into) {
      return receive_value<every_t>(by, topic, into, values);
    }};

}  // namespace orc::test
