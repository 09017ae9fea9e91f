// JSON: the sample names its fields itself. A schema is not used.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "codec.h"
#include "json/json_io.h"
#include "json/json_text.h"
#include "sequential/scalar.h"

namespace orc::types::detail {
namespace {

using nlohmann::json;

// Arrays of numbers alone are visited at once: as int64 if they fit, else as float64 if that is exact.
field_kind number_kind(const json& array) {
  bool integers = true;
  bool exact = true;
  for (const auto& each : array) {
    if (!each.is_number()) return field_kind::structure;
    if (each.is_number_float()) {
      integers = false;
      continue;
    }
    constexpr std::int64_t most = std::int64_t{1} << 53;
    const auto number = each.get<std::int64_t>();
    if (each.is_number_unsigned() && each.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      return field_kind::structure;
    }
    exact = exact && number <= most && number >= -most;
  }
  if (integers) return field_kind::int64;
  return exact ? field_kind::float64 : field_kind::structure;
}

template <class T>
bool visit_numbers(const json& array, field_kind kind, visitor& to) {
  std::vector<T> numbers;
  numbers.reserve(array.size());
  for (const auto& each : array) numbers.push_back(each.get<T>());
  const std::size_t size = numbers.size();
  return to.numbers({kind, std::as_bytes(std::span(numbers)), {&size, 1}, false}) != step::stop;
}

class json_codec final : public codec {
 public:
  [[nodiscard]] std::string_view encoding() const noexcept override { return "json"; }
  bool walk(byte_span sample, path_parts path, walk_state& state) const override;
  result bind(std::vector<field_path::part>&, field_info&) const override { return {}; }
  bool encode(const json& from, encode_state& state) const override;

 private:
  static bool value(const json& from, walk_state& state);
  static bool array(const json& from, walk_state& state);
  static bool object(const json& from, walk_state& state);
};

bool json_codec::walk(byte_span sample, path_parts path, walk_state& state) const {
  json parsed;
  if (result read = parse_json(text_of(sample), parsed); !read) {
    return state.fail(sample.size(), read.error().message());
  }
  const json* at = &parsed;
  for (const auto& part : path) {
    if (part.element) {
      state.here.push(part.index);
      if (!at->is_array()) return state.fail(0, "is no array");
      if (part.index >= at->size()) {
        return state.fail(0, "is beyond the end of an array of " + std::to_string(at->size()));
      }
      at = &(*at)[part.index];
    } else {
      state.here.push(part.name);
      const auto found = at->is_object() ? at->find(part.name) : at->end();
      if (found == at->end()) return true;  // the sample does not have it
      at = &*found;
    }
  }
  return value(*at, state);
}

bool json_codec::value(const json& from, walk_state& state) {
  switch (from.type()) {
    case json::value_t::object: return object(from, state);
    case json::value_t::array: return array(from, state);
    case json::value_t::string: state.to.text(from.get_ref<const std::string&>()); break;
    case json::value_t::boolean: state.to.boolean(from.get<bool>()); break;
    case json::value_t::number_integer: state.to.signed_integer(from.get<std::int64_t>()); break;
    case json::value_t::number_unsigned: state.to.unsigned_integer(from.get<std::uint64_t>()); break;
    case json::value_t::number_float: state.to.float64(from.get<double>()); break;
    default: state.to.null(); break;
  }
  return true;
}

bool json_codec::array(const json& from, walk_state& state) {
  const field_kind kind = number_kind(from);
  if (!from.empty() && kind == field_kind::int64) return visit_numbers<std::int64_t>(from, kind, state.to);
  if (!from.empty() && kind == field_kind::float64) return visit_numbers<double>(from, kind, state.to);
  if (!state.spend(from.size(), 0) || !state.enter(0)) return false;
  const step answer = state.to.begin_array(from.size());
  if (answer == step::stop) return false;
  if (answer == step::enter) {
    std::size_t index = 0;
    for (const auto& each : from) {
      state.here.push(index++);
      if (!value(each, state)) return false;
      state.here.pop();
    }
    state.to.end_array();
  }
  state.leave();
  return true;
}

bool json_codec::object(const json& from, walk_state& state) {
  if (!state.spend(from.size(), 0) || !state.enter(0)) return false;
  state.to.begin_structure();
  for (const auto& [name, element] : from.items()) {
    const step answer = state.to.field({name, {}, {}, nullptr});
    if (answer == step::stop) return false;
    if (answer == step::skip) continue;
    state.here.push(std::string_view(name));
    if (!value(element, state)) return false;
    state.here.pop();
  }
  state.to.end_structure();
  state.leave();
  return true;
}

bool json_codec::encode(const json& from, encode_state& state) const {
  const std::string text = orc::detail::write_json(from);
  std::size_t at = 0;
  if (!state.grow(text.size(), at)) return false;
  std::memcpy(state.bytes.data() + at, text.data(), text.size());
  return true;
}

}  // namespace

result make_json_codec(const type_description&, std::unique_ptr<codec>& made) {
  made = std::make_unique<json_codec>();
  return {};
}

}  // namespace orc::types::detail
