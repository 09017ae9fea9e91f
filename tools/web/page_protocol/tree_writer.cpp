#include "tools/web/page_protocol/tree_writer.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/text/printable.h"
#include "json/json_io.h"
#include "orc/types/visitor.h"
#include "tools/web/json_text.h"

namespace orc::web {

namespace {

constexpr std::int64_t largest_exact = std::int64_t{1} << 53;  // that a double holds, and all below

void append_hex(std::string& to, std::span<const std::byte> bytes) {
  constexpr char digits[] = "0123456789abcdef";
  for (const std::byte each : bytes) {
    to += digits[std::to_integer<unsigned>(each) >> 4];
    to += digits[std::to_integer<unsigned>(each) & 15];
  }
}

// At most `most` bytes, but no part of a character.
[[nodiscard]] std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && most - end < 4 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end);
}

class tree_writer final : public types::visitor {
 public:
  tree_writer(std::string& to, const tree_limits& limits) : to_(to), limits_(limits), start_(to.size()) {}

  [[nodiscard]] bool was_cut() const noexcept { return cut_; }

  // Ends what is open, also after an error within.
  void finish() {
    while (!levels_.empty()) {
      if (levels_.back().in_field) to_ += levels_.back().has_value ? "]" : R"({"k":"null"}])";
      to_ += "]}";
      levels_.pop_back();
    }
    if (to_.size() == start_) to_ += R"({"k":"null"})";
  }

  void begin_structure() override {
    if (!begin_value()) {
      ++hidden_;
      return;
    }
    to_ += R"({"k":"object","f":[)";
    levels_.push_back({});
  }
  types::step field(const types::field_info& info) override {
    if (is_over()) return types::step::stop;
    if (hidden_ != 0) return types::step::skip;
    level& here = levels_.back();
    if (here.written++ != 0) to_ += ',';
    to_ += '[';
    append_quoted(to_, beginning(info.name, limits_.text));
    to_ += ',';
    here.in_field = true;
    here.has_value = false;
    info_ = info;
    return types::step::enter;
  }
  void end_structure() override {
    if (hidden_ != 0) {
      --hidden_;
      return;
    }
    close_level();
  }

  types::step begin_array(std::size_t count) override {
    if (is_over()) return types::step::stop;
    if (!begin_value()) return types::step::skip;
    begin_items(count);
    // Nothing ends the walk between texts or scalars.
    cut_ = cut_ || count > limits_.visited || visited_ > limits_.visited - count;
    return cut_ ? types::step::stop : types::step::enter;
  }
  void end_array() override {
    if (!levels_.empty() && hidden_ == 0) close_level();
  }

  types::step numbers(const types::number_array& all) override {
    if (is_over()) return types::step::stop;
    if (!begin_value()) return types::step::enter;
    std::size_t at = 0;
    append_dimension(all, 0, at);
    end_value();
    return types::step::enter;
  }
  void boolean(bool value) override {
    if (!begin_value()) return;
    to_ += value ? R"({"k":"bool","v":true})" : R"({"k":"bool","v":false})";
    end_value();
  }
  void signed_integer(std::int64_t value) override {
    if (!begin_value()) return;
    append_integer(value, value);
    end_value();
  }
  void unsigned_integer(std::uint64_t value) override {
    if (!begin_value()) return;
    append_integer(value, static_cast<std::int64_t>(value));
    end_value();
  }
  void float32(float value) override {
    if (!begin_value()) return;
    append_real(value);
    end_value();
  }
  void float64(double value) override {
    if (!begin_value()) return;
    append_real(value);
    end_value();
  }
  void text(std::string_view value) override {
    if (!begin_value()) return;
    const auto shown = beginning(value, limits_.text);
    to_ += R"({"k":"string","v":)";
    append_quoted(to_, shown);
    if (shown.size() < value.size()) {
      to_ += R"(,"n":)";
      append_number(to_, value.size());
    }
    to_ += '}';
    end_value();
  }
  void bytes(std::span<const std::byte> value) override {
    if (!begin_value()) return;
    append_bytes_tree(to_, value, limits_);
    end_value();
  }
  void null() override {
    if (!begin_value()) return;
    to_ += R"({"k":"null"})";
    end_value();
  }

 private:
  struct level {
    bool is_array = false;
    bool in_field = false;   // a field has begun
    bool has_value = false;  // and its value, too
    std::size_t written = 0;
  };

  [[nodiscard]] bool is_over() {
    cut_ = cut_ || ++visited_ > limits_.visited || to_.size() - start_ > limits_.bytes;
    return cut_;
  }

  // False: it is hidden.
  [[nodiscard]] bool begin_value() {
    ++visited_;
    if (hidden_ != 0 || cut_) return false;
    if (levels_.empty()) return true;
    level& here = levels_.back();
    here.has_value = true;
    if (!here.is_array) return true;
    if (here.written == limits_.elements) return false;
    if (here.written++ != 0) to_ += ',';
    info_ = element_info_;
    return true;
  }
  void end_value() {
    if (levels_.empty() || levels_.back().is_array) return;
    levels_.back().in_field = false;
    to_ += ']';
  }
  void begin_items(std::size_t count) {
    to_ += R"({"k":"array","n":)";
    append_number(to_, count);
    to_ += R"(,"i":[)";
    levels_.push_back({.is_array = true});
    element_info_ = info_;
  }
  void close_level() {
    to_ += "]}";
    levels_.pop_back();
    end_value();
  }

  void append_unit() {
    if (!info_.unit.empty()) {
      to_ += R"(,"u":)";
      append_quoted(to_, beginning(info_.unit, limits_.text));
    }
    to_ += '}';
  }
  template <class Integer>
  void append_integer(Integer value, std::int64_t number) {
    if (const auto name = info_.names == nullptr ? std::string_view() : info_.names->name_of(number); !name.empty()) {
      to_ += R"({"k":"enum","v":)";
      append_quoted(to_, beginning(name, limits_.text));
      to_ += R"(,"n":)";
      append_exact(value);
      to_ += '}';
      return;
    }
    to_ += R"({"k":"number","v":)";
    append_exact(value);
    append_unit();
  }
  template <class Integer>
  void append_exact(Integer value) {
    const bool exact = std::cmp_less_equal(value, largest_exact) && std::cmp_greater_equal(value, -largest_exact);
    if (exact)
      append_number(to_, value);
    else
      append_quoted_number(to_, value);
  }
  template <class Real>
  void append_real(Real value) {
    to_ += R"({"k":"number","v":)";
    if (std::isfinite(value))
      append_number(to_, value);
    else
      to_ += std::isnan(value) ? R"("NaN")" : value > 0 ? R"("Infinity")" : R"("-Infinity")";
    append_unit();
  }

  void append_dimension(const types::number_array& all, std::size_t dimension, std::size_t& at) {
    const auto shape = all.shape();
    if (dimension == shape.size()) return append_element(all, at++);
    std::size_t stride = 1;
    for (const std::size_t each : shape.subspan(dimension + 1)) stride *= each;
    const std::size_t shown = std::min(shape[dimension], limits_.elements);
    to_ += R"({"k":"array","n":)";
    append_number(to_, shape[dimension]);
    to_ += R"(,"i":[)";
    const std::size_t begin = at;
    for (std::size_t i = 0; i < shown && to_.size() - start_ <= limits_.bytes; ++i) {
      if (i != 0) to_ += ',';
      at = begin + i * stride;
      append_dimension(all, dimension + 1, at);
    }
    to_ += "]}";
    at = begin + shape[dimension] * stride;
  }
  void append_element(const types::number_array& all, std::size_t index) {
    switch (all.kind()) {
      case field_kind::boolean:
        to_ += all.at<bool>(index) ? R"({"k":"bool","v":true})" : R"({"k":"bool","v":false})";
        break;
      case field_kind::float32: append_real(all.at<float>(index)); break;
      case field_kind::float64: append_real(all.at<double>(index)); break;
      case field_kind::uint64: append_integer(all.at<std::uint64_t>(index), all.at<std::int64_t>(index)); break;
      default: append_integer(all.at<std::int64_t>(index), all.at<std::int64_t>(index));
    }
  }

  std::string& to_;
  const tree_limits& limits_;
  const std::size_t start_;
  std::vector<level> levels_;
  std::size_t hidden_ = 0;  // structures within that are not shown
  std::size_t visited_ = 0;
  bool cut_ = false;
  types::field_info info_;
  types::field_info element_info_;
};

}  // namespace

result append_tree(std::string& to, const types::decoder& type, std::span<const std::byte> sample,
                   const tree_limits& limits, bool& cut) {
  tree_writer writer(to, limits);
  const bool is_text = type.type().message_encoding == "json";
  const std::string_view text(reinterpret_cast<const char*>(sample.data()), is_text ? sample.size() : 0);
  result done = detail::json_weight(text, limits.weight) > limits.weight
                    ? result{errc::bad_argument, "the JSON has too many values to show"}
                    : type.walk(sample, writer);
  writer.finish();
  cut = writer.was_cut();
  return done;
}

void append_bytes_tree(std::string& to, std::span<const std::byte> bytes, const tree_limits& limits) {
  to += R"({"k":"bytes","n":)";
  append_number(to, bytes.size());
  to += R"(,"v":")";
  append_hex(to, bytes.first(std::min(bytes.size(), limits.elements)));
  to += "\"}";
}

}  // namespace orc::web
