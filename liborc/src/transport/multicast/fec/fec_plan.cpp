#include "transport/multicast/fec/fec_plan.h"

#include <algorithm>
#include <cassert>
#include <limits>

namespace orc::detail::multicast {

namespace {

[[nodiscard]] constexpr std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) noexcept { return (a + b - 1) / b; }

[[nodiscard]] constexpr std::uint64_t shards_of(std::uint64_t size, std::uint64_t shard_bytes) noexcept {
  return std::max<std::uint64_t>(1, divided_up(size, shard_bytes));
}

template <class T>
inline constexpr std::uint64_t most = std::numeric_limits<T>::max();

}  // namespace

fec_plan::fec_plan(std::uint32_t size, std::uint16_t shard_bytes, std::uint32_t data_shards,
                   std::uint16_t blocks) noexcept
    : size_(size),
      shard_bytes_(shard_bytes),
      blocks_(blocks),
      larger_blocks_(static_cast<std::uint16_t>(data_shards % blocks)),
      small_block_(static_cast<std::uint8_t>(data_shards / blocks)) {}

std::optional<fec_plan> fec_plan::make(std::uint64_t size, std::size_t shard_bytes, unsigned percent) noexcept {
  if (size > most<std::uint32_t> || shard_bytes == 0 || shard_bytes > most<std::uint16_t>) return std::nullopt;
  const std::uint64_t shards = shards_of(size, shard_bytes);
  const std::uint64_t blocks = divided_up(shards, max_data_shards);
  if (blocks > most<std::uint16_t>) return std::nullopt;
  const auto smallest = static_cast<std::uint16_t>(std::max<std::uint64_t>(1, divided_up(size, shards)));
  fec_plan plan(static_cast<std::uint32_t>(size), smallest, static_cast<std::uint32_t>(shards),
                static_cast<std::uint16_t>(blocks));
  const std::uint64_t data = plan.data_shards(0);
  plan.parity_ = static_cast<std::uint8_t>(
      std::min(divided_up(data * percent, 100) + extra_parity, std::uint64_t{max_shards} - data));
  return plan;
}

std::optional<fec_plan> fec_plan::of(std::uint32_t size, std::uint16_t shard_bytes, std::uint16_t blocks,
                                     std::uint8_t parity) noexcept {
  if (shard_bytes == 0) return std::nullopt;
  const std::uint64_t shards = shards_of(size, shard_bytes);
  // Exactly this number, so that a receiver keeps little per block compared with the message.
  if (blocks != divided_up(shards, max_data_shards)) return std::nullopt;
  fec_plan plan(size, shard_bytes, static_cast<std::uint32_t>(shards), blocks);
  if (plan.data_shards(0) + parity > int{max_shards}) return std::nullopt;
  plan.parity_ = parity;
  return plan;
}

std::size_t fec_plan::offset(std::uint16_t block, std::uint8_t shard) const noexcept {
  assert(block < blocks_ && shard < data_shards(block));
  const std::size_t first = std::size_t{block} * small_block_ + std::min(block, larger_blocks_);
  return (first + shard) * shard_bytes_;
}

std::size_t fec_plan::data_bytes(std::uint16_t block, std::uint8_t shard) const noexcept {
  return std::min<std::size_t>(shard_bytes_, size_ - offset(block, shard));
}

std::uint32_t fec_plan::datagrams() const noexcept {
  return std::uint32_t{blocks_} * (std::uint32_t{small_block_} + parity_) + larger_blocks_;
}

fec_plan::position fec_plan::at(std::uint32_t datagram) const noexcept {
  assert(datagram < datagrams());
  // After the rounds in which all blocks take part comes the last shard of the larger ones, which are first.
  return {static_cast<std::uint16_t>(datagram % blocks_), static_cast<std::uint8_t>(datagram / blocks_)};
}

}  // namespace orc::detail::multicast
