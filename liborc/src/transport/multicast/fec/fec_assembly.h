// Assembles one message from its shards, in any order. No I/O, no clock: the caller decides how long to wait for
// missing shards.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transport/multicast/fec/fec_code.h"
#include "transport/multicast/fec/fec_packet.h"

namespace orc::detail::multicast {

enum class fec_added : std::uint8_t {
  more,       // shards are still missing
  complete,   // this shard completed the message; returned once
  duplicate,  // adds nothing: it came before, or its block was complete
  mismatch    // of another message: plan, sequence or stamp differ. Nothing changed
};

// Writes data shards straight to their places in the message. Of a block that lacks d data shards it keeps at most
// min(d, parity shards) of parity, until the block is complete.
//
// Memory besides the message, exactly counted by held_bytes(): a block_state per block; and per incomplete block with
// parity, min(d, m) * (shard_bytes + 1), where d is what the block lacked when its first parity came. So it never
// exceeds max_held_bytes(plan): the bytes of all parity shards, and about half a byte per data shard.
//
// Not thread-safe. `into` must be valid until the last add().
class fec_assembly {
 public:
  // Makes an assembly for the message of `first`; `first` itself is still to be added. `into`: exactly
  // first.plan.size() bytes, not read before they are written. Empty: no memory.
  [[nodiscard]] static std::optional<fec_assembly> make(const fec_packet& first, std::span<std::byte> into) noexcept;

  // Adds a packet that decode_fec() returned. The caller knows its channel and sender. Without memory the packet counts
  // as lost (more).
  [[nodiscard]] fec_added add(const fec_packet& packet, fec_code& code) noexcept;

  [[nodiscard]] bool complete() const noexcept { return open_blocks_ == 0; }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return blocks_.size() * sizeof(block_state) + parity_bytes_; }
  [[nodiscard]] static std::size_t max_held_bytes(const fec_plan& plan) noexcept;

 private:
  struct block_state {
    std::bitset<fec_plan::max_shards + 1> have;
    std::unique_ptr<std::byte[]> parity;  // entries of [index of the shard][shard]
    std::uint8_t parity_room = 0;
    std::uint8_t data_count = 0;
    std::uint8_t parity_count = 0;
    bool complete = false;
  };

  fec_assembly(const fec_packet& first, std::span<std::byte> into, std::vector<block_state> blocks) noexcept;
  [[nodiscard]] bool is_of_this(const fec_packet& packet) const noexcept;
  // False: no memory.
  [[nodiscard]] bool keep_parity(block_state& block, const fec_packet& packet) noexcept;
  [[nodiscard]] bool recover(const block_state& block, std::uint16_t number, fec_code& code) noexcept;
  void forget_parity(block_state& block) noexcept;
  [[nodiscard]] std::size_t parity_entry_bytes() const noexcept { return std::size_t{plan_.shard_bytes()} + 1; }

  fec_plan plan_;
  std::uint64_t sequence_;
  std::int64_t stamp_ns_;
  std::span<std::byte> into_;
  std::vector<block_state> blocks_;
  std::uint32_t open_blocks_;
  std::size_t parity_bytes_ = 0;
};

}  // namespace orc::detail::multicast
