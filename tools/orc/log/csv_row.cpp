#include "tools/orc/log/csv_row.h"

#include <charconv>
#include <system_error>

#include "orc/types/visitor.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

class flattener : public types::visitor {
 public:
  flattener(std::string root, std::vector<csv_row::cell>& cells) : name_(std::move(root)), cells_(cells) {}

  [[nodiscard]] bool too_many() const noexcept { return too_many_; }

  void begin_structure() override { open(false); }
  types::step field(const types::field_info& info) override {
    if (too_many_) return types::step::stop;
    name_.resize(levels_.back().prefix);
    if (!name_.empty()) name_ += '.';
    name_ += info.name;
    return types::step::enter;
  }
  void end_structure() override { close(); }
  types::step begin_array(std::size_t /*count*/) override {
    if (too_many_) return types::step::skip;
    open(true);
    return types::step::enter;
  }
  void end_array() override { close(); }

  types::step numbers(const types::number_array& all) override {
    begin_value();
    const std::size_t prefix = name_.size();
    std::vector<std::size_t> at(all.shape().size(), 0);
    for (std::size_t i = 0; i < all.size() && !too_many_; ++i) {
      name_.resize(prefix);
      for (const std::size_t index : at) name_ += "[" + std::to_string(index) + "]";
      add(text_of(all, i));
      for (std::size_t d = at.size(); d-- > 0 && ++at[d] == all.shape()[d];) at[d] = 0;
    }
    name_.resize(prefix);
    return too_many_ ? types::step::stop : types::step::enter;
  }
  void boolean(bool value) override { scalar(value ? "true" : "false"); }
  void signed_integer(std::int64_t value) override { scalar(std::to_string(value)); }
  void unsigned_integer(std::uint64_t value) override { scalar(std::to_string(value)); }
  void float32(float value) override { scalar(shortest(value)); }
  void float64(double value) override { scalar(shortest(value)); }
  void text(std::string_view value) override { scalar(std::string(value), true); }
  void bytes(std::span<const std::byte> value) override { scalar(hex(as_text(value))); }
  void null() override { scalar(""); }

 private:
  struct level {
    std::size_t prefix = 0;  // length of the name of what holds the values
    bool is_array = false;
    std::size_t next = 0;
  };

  void open(bool is_array) {
    begin_value();
    levels_.push_back({name_.size(), is_array});
  }
  void close() {
    name_.resize(levels_.back().prefix);
    levels_.pop_back();
  }
  // Gives an element of an array its index; a field has its name already.
  void begin_value() {
    if (levels_.empty() || !levels_.back().is_array) return;
    name_.resize(levels_.back().prefix);
    name_ += "[" + std::to_string(levels_.back().next++) + "]";
  }
  void scalar(std::string value, bool is_text = false) {
    begin_value();
    add(std::move(value), is_text);
  }
  void add(std::string value, bool is_text = false) {
    if (cells_.size() == max_csv_columns) {
      too_many_ = true;
      return;
    }
    cells_.push_back({name_.empty() ? "value" : name_, std::move(value), is_text});
  }

  static std::string text_of(const types::number_array& all, std::size_t index) {
    switch (all.kind()) {
      case field_kind::boolean: return all.at<std::uint8_t>(index) != 0 ? "true" : "false";
      case field_kind::float32: return shortest(all.at<float>(index));
      case field_kind::float64: return shortest(all.at<double>(index));
      case field_kind::uint64: return shortest(all.at<std::uint64_t>(index));
      default: return shortest(all.at<std::int64_t>(index));
    }
  }

  std::string name_;
  std::vector<csv_row::cell>& cells_;
  std::vector<level> levels_;
  bool too_many_ = false;
};

bool is_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc{} && read.ptr == text.data() + text.size();
}

}  // namespace

result csv_row::read(const types::decoder& type, std::span<const std::byte> sample,
                     std::span<const types::field_path> paths) {
  cells_.clear();
  const auto walk = [&](const types::field_path* path) -> result {
    flattener to(path == nullptr ? std::string() : path->text(), cells_);
    result walked = path == nullptr ? type.walk(sample, to) : type.walk(sample, *path, to);
    if (!walked) return walked;
    if (!to.too_many()) return {};
    return {errc::bad_argument,
            "a sample has more than " + std::to_string(max_csv_columns) + " values: choose some with --fields"};
  };
  if (paths.empty()) return walk(nullptr);
  for (const types::field_path& each : paths)
    if (auto walked = walk(&each); !walked) return walked;
  return {};
}

void append_csv(std::string& line, std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) {
    line += field;
    return;
  }
  line += '"';
  for (const char c : field) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

void append_csv_text(std::string& line, std::string_view text) {
  const bool is_formula = !text.empty() && std::string_view("=+-@\t\r\n").find(text.front()) != std::string_view::npos;
  if (is_formula && !is_number(text)) {
    append_csv(line, "'" + std::string(text));
  } else {
    append_csv(line, text);
  }
}

}  // namespace orc::cli
