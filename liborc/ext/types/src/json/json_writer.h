// Writes what a walk visits as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "orc/types/json.h"
#include "orc/types/visitor.h"

namespace orc::types::detail {

class json_writer final : public visitor {
 public:
  // Appends to `out`. Both outlive this object.
  json_writer(const json_options& options, std::string& out) : options_(options), out_(out) {}

  // Names the numbers of a value that is written without its field.
  void set_names(const enumeration* names) noexcept { root_names_ = names; }
  // Whether the JSON was cut, as it became too long.
  [[nodiscard]] bool too_long() const noexcept { return out_.size() > options_.max_bytes; }

  void begin_structure() override;
  step field(const field_info& info) override;
  void end_structure() override;
  step begin_array(std::size_t count) override;
  void end_array() override;
  step numbers(const number_array& all) override;
  void boolean(bool value) override;
  void signed_integer(std::int64_t value) override;
  void unsigned_integer(std::uint64_t value) override;
  void float32(float value) override;
  void float64(double value) override;
  void text(std::string_view value) override;
  void bytes(std::span<const std::byte> value) override;
  void null() override;

 private:
  // A structure or array that is open.
  struct level {
    bool array;
    std::size_t written = 0;
    std::size_t count = 0;               // of the array
    std::string_view unit = {};          // of the field that is written
    const enumeration* names = nullptr;  // of the field, also within its arrays
  };

  // Before and after each value. open() returns false when the value is folded away.
  bool open();
  void close();
  // Line end and indentation, if pretty.
  void line(std::size_t depth);
  [[nodiscard]] const enumeration* names() const noexcept {
    return levels_.empty() ? root_names_ : levels_.back().names;
  }
  void number_dimension(const number_array& all, std::size_t dimension, std::size_t& index);
  void number_at(const number_array& all, std::size_t index);
  void write_name_or(std::string_view name, std::int64_t number);
  template <class T>
  void write_number(T number);
  template <class T>
  void write_real(T number);
  void write_text(std::string_view text);
  void write_more(std::size_t count);

  const json_options& options_;
  std::string& out_;
  const enumeration* root_names_ = nullptr;
  std::vector<level> levels_ = {};
  std::size_t hidden_ = 0;  // structures that are open, but folded away
};

}  // namespace orc::types::detail
