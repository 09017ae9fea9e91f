// A message as the datagrams of forward error correction, made the way a sender makes them.
#pragma once

#include <cstddef>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "support/payload.h"
#include "transport/multicast/fec/fec_code.h"
#include "transport/multicast/fec/fec_packet.h"

namespace orc::test {

using datagram = std::vector<std::byte>;

// What an Ethernet frame has room for, and sizes about where a message of such shards is cut.
inline constexpr std::size_t fec_shard = 1400;
inline constexpr std::size_t fec_sizes[] = {0,
                                            1,
                                            2,
                                            fec_shard - 1,
                                            fec_shard,
                                            fec_shard + 1,
                                            2 * fec_shard,
                                            65'536,
                                            128 * fec_shard - 1,
                                            128 * fec_shard,
                                            128 * fec_shard + 1,
                                            256 * fec_shard + 3,
                                            1'000'000,
                                            10'000'000};

struct fec_message {
  bytes payload;
  detail::multicast::fec_plan plan;
  std::vector<datagram> datagrams;  // in the order of sending
};

[[nodiscard]] inline fec_message fec_cut(bytes payload, std::size_t shard_bytes, unsigned percent,
                                         std::uint64_t sequence = 7, std::int64_t stamp_ns = -5) {
  using namespace detail::multicast;
  const auto plan = fec_plan::make(payload.size(), shard_bytes, percent);
  if (!plan) throw std::runtime_error("no plan for this message");
  const auto whole = std::as_bytes(std::span(payload));
  const std::size_t parity_bytes = std::size_t{plan->parity_shards()} * plan->shard_bytes();
  fec_code code;
  std::vector<std::vector<std::byte>> parity(plan->blocks(), std::vector<std::byte>(parity_bytes));
  for (std::uint16_t block = 0; block < plan->blocks(); ++block)
    if (!code.encode(*plan, whole, block, parity[block])) throw std::bad_alloc();

  std::vector<datagram> datagrams;
  for (std::uint32_t i = 0; i < plan->datagrams(); ++i) {
    const auto [block, shard] = plan->at(i);
    const fec_packet packet{.channel = "SCAN",
                            .sequence = sequence,
                            .stamp_ns = stamp_ns,
                            .plan = *plan,
                            .block = block,
                            .shard = shard,
                            .bytes = {}};
    datagram d(fec_packet::max_header_bytes);
    d.resize(encode_header(packet, d));
    const std::size_t k = plan->data_shards(block);
    const auto shard_at = shard < k
                              ? whole.subspan(plan->offset(block, shard))
                              : std::span<const std::byte>(parity[block]).subspan((shard - k) * plan->shard_bytes());
    const auto sent = shard_at.first(plan->sent_bytes(block, shard));
    d.insert(d.end(), sent.begin(), sent.end());
    datagrams.push_back(std::move(d));
  }
  return {std::move(payload), *plan, std::move(datagrams)};
}

}  // namespace orc::test
