// SipHash-2-4: a keyed hash that is unpredictable without its key.
//
// Source: Aumasson, Bernstein: SipHash: a fast short-input PRF (2012), with the test vector of its appendix A. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orc::detail::multicast {

struct siphash_key {
  std::uint64_t k0 = 0;
  std::uint64_t k1 = 0;
};

[[nodiscard]] std::uint64_t siphash(const siphash_key& key, std::span<const std::byte> bytes) noexcept;

}  // namespace orc::detail::multicast
