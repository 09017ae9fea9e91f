#include "sample_tree.h"

#include <array>
#include <charconv>
#include <vector>

#include "orc/types/visitor.h"
#include "text.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_bytes = std::size_t{16} << 20;  // of the text
constexpr std::size_t max_text = 1024;                    // bytes of one text that are shown

template <class Number>
std::string shortest(Number number) {
  std::array<char, 64> digits;
  const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  return {digits.data(), written.ptr};
}

std::string more_text(std::size_t count) { return "… " + std::to_string(count) + " more"; }

class tree_writer : public types::visitor {
 public:
  tree_writer(std::size_t fold, std::string& out) : fold_(fold), out_(out) {}

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
    std::size_t at = 0;
    std::string text;
    append(all, 0, at, text);
    scalar(text);
    return text.size() > max_bytes ? types::step::stop : types::step::enter;
  }
  void boolean(bool value) override { scalar(value ? "true" : "false"); }
  void signed_integer(std::int64_t value) override { scalar(named(value, std::to_string(value))); }
  void unsigned_integer(std::uint64_t value) override {
    scalar(named(static_cast<std::int64_t>(value), std::to_string(value)));
  }
  void float32(float value) override { scalar(shortest(value)); }
  void float64(double value) override { scalar(shortest(value)); }
  void text(std::string_view value) override {
    const auto shown = value.substr(0, max_text);
    scalar('"' + escaped(shown) + '"' + (shown.size() < value.size() ? more_text(value.size() - shown.size()) : ""));
  }
  void bytes(std::span<const std::byte> value) override {
    const std::size_t shown = fold_ == 0 ? value.size() : std::min(value.size(), fold_);
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
    if (dimension == shape.size()) return append_number(all, at++, to);
    std::size_t rest = 1;  // numbers per element of this dimension
    for (const std::size_t each : shape.subspan(dimension + 1)) rest *= each;
    const std::size_t count = shape[dimension];
    const std::size_t shown = fold_ == 0 ? count : std::min(count, fold_);
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

  void append_number(const types::number_array& all, std::size_t index, std::string& to) const {
    switch (all.kind()) {
      case field_kind::boolean: to += all.at<std::uint8_t>(index) != 0 ? "true" : "false"; break;
      case field_kind::float32: to += shortest(all.at<float>(index)); break;
      case field_kind::float64: to += shortest(all.at<double>(index)); break;
      case field_kind::uint64: to += shortest(all.at<std::uint64_t>(index)); break;
      default: to += named(all.at<std::int64_t>(index), shortest(all.at<std::int64_t>(index)));
    }
  }

  const std::size_t fold_;
  std::string& out_;
  std::vector<level> levels_;
  std::size_t hidden_ = 0;  // structures behind the fold that are open
  types::field_info info_;
};

}  // namespace

result sample_tree(const types::decoder& type, std::span<const std::byte> sample, std::size_t fold,
                   std::string& lines) {
  lines.clear();
  tree_writer writer(fold, lines);
  return type.walk(sample, writer);
}

}  // namespace orc::cli
