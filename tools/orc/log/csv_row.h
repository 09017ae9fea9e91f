// One sample as a row of a table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "orc/types/decoder.h"

namespace orc::cli {

// More columns than any program reads.
inline constexpr std::size_t max_csv_columns = 16384;

// Names and values of the scalars of a sample, in the order of its schema: "arm.q[0]", "0.5". Numbers have as few
// digits as identify them; enumerations are numbers, booleans are true and false, bytes are hexadecimal digits.
class csv_row {
 public:
  struct cell {
    std::string name;
    std::string value;
    bool is_text = false;
  };

  // Replaces the cells by those of the sample, or by those of these paths in it.
  // - bad_argument: the sample violates its format, or has more than max_csv_columns scalars.
  result read(const types::decoder& type, std::span<const std::byte> sample, std::span<const types::field_path> paths);

  [[nodiscard]] const std::vector<cell>& cells() const noexcept { return cells_; }

 private:
  std::vector<cell> cells_;
};

// Appends one field of a line, quoted as RFC 4180 says where it has a comma, a quote or a line end.
void append_csv(std::string& line, std::string_view field);
// The same for a text of anybody. One that a spreadsheet would calculate as a formula gets the prefix '. Source: OWASP,
// CSV injection.
void append_csv_text(std::string& line, std::string_view text);

}  // namespace orc::cli
