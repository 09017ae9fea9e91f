#include "orc/types/json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "codec.h"
#include "json/json_text.h"
#include "json/json_writer.h"

namespace orc::types {
namespace {

result written(result walked, const detail::json_writer& writer, const json_options& options) {
  if (!walked || !writer.too_long()) return walked;
  return {errc::bad_argument, "the JSON would be longer than " + std::to_string(options.max_bytes) + " bytes"};
}

}  // namespace

result to_json(const decoder& type, std::span<const std::byte> sample, const json_options& options, std::string& out) {
  out.clear();
  detail::json_writer writer(options, out);
  return written(type.walk(sample, writer), writer, options);
}

result to_json(const decoder& type, std::span<const std::byte> sample, const field_path& path,
               const json_options& options, std::string& out) {
  out.clear();
  detail::json_writer writer(options, out);
  // Numbers in arrays and enumerations of a field are named as within its structure.
  writer.set_names(path.info().names);
  result walked = type.walk(sample, path, writer);
  if (walked && out.empty()) out = "null";
  return written(std::move(walked), writer, options);
}

result from_json(const decoder& type, std::string_view text, std::vector<std::byte>& sample, std::size_t max_bytes) {
  nlohmann::json parsed;
  if (result read = detail::parse_json(text, parsed); !read) return read;
  detail::encode_state state(max_bytes);
  if (type.codec().encode(parsed, state)) sample = std::move(state.bytes);
  return state.outcome();
}

}  // namespace orc::types
