#include "tools/orc/sample/number_rows.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "tools/orc/text.h"

namespace orc::cli {

namespace {

template <class Number>
std::string rounded(Number number, int digits) {
  if (digits == 0) return shortest(number);
  std::array<char, 64> text;
  const auto written =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, std::min(digits, 40));
  return {text.data(), written.ptr};
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}

}  // namespace

std::string number_text(float number, int digits) { return rounded(number, digits); }

std::string number_text(double number, int digits) { return rounded(number, digits); }

std::string number_text(const types::number_array& all, std::size_t index, int digits,
                        const types::enumeration* names) {
  switch (all.kind()) {
    case field_kind::boolean: return all.at<std::uint8_t>(index) != 0 ? "true" : "false";
    case field_kind::float32: return rounded(all.at<float>(index), digits);
    case field_kind::float64: return rounded(all.at<double>(index), digits);
    case field_kind::uint64: return shortest(all.at<std::uint64_t>(index));
    default: break;
  }
  const auto number = all.at<std::int64_t>(index);
  const auto name = names == nullptr ? std::string_view() : names->name_of(number);
  return name.empty() ? shortest(number) : escaped(name) + " (" + shortest(number) + ")";
}

std::size_t cell_width(field_kind kind, int digits) noexcept {
  switch (kind) {
    case field_kind::boolean: return 5;
    case field_kind::int8: return 4;
    case field_kind::int16: return 6;
    case field_kind::uint16: return 5;
    case field_kind::int32: return 11;
    case field_kind::uint32: return 10;
    case field_kind::int64:
    case field_kind::uint64: return 20;
    // "-1.23457e-05"; with an exponent of three digits one more, which a row survives.
    case field_kind::float32:
    case field_kind::float64: return digits == 0 ? 24 : static_cast<std::size_t>(digits) + 6;
    default: return 3;  // uint8
  }
}

void append_rows(std::size_t count, const row_layout& layout, const std::function<std::string(std::size_t)>& label,
                 const std::function<std::string(std::size_t)>& cell, std::string& to) {
  if (count == 0) return;
  const std::size_t labels = label(count - 1).size();
  const std::size_t taken = layout.indent.size() + labels;
  const std::size_t room = layout.columns > taken ? layout.columns - taken : 0;
  constexpr std::size_t lengths[] = {50, 32, 20, 16, 10, 8, 5, 4, 2, 1};  // by which people can count
  const auto fits = [&](std::size_t length) { return length == 1 || length * (layout.cell + 1) <= room; };
  const std::size_t per_row = *std::find_if(std::begin(lengths), std::end(lengths), fits);
  for (std::size_t at = 0; at < count && to.size() <= layout.most; at += per_row) {
    to += layout.indent + right_aligned(label(at), labels);
    for (std::size_t i = at; i < std::min(count, at + per_row); ++i) to += ' ' + right_aligned(cell(i), layout.cell);
    to += '\n';
  }
}

}  // namespace orc::cli
