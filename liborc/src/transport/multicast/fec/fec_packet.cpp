#include "transport/multicast/fec/fec_packet.h"

#include <cassert>
#include <cstring>

#include "transport/multicast/datagram/big_endian.h"

namespace orc::detail::multicast {

namespace {

constexpr std::size_t magic_at = 0;
constexpr std::size_t version_at = 4;
constexpr std::size_t channel_bytes_at = 5;
constexpr std::size_t shard_bytes_at = 6;
constexpr std::size_t size_at = 8;
constexpr std::size_t sequence_at = 12;
constexpr std::size_t stamp_at = 20;
constexpr std::size_t blocks_at = 28;
constexpr std::size_t block_at = 30;
constexpr std::size_t data_shards_at = 32;
constexpr std::size_t parity_shards_at = 33;
constexpr std::size_t shard_at = 34;
constexpr std::size_t reserved_at = 35;

constexpr std::uint8_t version = 1;

}  // namespace

std::size_t encode_header(const fec_packet& packet, std::span<std::byte> into) noexcept {
  assert(!packet.channel.empty() && packet.channel.size() <= lcm::max_channel_length);
  assert(into.size() >= fec_packet::fixed_bytes + packet.channel.size());
  std::byte* const at = into.data();
  put_big_endian(at + magic_at, fec_packet::magic);
  put_big_endian(at + version_at, version);
  put_big_endian(at + channel_bytes_at, static_cast<std::uint8_t>(packet.channel.size()));
  put_big_endian(at + shard_bytes_at, packet.plan.shard_bytes());
  put_big_endian(at + size_at, packet.plan.size());
  put_big_endian(at + sequence_at, packet.sequence);
  put_big_endian(at + stamp_at, packet.stamp_ns);
  put_big_endian(at + blocks_at, packet.plan.blocks());
  put_big_endian(at + block_at, packet.block);
  put_big_endian(at + data_shards_at, packet.plan.data_shards(packet.block));
  put_big_endian(at + parity_shards_at, packet.plan.parity_shards());
  put_big_endian(at + shard_at, packet.shard);
  put_big_endian(at + reserved_at, std::uint8_t{0});
  std::memcpy(at + fec_packet::fixed_bytes, packet.channel.data(), packet.channel.size());
  return fec_packet::fixed_bytes + packet.channel.size();
}

std::optional<fec_packet> decode_fec(std::span<const std::byte> datagram) noexcept {
  if (datagram.size() < fec_packet::fixed_bytes) return std::nullopt;
  const std::byte* const at = datagram.data();
  if (get_big_endian<std::uint32_t>(at + magic_at) != fec_packet::magic) return std::nullopt;
  if (get_big_endian<std::uint8_t>(at + version_at) != version || get_big_endian<std::uint8_t>(at + reserved_at) != 0)
    return std::nullopt;

  const std::size_t channel_bytes = get_big_endian<std::uint8_t>(at + channel_bytes_at);
  if (channel_bytes == 0 || channel_bytes > lcm::max_channel_length) return std::nullopt;
  if (datagram.size() < fec_packet::fixed_bytes + channel_bytes) return std::nullopt;
  fec_packet packet;
  packet.channel = {reinterpret_cast<const char*>(at + fec_packet::fixed_bytes), channel_bytes};
  if (packet.channel.find('\0') != std::string_view::npos) return std::nullopt;

  const auto plan =
      fec_plan::of(get_big_endian<std::uint32_t>(at + size_at), get_big_endian<std::uint16_t>(at + shard_bytes_at),
                   get_big_endian<std::uint16_t>(at + blocks_at), get_big_endian<std::uint8_t>(at + parity_shards_at));
  if (!plan) return std::nullopt;
  packet.plan = *plan;
  packet.block = get_big_endian<std::uint16_t>(at + block_at);
  if (packet.block >= plan->blocks()) return std::nullopt;
  const unsigned data_shards = plan->data_shards(packet.block);
  if (get_big_endian<std::uint8_t>(at + data_shards_at) != data_shards) return std::nullopt;
  packet.shard = get_big_endian<std::uint8_t>(at + shard_at);
  if (packet.shard >= data_shards + plan->parity_shards()) return std::nullopt;

  packet.bytes = datagram.subspan(fec_packet::fixed_bytes + channel_bytes);
  if (packet.bytes.size() != plan->sent_bytes(packet.block, packet.shard)) return std::nullopt;
  packet.sequence = get_big_endian<std::uint64_t>(at + sequence_at);
  packet.stamp_ns = get_big_endian<std::int64_t>(at + stamp_at);
  return packet;
}

}  // namespace orc::detail::multicast
