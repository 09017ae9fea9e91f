#include "tools/support/json.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "base/text/printable.h"
#include "json/json_io.h"

namespace orc {

namespace {

void round_numbers(json_value& value) {
  if (value.is_number_float()) value = std::round(value.get<double>() * 1000) / 1000;
  if (!value.is_structured()) return;
  for (auto& each : value) round_numbers(each);
}

// Of valid JSON without line ends: such a character can only be part of a text.
std::string without_controls(std::string_view json) {
  std::string safe;
  safe.reserve(json.size());
  for (std::size_t size = 0; !json.empty(); json.remove_prefix(size)) {
    size = detail::utf8_length(json);
    const std::string_view character = json.substr(0, size);
    if (detail::is_printable(character)) {
      safe += character;
    } else {
      const std::string quoted = detail::write_ascii_json(json_value(character));
      safe.append(quoted, 1, quoted.size() - 2);
    }
  }
  return safe;
}

}  // namespace

std::string to_text(const json_value& value) { return without_controls(detail::write_json(value)); }

json_value json_of_own(const std::string& text) {
  json_value value;
  if (const auto problem = detail::read_json(text, value, detail::any_json_depth))
    throw std::invalid_argument(problem->text);
  return value;
}

std::string to_json(const std::vector<json_value>& results) {
  std::string text;
  for (json_value each : results) {
    round_numbers(each);
    text += (text.empty() ? "  " : ",\n  ") + to_text(each);
  }
  return "[\n" + text + "\n]\n";
}

bool write_text(const std::string& path, const std::string& text) {
  if (path == "-") return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  const bool written = std::fputs(text.c_str(), file) >= 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace orc
