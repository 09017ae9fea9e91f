// Cuts a message for forward error correction. Pure arithmetic: no memory, no I/O. Thread-safe: constant.
//
// A message of `size` bytes is n = max(1, ceil(size / shard_bytes)) data shards: shard g of the message is its bytes
// from g * shard_bytes on. Every shard has shard_bytes, except the last one, which has the rest (none, of an empty
// message). Reed-Solomon in GF(2^8) has room for 255 shards. So the shards are dealt out, in order, to blocks = ceil(n
// / 128) blocks of nearly equal size: the first n mod blocks of them have one data shard more than the others. Each
// block of k data shards has m parity shards of shard_bytes each, with the same m for all blocks: any k of the k + m
// give the block back.
//
// So size and shard_bytes alone locate every data shard. Each packet has blocks, k and m to check them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace orc::detail::multicast {

class fec_plan {
 public:
  static constexpr unsigned max_data_shards = 128;  // of a block
  static constexpr unsigned max_shards = 255;       // of a block, with its parity
  // Added to the percentage, which is too little for a small block, where one shard is already a large part.
  static constexpr unsigned extra_parity = 2;

  // The plan of a sender: m = ceil(k * percent / 100) + extra_parity for the largest k, as far as it fits. Makes the
  // shards as small as their number allows, so that the last one needs hardly any padding for the parity. Empty: the
  // message does not fit (4 GB, 65,535 blocks), or a shard would have no bytes or more than 65,535.
  [[nodiscard]] static std::optional<fec_plan> make(std::uint64_t size, std::size_t shard_bytes,
                                                    unsigned percent) noexcept;
  // The plan of a packet. Empty: these numbers are no plan.
  [[nodiscard]] static std::optional<fec_plan> of(std::uint32_t size, std::uint16_t shard_bytes, std::uint16_t blocks,
                                                  std::uint8_t parity) noexcept;
  // An empty message without parity.
  fec_plan() noexcept = default;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint16_t shard_bytes() const noexcept { return shard_bytes_; }
  [[nodiscard]] std::uint16_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::uint8_t parity_shards() const noexcept { return parity_; }
  // 1…128. Block 0 has the most.
  [[nodiscard]] std::uint8_t data_shards(std::uint16_t block) const noexcept {
    return static_cast<std::uint8_t>(small_block_ + (block < larger_blocks_ ? 1 : 0));
  }

  // Of a data shard: where in the message it begins, and how many bytes of the message it has.
  [[nodiscard]] std::size_t offset(std::uint16_t block, std::uint8_t shard) const noexcept;
  [[nodiscard]] std::size_t data_bytes(std::uint16_t block, std::uint8_t shard) const noexcept;
  // How many bytes of a shard are sent; any shard.
  [[nodiscard]] std::size_t sent_bytes(std::uint16_t block, std::uint8_t shard) const noexcept {
    return shard < data_shards(block) ? data_bytes(block, shard) : shard_bytes_;
  }

  // The order of sending: shard 0 of every block, then shard 1 of every block…; data first, parity last. So consecutive
  // losses hit every block a little.
  struct position {
    std::uint16_t block;
    std::uint8_t shard;
  };
  [[nodiscard]] std::uint32_t datagrams() const noexcept;
  [[nodiscard]] position at(std::uint32_t datagram) const noexcept;

  friend bool operator==(const fec_plan&, const fec_plan&) noexcept = default;

 private:
  fec_plan(std::uint32_t size, std::uint16_t shard_bytes, std::uint32_t data_shards, std::uint16_t blocks) noexcept;

  std::uint32_t size_ = 0;
  std::uint16_t shard_bytes_ = 1;
  std::uint16_t blocks_ = 1;
  std::uint16_t larger_blocks_ = 0;  // have one data shard more
  std::uint8_t small_block_ = 1;     // data shards of the others
  std::uint8_t parity_ = 0;
};

}  // namespace orc::detail::multicast
