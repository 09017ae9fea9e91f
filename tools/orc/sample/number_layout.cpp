#include "tools/orc/sample/number_layout.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tools/orc/text.h"

namespace orc::cli {

namespace {

using kind = number_layout::kind;

constexpr std::size_t max_numbers = 1'000'000;
constexpr std::size_t max_shown = 60;
constexpr std::string_view separators = " \t\r\n,";
constexpr std::array<std::string_view, 10> names{"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"};

// Calls `use` with a zero of the C++ type.
template <class Use>
auto with_type(kind what, Use&& use) {
  switch (what) {
    case kind::i1: return use(std::int8_t{});
    case kind::u1: return use(std::uint8_t{});
    case kind::i2: return use(std::int16_t{});
    case kind::u2: return use(std::uint16_t{});
    case kind::i4: return use(std::int32_t{});
    case kind::u4: return use(std::uint32_t{});
    case kind::i8: return use(std::int64_t{});
    case kind::u8: return use(std::uint64_t{});
    case kind::f4: return use(float{});
    case kind::f8: break;
  }
  return use(double{});
}

std::size_t size_of(kind what) {
  return with_type(what, [](auto number) { return sizeof number; });
}

std::string quoted(std::string_view text) {
  return "'" + escaped(text.substr(0, max_shown)) + (text.size() > max_shown ? "..." : "") + "'";
}

template <class Number>
std::string text_of_number(Number number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, number).ptr};
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [stopped, wrong] = std::from_chars(text.data(), end, number);
  if (wrong != std::errc() || stopped != end) return std::nullopt;
  return number;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(separators), text.size()));
    if (text.empty()) return words;
    words.push_back(text.substr(0, text.find_first_of(separators)));
    text.remove_prefix(words.back().size());
  }
}

}  // namespace

detail::expected<number_layout> number_layout::parse(std::string_view text) {
  number_layout made;
  made.text_ = text;
  std::string_view rest = text;
  for (bool more = true; more;) {
    const std::string_view group = rest.substr(0, rest.find(','));
    more = group.size() < rest.size();
    rest.remove_prefix(group.size() + (more ? 1 : 0));
    const auto name = std::find(names.begin(), names.end(), group.substr(0, 2));
    const bool repeats = group.size() > 3 && group[2] == 'x';
    const auto count = repeats ? number_of<std::size_t>(group.substr(3)) : std::optional(std::size_t{1});
    if (name == names.end() || (group.size() != 2 && !repeats) || !count || *count == 0)
      return error(errc::bad_argument,
                   quoted(group) +
                       " is not i1, u1, i2, u2, i4, u4, i8, u8, f4 or f8, or one of them with a count "
                       "such as f8x7");
    if (*count > max_numbers - made.kinds_.size())
      return error(errc::bad_argument, quoted(text) + " has more than " + std::to_string(max_numbers) + " numbers");
    const auto what = static_cast<kind>(name - names.begin());
    made.kinds_.insert(made.kinds_.end(), *count, what);
    made.bytes_ += *count * size_of(what);
  }
  return made;
}

std::optional<std::vector<std::string>> number_layout::numbers(std::string_view sample) const {
  if (sample.size() != bytes_) return std::nullopt;
  std::vector<std::string> all;
  all.reserve(kinds_.size());
  for (const kind what : kinds_) {
    with_type(what, [&](auto number) {
      std::memcpy(&number, sample.data(), sizeof number);
      sample.remove_prefix(sizeof number);
      all.push_back(text_of_number(number));
    });
  }
  return all;
}

detail::expected<std::string> number_layout::sample(std::string_view numbers) const {
  const auto words = words_of(numbers);
  if (words.size() != kinds_.size())
    return error(errc::bad_argument, quoted(numbers) + " has " + counted(words.size(), "number") + "; " + text_ +
                                         " has " + std::to_string(kinds_.size()));
  std::string bytes;
  bytes.reserve(bytes_);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool fits = with_type(kinds_[i], [&](auto number) {
      const auto read = number_of<decltype(number)>(words[i]);
      if (!read) return false;
      number = *read;
      bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
      return true;
    });
    if (!fits)
      return error(errc::bad_argument, quoted(words[i]) + " is not a number that " +
                                           std::string(names[static_cast<std::size_t>(kinds_[i])]) + " can hold");
  }
  return bytes;
}

}  // namespace orc::cli
