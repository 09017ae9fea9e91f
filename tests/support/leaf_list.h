// The values of a sample as one list, so that two encodings of one type can be compared.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/printable.h"
#include "orc/types/decoder.h"
#include "orc/types/visitor.h"

namespace orc::test {

// One text per value: the places of its field and of those around it, its kind, and the value. "0.2 u 5": the third
// field of the structure in the first field has the unsigned number 5. Elements of arrays follow each other; their
// dimensions do not show, nor do names.
class leaf_list final : public types::visitor {
 public:
  [[nodiscard]] const std::vector<std::string>& leaves() const noexcept { return leaves_; }

  void begin_structure() override { places_.push_back(0); }
  types::step field(const types::field_info& info) override {
    if (info.name == "structure_needs_at_least_one_member") return types::step::skip;
    ++places_.back();
    return types::step::enter;
  }
  void end_structure() override {
    add("end", "");
    places_.pop_back();
  }
  types::step numbers(const types::number_array& all) override {
    for (std::size_t i = 0; i < all.size(); ++i) {
      switch (all.kind()) {
        case field_kind::boolean: boolean(all.at<bool>(i)); break;
        case field_kind::float32: float32(all.at<float>(i)); break;
        case field_kind::float64: float64(all.at<double>(i)); break;
        case field_kind::uint8:
        case field_kind::uint16:
        case field_kind::uint32:
        case field_kind::uint64: unsigned_integer(all.at<std::uint64_t>(i)); break;
        default: signed_integer(all.at<std::int64_t>(i));
      }
    }
    return types::step::enter;
  }
  void boolean(bool value) override { add("b", value ? "true" : "false"); }
  void signed_integer(std::int64_t value) override { add("i", std::to_string(value)); }
  void unsigned_integer(std::uint64_t value) override { add("u", std::to_string(value)); }
  // Bits: NaN equals NaN, and 0 is not -0.
  void float32(float value) override { add("f", std::to_string(std::bit_cast<std::uint32_t>(value))); }
  void float64(double value) override { add("d", std::to_string(std::bit_cast<std::uint64_t>(value))); }
  // Bytes that are not UTF-8 are U+FFFD.
  void text(std::string_view value) override {
    std::string valid;
    while (!value.empty()) {
      const std::size_t length = detail::utf8_length(value);
      valid += length == 0 ? std::string_view("\xef\xbf\xbd") : value.substr(0, length);
      value.remove_prefix(length == 0 ? 1 : length);
    }
    add("t", valid);
  }

 private:
  void add(std::string_view kind, std::string_view value) {
    std::string made;
    for (const std::size_t place : places_) made += (made.empty() ? "" : ".") + std::to_string(place);
    made += ' ';
    made += kind;
    made += ' ';
    made += value;
    leaves_.push_back(std::move(made));
  }

  std::vector<std::size_t> places_;
  std::vector<std::string> leaves_;
};

}  // namespace orc::test
