// Makes keys of the bytes that a terminal sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orc::terminal {

// Length of the escape sequence at the start of `sent`, which begins with Escape; 0: its end has not come. 1: Escape
// itself, before something that is no sequence.
[[nodiscard]] std::size_t sequence_length(std::string_view sent) noexcept;

struct key_press {
  enum class kind : std::uint8_t {
    character,  // `text` has it
    control,    // with Ctrl; `text` has the letter, in lower case
    enter,
    escape,
    tab,
    back_tab,
    backspace,
    remove,
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end
  };
  kind what = kind::character;
  std::string text = {};

  bool operator==(const key_press&) const = default;
};

class key_reader {
 public:
  // Bytes that came. What is no key is dropped.
  void add(std::string_view bytes) { sent_ += bytes; }

  // The next key. Nothing: no whole key is there.
  [[nodiscard]] std::optional<key_press> next();

  // Whether an Escape waits, which may be the key or the start of a sequence.
  [[nodiscard]] bool in_doubt() const noexcept { return !sent_.empty(); }
  // Nothing more came for a while: it is the key.
  [[nodiscard]] std::optional<key_press> settle();

 private:
  std::string sent_;
};

}  // namespace orc::terminal
