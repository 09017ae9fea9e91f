#include "tools/orc/replay/sample_difference.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "orc/types/visitor.h"
#include "tools/orc/text.h"

namespace orc::cli {

namespace {

constexpr std::size_t max_leaves = std::size_t{1} << 20;  // of one sample; behind them bytes are compared
constexpr std::size_t shown_bytes = 16;

struct leaf {
  std::string path;
  std::string value;
  std::uint64_t bits = 0;  // of a number, so that -0 and 0 differ and a NaN equals itself
  bool operator==(const leaf& other) const { return path == other.path && value == other.value && bits == other.bits; }
};

// Lists all values with their paths, such as "arm.q[3]".
class leaf_writer : public types::visitor {
 public:
  void begin_structure() override { open({}); }
  types::step field(const types::field_info& info) override {
    levels_.back().name = std::string(info.name);
    return leaves.size() < max_leaves ? types::step::enter : types::step::stop;
  }
  void end_structure() override { close(); }
  types::step begin_array(std::size_t count) override {
    add("an array of " + std::to_string(count), count);
    open({.is_array = true});
    return types::step::enter;
  }
  void end_array() override { close(); }

  types::step numbers(const types::number_array& all) override {
    const std::string path = next_path();
    std::string shape;
    for (const std::size_t each : all.shape()) shape += "[" + std::to_string(each) + "]";
    leaves.push_back({path, "numbers" + shape, 0});
    for (std::size_t i = 0; i < all.size() && leaves.size() < max_leaves; ++i)
      leaves.push_back(number(all, i, path + index_text(all.shape(), i)));
    return types::step::enter;
  }
  void boolean(bool value) override { add(value ? "true" : "false", 0); }
  void signed_integer(std::int64_t value) override { add(std::to_string(value), 0); }
  void unsigned_integer(std::uint64_t value) override { add(std::to_string(value), 0); }
  void float32(float value) override { add(shortest(value), std::bit_cast<std::uint32_t>(value)); }
  void float64(double value) override { add(shortest(value), std::bit_cast<std::uint64_t>(value)); }
  void text(std::string_view value) override { add('"' + escaped(value) + '"', 0); }
  void bytes(std::span<const std::byte> value) override { add(hex(as_text(value)), 0); }
  void null() override { add("null", 0); }

  std::vector<leaf> leaves;

 private:
  struct level {
    bool is_array = false;
    std::string prefix = {};
    std::string name = {};
    std::size_t next = 0;
  };

  void open(level fresh) {
    // An array's own entry has been written before: its path is that of the value that opened it.
    fresh.prefix = fresh.is_array ? leaves.back().path : next_path();
    levels_.push_back(std::move(fresh));
  }
  void close() { levels_.pop_back(); }

  [[nodiscard]] std::string next_path() {
    if (levels_.empty()) return {};
    level& in = levels_.back();
    if (in.is_array) return in.prefix + "[" + std::to_string(in.next++) + "]";
    return in.prefix.empty() ? in.name : in.prefix + "." + in.name;
  }

  [[nodiscard]] static std::string index_text(std::span<const std::size_t> shape, std::size_t index) {
    std::string text;
    for (std::size_t dimension = shape.size(); dimension-- > 0;) {
      text.insert(0, "[" + std::to_string(index % shape[dimension]) + "]");
      index /= shape[dimension];
    }
    return text;
  }

  [[nodiscard]] static leaf number(const types::number_array& all, std::size_t index, std::string path) {
    switch (all.kind()) {
      case field_kind::boolean: return {std::move(path), all.at<std::uint8_t>(index) != 0 ? "true" : "false", 0};
      case field_kind::float32: {
        const auto value = all.at<float>(index);
        return {std::move(path), shortest(value), std::bit_cast<std::uint32_t>(value)};
      }
      case field_kind::float64: {
        const auto value = all.at<double>(index);
        return {std::move(path), shortest(value), std::bit_cast<std::uint64_t>(value)};
      }
      case field_kind::uint64: return {std::move(path), shortest(all.at<std::uint64_t>(index)), 0};
      default: return {std::move(path), shortest(all.at<std::int64_t>(index)), 0};
    }
  }

  void add(std::string value, std::uint64_t bits) { leaves.push_back({next_path(), std::move(value), bits}); }

  std::vector<level> levels_;
};

[[nodiscard]] std::string byte_difference(std::span<const std::byte> then, std::span<const std::byte> now) {
  const auto [a, b] = std::mismatch(then.begin(), then.end(), now.begin(), now.end());
  const auto at = static_cast<std::size_t>(a - then.begin());
  const auto shown = [at](std::span<const std::byte> sample) {
    const auto rest = sample.subspan(at, std::min(shown_bytes, sample.size() - at));
    return rest.empty() ? std::string("its end") : hex(as_text(rest));
  };
  std::string text = "byte " + std::to_string(at) + " was " + shown(then) + ", is " + shown(now);
  if (then.size() != now.size())
    text += "; " + std::to_string(then.size()) + " bytes were sent, and are " + std::to_string(now.size());
  return text;
}

[[nodiscard]] std::string named(const leaf& of) { return of.path.empty() ? "the value" : "field " + escaped(of.path); }

}  // namespace

std::optional<std::string> first_difference(const types::decoder* type, std::span<const std::byte> then,
                                            std::span<const std::byte> now) {
  leaf_writer before;
  leaf_writer after;
  if (type == nullptr || !type->walk(then, before) || !type->walk(now, after)) return byte_difference(then, now);
  const auto [a, b] =
      std::mismatch(before.leaves.begin(), before.leaves.end(), after.leaves.begin(), after.leaves.end());
  const bool a_ends = a == before.leaves.end();
  const bool b_ends = b == after.leaves.end();
  if (a_ends && b_ends)
    return before.leaves.size() < max_leaves && then.size() == now.size() ? std::nullopt
                                                                          : std::optional(byte_difference(then, now));
  if (a_ends) return named(*b) + " was not there, is " + b->value;
  if (b_ends || a->path != b->path) return named(*a) + " was " + a->value + ", is not there";
  return named(*a) + " was " + a->value + ", is " + b->value;
}

}  // namespace orc::cli
