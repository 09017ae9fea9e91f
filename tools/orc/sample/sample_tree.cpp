#include "tools/orc/sample/sample_tree.h"

#include <algorithm>
#include <vector>

#include "orc/types/visitor.h"
#include "tools/orc/sample/number_rows.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_bytes = std::size_t{16} << 20;  // of the text
constexpr std::size_t max_text = 1024;                    // bytes of one text that are shown

std::string more_text(std::size_t count) { return "… " + std::to_string(count) + " more"; }

class tree_writer : public types::visitor {
 public:
  tree_writer(const tree_style& style, tree_text& to)
      : style_(style), fold_(style.whole ? 0 : style.fold), to_(to), out_(to.lines) {}

  void begin_structure() override {
    if (hidden_ != 0 || is_beyond_fold()) {
      ++hidden_;
      return;
    }
    if (!levels_.empty()) line("");
    levels_.push_back({});
  }
  types::step field(const types::field_info& info) override {
    if (hidden_ != 0) return types::step::skip;
    if (out_.size() > max_bytes) {
      out_ += "… (more than " + std::to_string(max_bytes) + " bytes)\n";
      return types::step::stop;
    }
    info_ = info;
    return types::step::enter;
  }
  void end_structure() override {
    if (hidden_ != 0) {
      --hidden_;
      return;
    }
    if (!levels_.empty()) levels_.pop_back();
  }

  types::step begin_array(std::size_t count) override {
    if (hidden_ != 0 || is_beyond_fold()) return types::step::skip;
    note_length(count);
    line(count == 0 ? "[]" : "");
    levels_.push_back({.is_array = true, .count = count});
    return types::step::enter;
  }
  void end_array() override {
    const level array = levels_.back();
    if (fold_ != 0 && array.count > fold_) out_ += indent() + more_text(array.count - fold_) + "\n";
    levels_.pop_back();
  }

  types::step numbers(const types::number_array& all) override {
    if (hidden_ != 0) return types::step::enter;
    for (const std::size_t each : all.shape()) note_length(each);
    if (needs_rows(all)) {
      if (is_beyond_fold()) return types::step::enter;
      line("");
      rows(all, 0, 0, "");
    } else {
      std::size_t at = 0;
      std::string text;
      append(all, 0, at, text);
      scalar(text);
    }
    return out_.size() > max_bytes ? types::step::stop : types::step::enter;
  }
  void boolean(bool value) override { scalar(value ? "true" : "false"); }
  void signed_integer(std::int64_t value) override { scalar(named(value, std::to_string(value))); }
  void unsigned_integer(std::uint64_t value) override {
    scalar(named(static_cast<std::int64_t>(value), std::to_string(value)));
  }
  void float32(float value) override { scalar(number_text(value, style_.digits)); }
  void float64(double value) override { scalar(number_text(value, style_.digits)); }
  void text(std::string_view value) override {
    const auto shown = value.substr(0, max_text);
    scalar('"' + escaped(shown) + '"' + (shown.size() < value.size() ? more_text(value.size() - shown.size()) : ""));
  }
  void bytes(std::span<const std::byte> value) override {
    note_length(value.size());
    const std::size_t shown = shown_of(value.size());
    if (style_.columns != 0 && width_before() + 2 * shown > style_.columns) {
      if (is_beyond_fold()) return;
      line("");
      const auto byte = [&](std::size_t i) { return hex(as_text(value.subspan(i, 1))); };
      append_rows(
          shown, {inner_indent(), style_.columns, 2}, [](std::size_t i) { return label(i); }, byte, out_);
      if (shown < value.size()) out_ += inner_indent() + more_text(value.size() - shown) + "\n";
      return;
    }
    std::string text = hex(as_text(value.first(shown)));
    if (shown < value.size()) text += " " + more_text(value.size() - shown);
    scalar(text);
  }
  void null() override { scalar("null"); }

 private:
  struct level {
    bool is_array = false;
    std::size_t count = 0;  // elements of the array
    std::size_t next = 0;   // element that comes next
  };

  [[nodiscard]] std::string indent() const { return std::string(2 * levels_.size(), ' '); }

  [[nodiscard]] std::string inner_indent() const { return indent() + "  "; }
  [[nodiscard]] static std::string label(std::size_t index) { return '[' + std::to_string(index) + ']'; }
  void note_length(std::size_t count) { to_.has_long = to_.has_long || (style_.fold != 0 && count > style_.fold); }
  [[nodiscard]] std::size_t shown_of(std::size_t count) const { return fold_ == 0 ? count : std::min(count, fold_); }
  // Columns before the value of the next field.
  [[nodiscard]] std::size_t width_before() const { return indent().size() + info_.name.size() + 2; }

  // By the widest numbers there may be, and not by these: the next sample must not look different.
  [[nodiscard]] bool needs_rows(const types::number_array& all) const {
    if (style_.columns == 0 || all.size() == 0 || info_.names != nullptr) return false;
    if (all.shape().size() > 1) return true;
    const std::size_t cell = cell_width(all.kind(), style_.digits) + 2;
    return width_before() + cell * shown_of(all.size()) > style_.columns;
  }

  // The rows of all dimensions but the last, one below the other.
  void rows(const types::number_array& all, std::size_t dimension, std::size_t first, const std::string& before) {
    const auto shape = all.shape();
    const std::size_t count = shape[dimension];
    const std::size_t shown = shown_of(count);
    if (dimension + 1 == shape.size()) {
      append_rows(
          shown, {inner_indent(), style_.columns, cell_width(all.kind(), style_.digits)},
          [&](std::size_t i) { return before + label(i); },
          [&](std::size_t i) { return number_text(all, first + i, style_.digits, nullptr); }, out_);
    } else {
      std::size_t rest = 1;  // numbers per element of this dimension
      for (const std::size_t each : shape.subspan(dimension + 1)) rest *= each;
      for (std::size_t i = 0; i < shown && out_.size() <= max_bytes; ++i)
        rows(all, dimension + 1, first + i * rest, before + label(i));
    }
    if (shown < count) out_ += inner_indent() + before + more_text(count - shown) + "\n";
  }

  // Also counts the element.
  [[nodiscard]] bool is_beyond_fold() {
    if (levels_.empty() || !levels_.back().is_array || fold_ == 0 || levels_.back().next < fold_) return false;
    ++levels_.back().next;
    return true;
  }

  void scalar(const std::string& value) {
    if (hidden_ == 0 && !is_beyond_fold()) line(value);
  }

  // "name: value unit  # comment", or "[3] value" in an array. The root of some types is a value without a name.
  void line(const std::string& value) {
    std::string text = indent();
    const bool element = !levels_.empty() && levels_.back().is_array;
    if (element) {
      text += "[" + std::to_string(levels_.back().next++) + "]";
    } else if (!info_.name.empty()) {
      text += escaped(info_.name) + ":";
    }
    if (!value.empty()) text += (text.empty() || text.ends_with(' ') ? "" : " ") + value;
    if (!element && !info_.unit.empty()) text += " " + escaped(info_.unit);
    if (!element && !info_.comment.empty()) text += "  # " + escaped(info_.comment);
    out_ += text + "\n";
  }

  [[nodiscard]] std::string named(std::int64_t number, const std::string& digits) const {
    const auto name = info_.names == nullptr ? std::string_view() : info_.names->name_of(number);
    return name.empty() ? digits : escaped(name) + " (" + digits + ")";
  }

  void append(const types::number_array& all, std::size_t dimension, std::size_t& at, std::string& to) const {
    const auto shape = all.shape();
    if (dimension == shape.size()) {
      to += number_text(all, at++, style_.digits, info_.names);
      return;
    }
    std::size_t rest = 1;  // numbers per element of this dimension
    for (const std::size_t each : shape.subspan(dimension + 1)) rest *= each;
    const std::size_t count = shape[dimension];
    const std::size_t shown = shown_of(count);
    to += '[';
    for (std::size_t i = 0; i < shown; ++i) {
      if (i != 0) to += ", ";
      if (to.size() > max_bytes) {
        to += "…";
        return;
      }
      append(all, dimension + 1, at, to);
    }
    if (shown < count) to += ", " + more_text(count - shown);
    at += (count - shown) * rest;
    to += ']';
  }

  const tree_style style_;
  const std::size_t fold_;  // 0: nothing is left out
  tree_text& to_;
  std::string& out_;
  std::vector<level> levels_;
  std::size_t hidden_ = 0;  // structures behind the fold that are open
  types::field_info info_;
};

}  // namespace

result sample_tree(const types::decoder& type, std::span<const std::byte> sample, const tree_style& style,
                   tree_text& to) {
  to = {};
  tree_writer writer(style, to);
  return type.walk(sample, writer);
}

}  // namespace orc::cli
