#include "transport/multicast/fec/fec_assembly.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace orc::detail::multicast {

std::optional<fec_assembly> fec_assembly::make(const fec_packet& first, std::span<std::byte> into) noexcept {
  assert(into.size() == first.plan.size());
  try {
    return fec_assembly(first, into, std::vector<block_state>(first.plan.blocks()));
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

fec_assembly::fec_assembly(const fec_packet& first, std::span<std::byte> into, std::vector<block_state> blocks) noexcept
    : plan_(first.plan),
      sequence_(first.sequence),
      stamp_ns_(first.stamp_ns),
      into_(into),
      blocks_(std::move(blocks)),
      open_blocks_(first.plan.blocks()) {}

bool fec_assembly::is_of_this(const fec_packet& packet) const noexcept {
  return packet.sequence == sequence_ && packet.stamp_ns == stamp_ns_ && packet.plan == plan_;
}

fec_added fec_assembly::add(const fec_packet& packet, fec_code& code) noexcept {
  if (!is_of_this(packet)) return fec_added::mismatch;
  block_state& block = blocks_[packet.block];
  if (block.complete || block.have.test(packet.shard)) return fec_added::duplicate;

  const std::uint8_t data_shards = plan_.data_shards(packet.block);
  const bool is_last = block.data_count + block.parity_count + 1 == data_shards;
  if (packet.is_parity()) {
    if (!keep_parity(block, packet)) return fec_added::more;
  } else if (!packet.bytes.empty()) {
    std::memcpy(into_.data() + plan_.offset(packet.block, packet.shard), packet.bytes.data(), packet.bytes.size());
  }
  block.have.set(packet.shard);
  ++(packet.is_parity() ? block.parity_count : block.data_count);
  if (!is_last) return fec_added::more;

  if (block.parity_count > 0 && !recover(block, packet.block, code)) {
    block.have.reset(packet.shard);
    --(packet.is_parity() ? block.parity_count : block.data_count);
    return fec_added::more;
  }
  block.complete = true;
  forget_parity(block);
  return --open_blocks_ == 0 ? fec_added::complete : fec_added::more;
}

bool fec_assembly::keep_parity(block_state& block, const fec_packet& packet) noexcept {
  if (!block.parity) {
    const int missing = plan_.data_shards(packet.block) - block.data_count;
    const auto parity_room = static_cast<std::uint8_t>(std::min<int>(missing, plan_.parity_shards()));
    block.parity.reset(new (std::nothrow) std::byte[parity_room * parity_entry_bytes()]);
    if (!block.parity) return false;
    block.parity_room = parity_room;
    parity_bytes_ += parity_room * parity_entry_bytes();
  }
  assert(block.parity_count < block.parity_room);
  std::byte* const entry = block.parity.get() + block.parity_count * parity_entry_bytes();
  *entry = static_cast<std::byte>(packet.shard - plan_.data_shards(packet.block));
  std::memcpy(entry + 1, packet.bytes.data(), packet.bytes.size());
  return true;
}

bool fec_assembly::recover(const block_state& block, std::uint16_t number, fec_code& code) noexcept {
  std::array<std::uint8_t, fec_plan::max_data_shards> lost;
  std::array<fec_code::parity_shard, fec_plan::max_data_shards> parity;
  std::size_t lost_count = 0;
  for (std::uint8_t shard = 0; shard < plan_.data_shards(number); ++shard)
    if (!block.have.test(shard)) lost[lost_count++] = shard;
  assert(lost_count == block.parity_count);
  for (std::size_t i = 0; i < lost_count; ++i) {
    const std::byte* const entry = block.parity.get() + i * parity_entry_bytes();
    parity[i] = {std::to_integer<std::uint8_t>(*entry), entry + 1};
  }
  return code.recover(plan_, into_, number, std::span(lost).first(lost_count), std::span(parity).first(lost_count));
}

void fec_assembly::forget_parity(block_state& block) noexcept {
  block.parity.reset();
  parity_bytes_ -= block.parity_room * parity_entry_bytes();
  block.parity_room = 0;
}

std::size_t fec_assembly::max_held_bytes(const fec_plan& plan) noexcept {
  std::size_t parity_room = 0;
  for (std::uint32_t block = 0; block < plan.blocks(); ++block)
    parity_room += std::min(plan.data_shards(static_cast<std::uint16_t>(block)), plan.parity_shards());
  return plan.blocks() * sizeof(block_state) + parity_room * (std::size_t{plan.shard_bytes()} + 1);
}

}  // namespace orc::detail::multicast
