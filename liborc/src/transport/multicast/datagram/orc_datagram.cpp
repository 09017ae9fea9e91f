#include "transport/multicast/datagram/orc_datagram.h"

#include <algorithm>
#include <cstring>

#include "transport/multicast/datagram/big_endian.h"
#include "transport/multicast/datagram/lcm_datagram.h"

namespace orc::detail::multicast {

namespace {

constexpr std::uint8_t format_version = 2;
constexpr std::uint8_t flag_registered = 1;
constexpr std::uint8_t flag_keeps_no_last = 2;
constexpr std::uint8_t flag_smaller = 4;
constexpr std::size_t at_publication = 8;
constexpr std::size_t at_link = 24;
constexpr std::size_t at_type = 32;  // announce: in the link's second half, where older readers look at nothing
constexpr std::size_t at_sequence = 40;
constexpr std::size_t at_rest = orc_datagram::header;

void put_id(std::byte* at, const wire::id& id) noexcept {
  put_big_endian(at, id.hi);
  put_big_endian(at + 8, id.lo);
}

[[nodiscard]] wire::id get_id(const std::byte* at) noexcept {
  return {get_big_endian<std::uint64_t>(at), get_big_endian<std::uint64_t>(at + 8)};
}

[[nodiscard]] bool decode_cookie(std::span<const std::byte> rest, orc_datagram& d) noexcept {
  if (rest.size() != 8) return false;
  d.cookie = get_big_endian<std::uint64_t>(rest.data());
  return true;
}

[[nodiscard]] bool decode_report(std::span<const std::byte> rest, orc_datagram& d) noexcept {
  if (rest.size() < 18 || !decode_cookie(rest.first(8), d)) return false;
  rest = rest.subspan(8);
  d.wanted = get_big_endian<std::uint64_t>(rest.data());
  d.gap_count = get_big_endian<std::uint16_t>(rest.data() + 8);
  if (d.gap_count > orc_datagram::max_gaps || rest.size() != 10 + 4 * d.gap_count) return false;
  for (std::size_t i = 0; i < d.gap_count; ++i) {
    const std::byte* const at = rest.data() + 10 + 4 * i;
    d.gaps[i] = {get_big_endian<std::uint16_t>(at), get_big_endian<std::uint16_t>(at + 2)};
  }
  return true;
}

[[nodiscard]] bool decode_type(std::span<const std::byte> rest, orc_datagram& d) noexcept {
  if (rest.size() < type_header - orc_datagram::header) return false;
  d.type = get_big_endian<std::uint64_t>(rest.data());
  d.size = get_big_endian<std::uint32_t>(rest.data() + 8);
  d.offset = get_big_endian<std::uint32_t>(rest.data() + 12);
  d.inside = rest.subspan(type_header - orc_datagram::header);
  if (d.size > max_type_bytes) return d.offset == 0 && d.inside.empty();
  return d.inside.size() <= max_type_part && d.offset < d.size && d.inside.size() <= d.size - d.offset &&
         !d.inside.empty();
}

}  // namespace

std::size_t encode(const orc_datagram& d, std::span<std::byte, max_orc_datagram> to) noexcept {
  std::byte* const at = to.data();
  std::fill_n(at, at_rest, std::byte{0});
  put_big_endian(at, magic);
  put_big_endian(at + 4, format_version);
  put_big_endian(at + 5, static_cast<std::uint8_t>(d.kind));
  put_big_endian(
      at + 6, static_cast<std::uint8_t>((d.registered ? flag_registered : 0) | (d.keeps_last ? 0 : flag_keeps_no_last) |
                                        (d.smaller ? flag_smaller : 0)));
  put_big_endian(at + 7, static_cast<std::uint8_t>(d.channel.size()));
  put_id(at + at_publication, d.publication);
  put_id(at + at_link, d.link);
  put_big_endian(at + at_sequence, d.sequence);
  std::size_t size = at_rest;
  if (d.kind == datagram_kind::announce) {
    put_big_endian(at + at_link, d.reports_at);
    put_big_endian(at + at_type, d.type);
    std::memcpy(at + size, d.channel.data(), d.channel.size());
    size += d.channel.size();
  } else if (d.kind == datagram_kind::status || d.kind == datagram_kind::goodbye) {
    put_big_endian(at + size, d.cookie);
    size += 8;
  } else if (d.kind == datagram_kind::report) {
    put_big_endian(at + size, d.cookie);
    put_big_endian(at + size + 8, d.wanted);
    put_big_endian(at + size + 16, static_cast<std::uint16_t>(d.gap_count));
    size += 18;
    for (std::size_t i = 0; i < d.gap_count; ++i, size += 4) {
      put_big_endian(at + size, d.gaps[i].first);
      put_big_endian(at + size + 2, d.gaps[i].count);
    }
  } else if (d.kind == datagram_kind::repair) {
    put_big_endian(at + size, d.stamp_ns);
    size += 8;
  } else if (d.kind == datagram_kind::ask_type) {
    put_big_endian(at + size, d.cookie);
    put_big_endian(at + size + 8, d.type);
    put_big_endian(at + size + 16, d.offset);
    size = ask_type_size;
  } else if (d.kind == datagram_kind::type) {
    put_big_endian(at + size, d.type);
    put_big_endian(at + size + 8, d.size);
    put_big_endian(at + size + 12, d.offset);
    size = type_header;
  }
  return size;
}

std::optional<orc_datagram> decode(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < orc_datagram::header) return std::nullopt;
  const std::byte* const at = bytes.data();
  if (get_big_endian<std::uint32_t>(at) != magic || get_big_endian<std::uint8_t>(at + 4) != format_version)
    return std::nullopt;
  orc_datagram d;
  d.kind = static_cast<datagram_kind>(get_big_endian<std::uint8_t>(at + 5));
  const auto flags = get_big_endian<std::uint8_t>(at + 6);
  d.registered = (flags & flag_registered) != 0;
  d.keeps_last = (flags & flag_keeps_no_last) == 0;
  d.smaller = (flags & flag_smaller) != 0;
  d.publication = get_id(at + at_publication);
  d.link = get_id(at + at_link);
  d.sequence = get_big_endian<std::uint64_t>(at + at_sequence);
  const auto rest = bytes.subspan(at_rest);
  const std::size_t channel = get_big_endian<std::uint8_t>(at + 7);
  switch (d.kind) {
    case datagram_kind::announce:
      if (channel > lcm::max_channel_length || rest.size() != channel) return std::nullopt;
      d.channel = {reinterpret_cast<const char*>(rest.data()), channel};
      d.reports_at = get_big_endian<std::uint16_t>(at + at_link);
      d.type = get_big_endian<std::uint64_t>(at + at_type);
      d.link = {};
      return d;
    case datagram_kind::status:
      if (!decode_cookie(rest.first(std::min<std::size_t>(rest.size(), 8)), d)) return std::nullopt;
      return d;
    case datagram_kind::goodbye:
      if (!decode_cookie(rest, d)) return std::nullopt;
      return d;
    case datagram_kind::report:
      if (!decode_report(rest, d)) return std::nullopt;
      return d;
    case datagram_kind::repair:
      if (rest.size() < 8) return std::nullopt;
      d.stamp_ns = get_big_endian<std::int64_t>(rest.data());
      d.inside = rest.subspan(8);
      return d;
    case datagram_kind::ask_type:
      if (bytes.size() != ask_type_size) return std::nullopt;
      d.cookie = get_big_endian<std::uint64_t>(rest.data());
      d.type = get_big_endian<std::uint64_t>(rest.data() + 8);
      d.offset = get_big_endian<std::uint32_t>(rest.data() + 16);
      return d;
    case datagram_kind::type:
      if (!decode_type(rest, d)) return std::nullopt;
      return d;
  }
  return std::nullopt;
}

}  // namespace orc::detail::multicast
