// A sample as the tree that the page shows.
//
//   {"k":"object","f":[[NAME,TREE],…]}  {"k":"array","n":LENGTH,"i":[TREE,…]}  {"k":"number","v":NUMBER,"u":UNIT}
//   {"k":"string","v":TEXT}  {"k":"bool","v":BOOL}  {"k":"enum","v":NAME,"n":NUMBER}  {"k":"bytes","n":LENGTH,"v":HEX}
//   {"k":"null"}
//
// Integers that a double cannot hold, NaN and the infinities are texts.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "orc/types/decoder.h"

namespace orc::web {

struct tree_limits {
  std::size_t elements = 64;                   // shown of an array; also bytes of bytes
  std::size_t text = 4096;                     // bytes shown of a text
  std::size_t bytes = std::size_t{1} << 20;    // of the JSON
  std::size_t visited = std::size_t{100'000};  // values looked at, shown or not
  std::size_t weight = std::size_t{1} << 20;   // of JSON, which is read whole: see json_weight()
};

// Appends the tree of a sample. `cut` is set when a limit ended it early; it is whole JSON also then.
// - bad_argument: the sample violates its format, or is too much JSON for the thread of all clients. What was read
// before is in the tree.
result append_tree(std::string& to, const types::decoder& type, std::span<const std::byte> sample,
                   const tree_limits& limits, bool& cut);

// Appends bytes of unknown meaning.
void append_bytes_tree(std::string& to, std::span<const std::byte> bytes, const tree_limits& limits);

}  // namespace orc::web
