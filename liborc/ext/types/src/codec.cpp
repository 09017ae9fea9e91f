#include "codec.h"

#include <string>

namespace orc::types::detail {
namespace {

std::string quoted(std::string_view path) { return path.empty() ? "the type" : "`" + shown(path) + "`"; }

}  // namespace

result no_such_field(std::string_view structure, std::string_view name, const name_list& fields) {
  return {errc::bad_argument,
          quoted(structure) + " has no field `" + shown(name) + "`; its fields are " + fields.text()};
}

result not_a_structure(std::string_view before, std::string_view name) {
  return {errc::bad_argument, quoted(before) + " has no fields, so no `" + shown(name) + "`"};
}

result not_an_array(std::string_view before) {
  return {errc::bad_argument, quoted(before) + " has no elements that an index could choose"};
}

result index_too_large(std::string_view before, std::size_t index, std::size_t size) {
  return {errc::bad_argument,
          quoted(before) + " has " + std::to_string(size) + " elements, so no [" + std::to_string(index) + "]"};
}

}  // namespace orc::types::detail
