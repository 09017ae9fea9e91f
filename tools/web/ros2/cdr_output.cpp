#include "tools/web/ros2/cdr_output.h"

#include <algorithm>

#include "base/text/printable.h"

namespace orc::web {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

// Copies the numbers and reverses the bytes of each.
template <class T>
void copy_reversed(std::span<const std::byte> from, std::byte* to) noexcept {
  for (std::size_t at = 0; at + sizeof(T) <= from.size(); at += sizeof(T)) {
    for (std::size_t i = 0; i < sizeof(T); ++i) to[at + i] = from[at + sizeof(T) - 1 - i];
  }
}

// Bytes of the text with its replacements.
std::size_t valid_size(std::string_view text) noexcept {
  std::size_t size = 0;
  while (!text.empty()) {
    const std::size_t character = detail::utf8_length(text);
    size += character == 0 ? replacement.size() : character;
    text.remove_prefix(std::max<std::size_t>(character, 1));
  }
  return size;
}

}  // namespace

void cdr_output::numbers(const types::number_array& all) {
  const auto from = all.bytes();
  if (from.empty()) return;  // an empty sequence is not aligned
  const std::size_t size = types::size_of(all.kind());
  std::byte* to = aligned(size, from.size());
  if (to == nullptr) return;
  if (all.kind() == field_kind::boolean) {
    std::transform(from.begin(), from.end(), to, [](std::byte each) { return std::byte{each != std::byte{0}}; });
  } else if (size == 1 || all.swapped() == (std::endian::native == std::endian::big)) {
    std::memcpy(to, from.data(), from.size());
  } else if (size == 2) {
    copy_reversed<std::uint16_t>(from, to);
  } else if (size == 4) {
    copy_reversed<std::uint32_t>(from, to);
  } else {
    copy_reversed<std::uint64_t>(from, to);
  }
}

void cdr_output::text(std::string_view value) {
  const std::size_t size = valid_size(value);
  number(static_cast<std::uint32_t>(size + 1));
  std::byte* to = aligned(1, size + 1);
  if (to == nullptr) return;
  if (size == value.size()) {  // nothing to replace, or as many bytes: none, for a replacement has more
    if (size != 0) std::memcpy(to, value.data(), size);
    return;
  }
  while (!value.empty()) {
    const std::size_t character = detail::utf8_length(value);
    const auto written = character == 0 ? replacement : value.substr(0, character);
    std::memcpy(to, written.data(), written.size());
    to += written.size();
    value.remove_prefix(std::max<std::size_t>(character, 1));
  }
}

}  // namespace orc::web
