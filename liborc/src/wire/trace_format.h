// The bytes of a trace: schemas/TRACE.md. A trace is the log of what each call of ORC returned to one process.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orc::wire {

static_assert(std::endian::native == std::endian::little, "a trace is written in the byte order of its format");

inline constexpr std::string_view trace_magic = "ORCTRACE";
inline constexpr std::uint32_t trace_version = 1;
inline constexpr std::size_t trace_page = 4096;  // of the file's start; events follow
// From the begin of a trace to its last event: a year. A replay at the original pace waits as long.
inline constexpr std::int64_t trace_longest_ns = std::int64_t{366} * 24 * 3600 * 1'000'000'000;

// What an event is. Those below first_call are no calls.
enum class trace_kind : std::uint8_t {
  type = 1,       // a type description, once per hash; sequence: the hash
  readiness = 2,  // before a receive of the same thread; sequence: bit n: descriptor n was readable before it
  unseen = 3,     // a call whose result is not in the trace; text: its name
  first_call = 16,
  participant = 16,  // constructed; number: its own from here on
  participant_end = 17,
  register_topic = 18,  // bytes: topic; number: the publication's, 0: there is none; sequence: the type's hash
  request_topic = 19,   // the same with the subscription's
  unregister_topic = 20,
  release_topic = 21,
  broker_endpoint = 22,
  receive = 32,     // bytes: the sample
  descriptor = 33,  // sequence: its ordinal, for readiness
  connected = 34,
  wait_connected = 35,
  link = 36,  // bytes: nothing, or an orc::prediction_info
  check_type = 37,
  send = 48,  // bytes: the sample
  loan = 49,  // sequence: its size
  readers = 50,
  wait_readers = 51,
  age = 64,   // sequence: what the call returned
  clock = 65  // the same
};

[[nodiscard]] constexpr bool is_call(trace_kind kind) noexcept { return kind >= trace_kind::first_call; }
// Returns "recv", "send", ...; empty: this format has no such kind.
[[nodiscard]] std::string_view name_of(trace_kind kind) noexcept;

// The start of the file.
struct trace_start {
  char magic[8];
  std::uint32_t version;
  std::uint32_t page;
  std::int64_t monotonic_ns;  // when tracing began, on both clocks
  std::int64_t realtime_ns;
  std::uint64_t pid;
  std::uint32_t stopped;  // errno that ended tracing before the program ended; 0: none
  std::uint32_t command_bytes;
  char liborc[16];  // its version, padded with NUL
  // The command line follows, each word with a NUL.
};
static_assert(sizeof(trace_start) == 64);

// An event begins at a multiple of 8 with this, then come `bytes` and `text`, then padding.
struct trace_head {
  static constexpr std::uint64_t open = std::uint64_t{1} << 63;  // in word: not complete yet
  static constexpr std::uint64_t max_length = std::uint64_t{1} << 40;

  std::uint64_t word = 0;  // length of the whole event, a multiple of 8. Written first with `open`, and last without
  std::int64_t at_ns = 0;  // monotonic clock
  trace_kind kind{};
  std::uint8_t status = 0;  // errc
  std::uint16_t flags = 0;  // receive: 1 for recv_next; link: connected, transport << 8
  std::uint32_t thread = 0;
  std::uint32_t number = 0;  // participant, publication or subscription
  std::uint32_t text_bytes = 0;
  std::uint64_t size = 0;      // of the bytes
  std::uint64_t sequence = 0;  // or what the call returned
  std::int64_t stamp_ns = 0;
  std::uint64_t missed = 0;
};
static_assert(sizeof(trace_head) == 64);

[[nodiscard]] constexpr std::uint64_t trace_length(std::uint64_t size, std::uint64_t text_bytes) noexcept {
  return (sizeof(trace_head) + size + text_bytes + 7) & ~std::uint64_t{7};
}

}  // namespace orc::wire
