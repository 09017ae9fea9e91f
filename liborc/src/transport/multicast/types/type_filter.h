// Drops the samples of other LCM types. An LCM message begins with the fingerprint of its type, 8 bytes big-endian, so
// each message is checked by itself, whoever sent it. Source: Huang, Olson, Moore: LCM, section 3.2.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "orc/result.h"
#include "transport/multicast/datagram/source.h"
#include "wire/described_type.h"

namespace orc::detail::multicast {

// Not thread-safe. Pure: the clock comes as an argument.
class type_filter {
 public:
  // How long a sample that was dropped counts as a problem of the present.
  static constexpr std::chrono::seconds remembered{5};

  // `expected`: the type that is checked; null, or not an lcm type: every sample passes.
  explicit type_filter(const described_type* expected);

  // True when it checks anything.
  [[nodiscard]] explicit operator bool() const noexcept { return fingerprint_.has_value(); }
  // Whether the sample is of the type.
  [[nodiscard]] bool passes(std::span<const std::byte> payload) const noexcept;
  // Remembers a sample that did not pass, for problem().
  void dropped(std::span<const std::byte> payload, const source& from, monotonic::time_point now) noexcept;
  // Forgets one that is too old.
  void expire(monotonic::time_point now) noexcept;
  // The last sample that was dropped, in a sentence: "the fingerprint is 0x… in a message of 127.0.0.1:1234, 0x… here
  // (exlcm.example_t)".
  [[nodiscard]] std::optional<error> problem() const;

 private:
  struct stranger {
    source from;
    std::size_t size = 0;           // of the message
    std::uint64_t fingerprint = 0;  // if it has one
    monotonic::time_point at;
  };
  std::optional<std::uint64_t> fingerprint_;
  std::string name_;  // printable
  std::optional<stranger> last_;
};

}  // namespace orc::detail::multicast
