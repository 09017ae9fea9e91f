#include "transport/multicast/datagram/lcm_datagram.h"

#include <algorithm>
#include <cstring>

#include "transport/multicast/datagram/big_endian.h"

namespace orc::detail::lcm {

namespace {

// Takes the channel and its NUL off the front. False: there is none, or it is too long.
[[nodiscard]] bool take_channel(std::span<const std::byte>& rest, std::string_view& channel) noexcept {
  const auto searched = rest.first(std::min(rest.size(), max_channel_length + 1));
  const auto nul = std::find(searched.begin(), searched.end(), std::byte{0});
  if (nul == searched.end()) return false;
  const auto length = static_cast<std::size_t>(nul - searched.begin());
  channel = {reinterpret_cast<const char*>(rest.data()), length};
  rest = rest.subspan(length + 1);
  return true;
}

[[nodiscard]] std::optional<datagram> decode_fragment(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < fragment_header) return std::nullopt;
  datagram d{.number = get_big_endian<std::uint32_t>(bytes.data() + 4),
             .size = get_big_endian<std::uint32_t>(bytes.data() + 8),
             .offset = get_big_endian<std::uint32_t>(bytes.data() + 12),
             .fragment = get_big_endian<std::uint16_t>(bytes.data() + 16),
             .fragments = get_big_endian<std::uint16_t>(bytes.data() + 18),
             .channel = {},
             .payload = bytes.subspan(fragment_header)};
  if (d.fragment >= d.fragments) return std::nullopt;
  if (d.fragment == 0 && (!take_channel(d.payload, d.channel) || d.offset != 0)) return std::nullopt;
  // A fragment must be a non-empty part of the message, so that a message has no more fragments than bytes.
  if (d.payload.empty() || d.offset > d.size || d.payload.size() > d.size - d.offset) return std::nullopt;
  return d;
}

}  // namespace

std::optional<datagram> decode(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < single_header) return std::nullopt;
  const auto magic = get_big_endian<std::uint32_t>(bytes.data());
  if (magic == magic_fragment) return decode_fragment(bytes);
  if (magic != magic_single) return std::nullopt;
  datagram d;
  d.number = get_big_endian<std::uint32_t>(bytes.data() + 4);
  d.payload = bytes.subspan(single_header);
  if (!take_channel(d.payload, d.channel)) return std::nullopt;
  d.size = static_cast<std::uint32_t>(d.payload.size());
  return d;
}

layout::layout(std::size_t channel_size, std::size_t message_size, std::size_t max_bytes) noexcept
    : size_(message_size) {
  const std::size_t name = channel_size + 1;
  if (single_header + name + message_size <= max_bytes) {
    first_ = message_size;
    datagrams_ = 1;
    return;
  }
  if (message_size > UINT32_MAX || max_bytes <= fragment_header + name) return;
  further_ = max_bytes - fragment_header;
  first_ = std::min(further_ - name, message_size);
  const std::size_t count = 1 + (message_size - first_ + further_ - 1) / further_;
  if (count <= max_fragments) datagrams_ = count;
}

std::size_t layout::largest(std::size_t channel_size, std::size_t max_bytes) noexcept {
  const std::size_t all = max_fragments * (max_bytes - fragment_header) - (channel_size + 1);
  return std::min<std::size_t>(all, UINT32_MAX);
}

layout::part layout::payload_of(std::size_t i) const noexcept {
  if (i == 0) return {0, first_};
  const std::size_t offset = first_ + (i - 1) * further_;
  return {offset, std::min(further_, size_ - offset)};
}

void write_head(multicast::datagram_head& to, const layout& cut, std::size_t i, std::uint32_t number,
                std::size_t message_size, std::string_view channel) noexcept {
  std::byte* const at = to.bytes.data();
  put_big_endian(at + 4, number);
  if (cut.datagrams() == 1) {
    put_big_endian(at, magic_single);
    to.size = single_header;
  } else {
    put_big_endian(at, magic_fragment);
    put_big_endian(at + 8, static_cast<std::uint32_t>(message_size));
    put_big_endian(at + 12, static_cast<std::uint32_t>(cut.payload_of(i).offset));
    put_big_endian(at + 16, static_cast<std::uint16_t>(i));
    put_big_endian(at + 18, static_cast<std::uint16_t>(cut.datagrams()));
    to.size = fragment_header;
  }
  if (i != 0) return;
  std::memcpy(at + to.size, channel.data(), channel.size());
  to.size += channel.size();
  to.bytes[to.size++] = std::byte{0};
}

}  // namespace orc::detail::lcm
