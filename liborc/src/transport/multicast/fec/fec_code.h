// Reed-Solomon over the shards of a block, with ISA-L: makes parity from data, and lost data from parity.
//
// Parity shard p of a block with k data shards is, byte by byte in GF(2^8) with the polynomial 0x11d,
//     sum over j < k of data[j] * 1 / ((k + p) xor j)
// This is ISA-L's Cauchy matrix (gf_gen_cauchy1_matrix). Every square part of a Cauchy matrix is invertible, so any p
// parity shards replace any p data shards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transport/multicast/fec/fec_plan.h"

namespace orc::detail::multicast {

// Keeps the tables of the last plan and its working memory (at most 2 MB, with 128 data and 127 parity shards). So a
// stream of messages of similar size allocates nothing. Not thread-safe.
class fec_code {
 public:
  // `payload`: the whole message; `parity`: parity_shards * shard_bytes, one shard after the other. False: no memory.
  [[nodiscard]] bool encode(const fec_plan& plan, std::span<const std::byte> payload, std::uint16_t block,
                            std::span<std::byte> parity) noexcept;

  struct parity_shard {
    std::uint8_t index;  // among the parity shards of its block, from 0
    const std::byte* bytes;
  };
  // Writes the data shards `lost` of the block to their places in `payload`, which has its other data shards already.
  // Needs as many different parity shards as are lost, at least one. False: no memory; nothing was written.
  [[nodiscard]] bool recover(const fec_plan& plan, std::span<std::byte> payload, std::uint16_t block,
                             std::span<const std::uint8_t> lost, std::span<const parity_shard> parity) noexcept;

 private:
  struct encoder {
    std::uint8_t data = 0;
    std::uint8_t parity = 0;
    std::vector<unsigned char> tables;
  };

  // Null: no memory. Keeps one with k data shards and one with k + 1, which are all that the blocks of a message need.
  [[nodiscard]] unsigned char* encoder_tables(std::uint8_t data, std::uint8_t parity) noexcept;
  [[nodiscard]] unsigned char* recovery_tables(std::uint8_t data, std::span<const std::uint8_t> lost,
                                               std::span<const parity_shard> parity) noexcept;
  // Where a whole data shard can be read. The last one of a message is padded in tail_.
  [[nodiscard]] unsigned char* data_shard(const fec_plan& plan, std::span<const std::byte> payload, std::uint16_t block,
                                          std::uint8_t shard) noexcept;

  std::array<encoder, 2> encoders_;
  std::vector<unsigned char> recovery_;  // tables
  std::vector<unsigned char> matrices_;
  std::vector<unsigned char> tail_;
};

}  // namespace orc::detail::multicast
