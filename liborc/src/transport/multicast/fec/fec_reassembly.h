// Incomplete messages with forward error correction. Bounded in messages, bytes and time, as reassembly is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "transport/frame.h"
#include "transport/multicast/datagram/reassembly.h"
#include "transport/multicast/fec/fec_assembly.h"

namespace orc::detail::multicast {

// Not thread-safe.
class fec_reassembly {
 public:
  static constexpr std::size_t max_messages = 8;

  explicit fec_reassembly(std::size_t max_bytes) noexcept : max_bytes_(max_bytes) {}

  // `done` gets the frame of a message that is complete now.
  [[nodiscard]] reassembly::outcome add(const source& from, const fec_packet& packet, monotonic::time_point now,
                                        sample_buffer& done) noexcept;
  // Drops messages without progress for too long.
  void expire(monotonic::time_point now) noexcept;
  // Drops messages of this sender up to this one, because a newer one is complete.
  void forget_through(const source& from, std::uint64_t sequence) noexcept;

  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct partial {
    source from;
    std::uint64_t sequence = 0;
    sample_buffer buffer;
    std::optional<fec_assembly> assembly;
    std::size_t cost = 0;
    monotonic::time_point moved;
  };
  [[nodiscard]] partial* begin(const source& from, const fec_packet& packet) noexcept;
  void drop(std::size_t index) noexcept;

  const std::size_t max_bytes_;
  std::vector<std::unique_ptr<partial>> partials_;  // allocated one by one, because an assembly points to its message
  std::size_t bytes_ = 0;
  fec_code code_;
};

}  // namespace orc::detail::multicast
