// The messages between ORC's ends of a multicast topic besides LCM's datagrams. Their magic is their own ("ORCM"), and
// LCM programs ignore them. schemas/PROTOCOL.md, "Multicast", has the bytes and the order of events. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "wire/control.h"

namespace orc::detail::multicast {

inline constexpr std::uint32_t magic = 0x4f52434d;  // "ORCM"

enum class datagram_kind : std::uint8_t {
  announce = 1,  // publication to the group: the publication that sends that channel from this address
  status = 2,    // publication to one subscription: its newest sample; asks for a report. Zeros may follow: a trial
  report = 3,    // subscription to the publication: what it has, and what it lacks
  goodbye = 4,   // subscription to the publication: wants no more
  repair = 5,    // publication to one subscription: an LCM datagram that it lacks, inside
  ask_type = 6,  // subscription to the publication: wants the description of its type, from an offset on
  type = 7       // publication to one subscription: a part of that description, inside
};

// The same for all kinds. Those that do not use a field leave it 0.
struct orc_datagram {
  static constexpr std::size_t header = 48;
  static constexpr std::size_t max_gaps = 32;

  datagram_kind kind = datagram_kind::announce;
  bool registered = false;  // announce: with a broker, which reports it to subscribers
  bool keeps_last = true;   // announce: a subscription that joins gets the last sample
  bool smaller = false;     // announce: larger datagrams did not reach some subscription
  wire::id publication;
  wire::id link;               // of the subscription's end, which draws it; all kinds but announce
  std::uint64_t sequence = 0;  // announce: of the newest sample, status: of the newest for that subscription, 0: none;
                               // report: of the newest that is complete; repair: of the sample inside
  std::string_view channel = {};  // announce
  std::uint16_t reports_at = 0;   // announce: port at the sender's address that takes reports
  std::uint64_t cookie = 0;  // status: for the next reports; report, goodbye, ask_type: of the last status, 0: none
                             // yet

  std::uint64_t type = 0;    // announce, ask_type, type: hash of the description; 0: untyped
  std::uint32_t offset = 0;  // ask_type, type: in the description as type_parts.h writes it
  std::uint32_t size = 0;    // type: of all of it; more than max_type_bytes: it is not sent

  // report: fragments that are missing of sample `wanted` (0: of none).
  struct gap {
    std::uint16_t first = 0;
    std::uint16_t count = 0;
    bool operator==(const gap&) const = default;
  };
  std::uint64_t wanted = 0;
  std::array<gap, max_gaps> gaps{};
  std::size_t gap_count = 0;

  // repair; type has `inside` as well
  std::int64_t stamp_ns = 0;
  std::span<const std::byte> inside = {};
};

// How many bytes one report may ask for and get.
inline constexpr std::size_t max_repaired = 256 * 1024;

// The bytes in front of the datagram that a repair carries.
inline constexpr std::size_t repair_header = orc_datagram::header + 8;
inline constexpr std::size_t status_size = orc_datagram::header + 8;
inline constexpr std::size_t min_report_bytes = orc_datagram::header + 18;
inline constexpr std::size_t ask_type_size = orc_datagram::header + 20;
inline constexpr std::size_t type_header = orc_datagram::header + 16;  // in front of the part that it carries
inline constexpr std::size_t max_orc_datagram = min_report_bytes + 4 * orc_datagram::max_gaps;
static_assert(status_size <= min_report_bytes, "the answer to a report must not be longer: its address may be forged");
static_assert(status_size <= ask_type_size, "the same");

// Descriptions of types over multicast: the longest, the part in one datagram, and the datagrams that answer one
// ask_type.
inline constexpr std::size_t max_type_bytes = 64 * 1024;
inline constexpr std::size_t max_type_part = 1200 - type_header;
inline constexpr std::size_t type_parts_at_once = 16;

// Writes everything but what is inside a repair or a type, which goes behind it. Returns the bytes written.
[[nodiscard]] std::size_t encode(const orc_datagram& d, std::span<std::byte, max_orc_datagram> to) noexcept;
// Empty when it is not such a datagram of this version. Points into `bytes`.
[[nodiscard]] std::optional<orc_datagram> decode(std::span<const std::byte> bytes) noexcept;

}  // namespace orc::detail::multicast
