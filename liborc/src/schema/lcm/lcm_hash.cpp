#include "schema/lcm/lcm_hash.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>

#include "schema/limits.h"

namespace orc::detail {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// The structures that one structure contains, each once, with how often.
using contents = std::map<std::size_t, std::uint64_t>;

struct hashed {
  std::uint64_t hash = 0;
  std::size_t levels = 0;  // of structures in each other, this one included
};

// A type's hash depends on the types around it, because one of those counts 0 inside it. Only those that it contains
// itself matter: those of its own cycle of types (the strongly connected component). So the hash of a type that is
// entered from outside of its cycle is the same everywhere, and computed once; without recursion each type is.
class type_graph {
 public:
  type_graph(const schema& types, const std::vector<std::int64_t>& base_hashes)
      : base_hashes_(base_hashes),
        contents_(types.structures.size()),
        order_(types.structures.size(), none),
        lowest_(types.structures.size(), none),
        cycle_(types.structures.size(), none),
        inside_(types.structures.size(), false),
        known_(types.structures.size()) {
    for (std::size_t i = 0; i < types.structures.size(); ++i) {
      for (const auto& field : types.structures[i].fields) {
        if (field.kind == field_kind::structure) ++contents_[i][field.structure];
      }
    }
  }

  expected<std::uint64_t> hash() {
    if (!find_cycles(0, 1)) return bad_schema("types are nested more than 64 levels deep");
    const auto found = hash_of_type(0, none, 1);
    if (too_deep_) return bad_schema("types are nested more than 64 levels deep");
    if (steps_ > max_fingerprint_steps) return bad_schema("the types contain each other in too many ways");
    return found.hash;
  }

 private:
  // Tarjan's algorithm. Returns false when it is too deep.
  bool find_cycles(std::size_t type, std::size_t level) {
    if (level > max_type_levels) return false;
    order_[type] = lowest_[type] = next_order_++;
    open_.push_back(type);
    for (const auto& [inner, count] : contents_[type]) {
      if (order_[inner] == none) {
        if (!find_cycles(inner, level + 1)) return false;
        lowest_[type] = std::min(lowest_[type], lowest_[inner]);
      } else if (cycle_[inner] == none) {
        lowest_[type] = std::min(lowest_[type], order_[inner]);
      }
    }
    if (lowest_[type] != order_[type]) return true;
    while (cycle_[type] == none) {
      cycle_[open_.back()] = type;
      open_.pop_back();
    }
    return true;
  }

  hashed hash_of_type(std::size_t type, std::size_t from_cycle, std::size_t level) {
    if (inside_[type]) return {};
    const bool entered = cycle_[type] != from_cycle;
    if (entered && known_[type]) {
      too_deep_ = too_deep_ || level + known_[type]->levels > max_type_levels + 1;
      return *known_[type];
    }
    too_deep_ = too_deep_ || level > max_type_levels;
    hashed made{static_cast<std::uint64_t>(base_hashes_[type]), 1};
    inside_[type] = true;
    for (const auto& [inner, count] : contents_[type]) {
      if (++steps_ > max_fingerprint_steps || too_deep_) break;
      const auto added = hash_of_type(inner, cycle_[type], level + 1);
      made.hash += added.hash * count;
      made.levels = std::max(made.levels, added.levels + 1);
    }
    inside_[type] = false;
    made.hash = std::rotl(made.hash, 1);
    if (entered) known_[type] = made;
    return made;
  }

  const std::vector<std::int64_t>& base_hashes_;
  std::vector<contents> contents_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> lowest_;
  std::vector<std::size_t> cycle_;  // a structure of the same cycle
  std::vector<bool> inside_;        // the structures around the current one
  std::vector<std::optional<hashed>> known_;
  std::vector<std::size_t> open_;
  std::size_t next_order_ = 0;
  std::size_t steps_ = 0;
  bool too_deep_ = false;
};

}  // namespace

void lcm_base_hash::add(std::size_t byte) noexcept {
  // The arithmetic of lcm-gen: an arithmetic shift to the right, a signed character; overflow wraps.
  const auto mixed = (static_cast<std::uint64_t>(value_) << 8) ^ static_cast<std::uint64_t>(value_ >> 55);
  const auto added = static_cast<std::int64_t>(static_cast<std::int8_t>(static_cast<std::uint8_t>(byte)));
  value_ = static_cast<std::int64_t>(mixed + static_cast<std::uint64_t>(added));
}

void lcm_base_hash::add(std::string_view text) noexcept {
  add(text.size());
  for (const char c : text) add(static_cast<std::size_t>(static_cast<unsigned char>(c)));
}

expected<std::uint64_t> lcm_hash(const schema& types, const std::vector<std::int64_t>& base_hashes) {
  return type_graph(types, base_hashes).hash();
}

}  // namespace orc::detail
