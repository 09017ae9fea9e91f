// The columns of the tables of services and parameters in `orc top`: what top_list_of needs of their rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/orc/top/program_figures.h"
#include "tools/orc/top/top_columns.h"

namespace orc::cli {

[[nodiscard]] std::span<const top_column<service_row>> columns_of(const service_row*);
[[nodiscard]] std::span<const top_column<parameter_row>> columns_of(const parameter_row*);

[[nodiscard]] std::string search_text(const service_row& row);
[[nodiscard]] std::string search_text(const parameter_row& row);

[[nodiscard]] inline bool belongs_to(const service_row&, const std::string&) noexcept { return false; }
[[nodiscard]] inline bool belongs_to(const parameter_row&, const std::string&) noexcept { return false; }

[[nodiscard]] inline const std::string& key_of(const service_row& row) { return row.service.name; }
[[nodiscard]] inline const std::string& key_of(const parameter_row& row) { return row.name; }

[[nodiscard]] constexpr std::string_view word_of(const service_row*) { return "service"; }
[[nodiscard]] constexpr std::string_view word_of(const parameter_row*) { return "parameter"; }

[[nodiscard]] inline const std::vector<service_row>& rows_of(const program_figures& all, const service_row*) {
  return all.services;
}
[[nodiscard]] inline const std::vector<parameter_row>& rows_of(const program_figures& all, const parameter_row*) {
  return all.parameters;
}

}  // namespace orc::cli
