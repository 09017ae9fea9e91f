#include "tools/orc/top/program_columns.h"

#include <array>
#include <cstdint>

#include "tools/orc/service/service.h"
#include "tools/orc/top/top_text.h"
#include "tools/orc/topic/topic_text.h"

namespace orc::cli {

namespace {

using terminal::align;

template <class Row, auto Text>
constexpr top_column<Row> text_column(const column_shape& shape) {
  return {shape, Text, [](const Row& a, const Row& b) { return Text(a) < Text(b); }};
}

template <auto Member>
std::optional<std::uint64_t> count_of(const service_row& row) {
  if (!row.figures) return std::nullopt;
  return (*row.figures).*Member;
}

template <auto Member>
constexpr top_column<service_row> count_column(std::string_view name, std::size_t width, int rank) {
  return {{name, width, width, align::right, rank},
          [](const service_row& row) {
            const auto count = count_of<Member>(row);
            return count ? count_text(*count) : std::string("-");
          },
          [](const service_row& a, const service_row& b) { return count_of<Member>(a) < count_of<Member>(b); }};
}

std::string type_name(const topic_type& type) {
  if (type == topic_type{}) return "bytes";
  return type.name.empty() ? "unnamed" : type.name;
}

std::string service_name(const service_row& row) { return row.service.name; }
std::string server_text(const service_row& row) { return participant_text(row.service.server); }
std::string request_text(const service_row& row) { return type_name(row.service.request); }
std::string reply_text(const service_row& row) { return type_name(row.service.reply); }
std::string interfaces_of(const service_row& row) { return interfaces_text(row.service); }

constexpr std::array<top_column<service_row>, 9> service_columns{{
    text_column<service_row, service_name>({"SERVICE", 17, 64, align::left, 0}),
    text_column<service_row, server_text>({"SERVER", 18, 40, align::left, 1}),
    count_column<&service_figures::calls>("CALLS", 8, 2),
    count_column<&service_figures::failed>("FAILED", 7, 3),
    count_column<&service_figures::waiting>("WAITING", 7, 4),
    text_column<service_row, request_text>({"REQUEST", 14, 40, align::left, 5}),
    text_column<service_row, reply_text>({"REPLY", 14, 40, align::left, 6}),
    text_column<service_row, interfaces_of>({"INTERFACES", 14, 40, align::left, 7}),
    count_column<&service_figures::clients>("CLIENTS", 7, 8),
}};

std::string parameter_name(const parameter_row& row) { return row.name; }
std::string shown_value(const parameter_row& row) { return row.value; }
std::string allowed_values(const parameter_row& row) { return row.allowed; }
std::string owner_text(const parameter_row& row) { return participant_text(row.owner); }
std::string description_of(const parameter_row& row) { return row.description; }

constexpr std::array<top_column<parameter_row>, 5> parameter_columns{{
    text_column<parameter_row, parameter_name>({"PARAMETER", 17, 64, align::left, 0}),
    text_column<parameter_row, shown_value>({"VALUE", 14, 40, align::left, 1}),
    text_column<parameter_row, allowed_values>({"ALLOWED", 26, 60, align::left, 2}),
    text_column<parameter_row, owner_text>({"PROGRAM", 18, 40, align::left, 3}),
    text_column<parameter_row, description_of>({"DESCRIPTION", 20, 60, align::left, 4}),
}};

}  // namespace

std::span<const top_column<service_row>> columns_of(const service_row*) { return service_columns; }
std::span<const top_column<parameter_row>> columns_of(const parameter_row*) { return parameter_columns; }

std::string search_text(const service_row& row) {
  return row.service.name + '\n' + server_text(row) + '\n' + request_text(row) + '\n' + reply_text(row) + '\n' +
         interfaces_of(row);
}

std::string search_text(const parameter_row& row) {
  return row.name + '\n' + owner_text(row) + '\n' + row.allowed + '\n' + row.description;
}

}  // namespace orc::cli
