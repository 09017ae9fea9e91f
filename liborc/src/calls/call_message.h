// The messages of calls as bytes: schemas/PROTOCOL.md, "Calls". Samples of two topics per client carry them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orc/calls/call_error.h"
#include "orc/type_description.h"

namespace orc::detail {

enum class call_kind : std::uint8_t {
  // client -> server
  hello = 1,
  request = 2,
  cancel = 3,
  feedback_taken = 4,
  bye = 5,  // also server -> client
  open_calls = 6,
  // server -> client
  welcome = 16,
  accepted = 17,
  refused = 18,
  feedback = 19,
  result = 20,
  error = 21,
  running = 22
};

inline constexpr std::size_t call_header_size = 32;
inline constexpr std::uint8_t call_version = 1;
// Messages up to this size are written on the stack and copied by send(), which is faster than a loan.
inline constexpr std::size_t small_message = 2048;

struct call_header {
  call_kind kind = {};
  std::uint64_t id = 0;
  std::uint64_t remaining_ns = 0;
  std::uint64_t type = 0;

  bool operator==(const call_header&) const = default;
};

// A message that was read; the payload refers to its bytes.
struct call_message {
  call_header header;
  std::span<const std::byte> payload;
};

// Writes the header to the first call_header_size bytes of `to`.
void write_header(const call_header& header, std::byte* to) noexcept;
// A message with this payload.
[[nodiscard]] std::vector<std::byte> encode(const call_header& header, std::span<const std::byte> payload = {});
// Nothing: too short, an unknown kind or version, or reserved bytes that are not zero.
[[nodiscard]] std::optional<call_message> read_message(std::span<const std::byte> bytes) noexcept;

// The version of a message that read_message() refused for it; 0: the reason was another one.
[[nodiscard]] std::uint8_t other_version(std::span<const std::byte> bytes) noexcept;

// The types of requests and replies: payload of hello.
struct call_types {
  type_description request;
  type_description reply;

  bool operator==(const call_types&) const = default;
};
[[nodiscard]] std::vector<std::byte> encode(const call_types& types);
[[nodiscard]] std::optional<call_types> read_types(std::span<const std::byte> payload);

// Payload of error and refused. Longer texts are cut.
inline constexpr std::size_t max_error_text = 4096;
inline constexpr std::size_t max_exception_type = 255;
// At most so many bytes of a text in UTF-8: whole characters.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t most) noexcept;
[[nodiscard]] std::vector<std::byte> encode(const call_error& error);
[[nodiscard]] std::optional<call_error> read_error(std::span<const std::byte> payload);

// Ids of open calls in rising order: payload of running.
inline constexpr std::size_t max_ids = 4096;
[[nodiscard]] std::vector<std::byte> encode(std::span<const std::uint64_t> ids);
[[nodiscard]] std::optional<std::vector<std::uint64_t>> read_ids(std::span<const std::byte> payload);

// ---- names ----

// NAME/.call/0123456789abcdef and NAME/.reply/0123456789abcdef.
[[nodiscard]] std::string call_topic(std::string_view service, std::uint64_t client);
[[nodiscard]] std::string reply_topic(std::string_view service, std::uint64_t client);
// The client of a call topic. Nothing: not one of this service.
[[nodiscard]] std::optional<std::uint64_t> client_of(std::string_view topic, std::string_view service) noexcept;

}  // namespace orc::detail
