// Where in a sample a walk or an encoder is, for the messages of errors. Never allocates until it is asked for the
// text.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "orc/types/decoder.h"

namespace orc::types::detail {

class trail {
 public:
  // The name lives until pop(). Places deeper than the limit are counted, and not shown.
  void push(std::string_view field) noexcept { put({field, 0, false}); }
  void push(std::size_t element) noexcept { put({{}, element, true}); }
  void pop() noexcept { --size_; }

  // Structures and arrays around this place. Returns false when they are too many; leave() in any case.
  [[nodiscard]] bool enter() noexcept { return ++depth_ <= max_depth; }
  void leave() noexcept { --depth_; }

  // "`arm.q[3]`", or "the sample" at the root. Printable.
  [[nodiscard]] std::string text() const;

 private:
  struct place {
    std::string_view field;
    std::size_t element;
    bool is_element;
  };
  void put(const place& here) noexcept {
    if (size_ < places_.size()) places_[size_] = here;
    ++size_;
  }

  std::array<place, 3 * max_depth> places_;  // a field and elements of several dimensions per level; set up to size_
  std::size_t size_ = 0;
  std::size_t depth_ = 0;
};

// Returns the text with all but printable ASCII and UTF-8 letters replaced, at most 255 bytes of it: schemas and JSON
// come from others.
std::string shown(std::string_view text);

// "`a`, `b`, `c` and 12 more"
class name_list {
 public:
  void add(std::string_view name);
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t most = 12;
  std::string text_ = {};
  std::size_t count_ = 0;
};

}  // namespace orc::types::detail
