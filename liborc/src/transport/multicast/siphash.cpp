#include "transport/multicast/siphash.h"

#include <bit>

namespace orc::detail::multicast {

namespace {

struct state {
  std::uint64_t v0, v1, v2, v3;

  void round() noexcept {
    v0 += v1;
    v1 = std::rotl(v1, 13) ^ v0;
    v0 = std::rotl(v0, 32);
    v2 += v3;
    v3 = std::rotl(v3, 16) ^ v2;
    v0 += v3;
    v3 = std::rotl(v3, 21) ^ v0;
    v2 += v1;
    v1 = std::rotl(v1, 17) ^ v2;
    v2 = std::rotl(v2, 32);
  }
  void compress(std::uint64_t word) noexcept {
    v3 ^= word;
    round();
    round();
    v0 ^= word;
  }
};

// Little-endian, at most 8 bytes.
[[nodiscard]] std::uint64_t word_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t word = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) word = word << 8 | static_cast<std::uint64_t>(bytes[i]);
  return word;
}

}  // namespace

std::uint64_t siphash(const siphash_key& key, std::span<const std::byte> bytes) noexcept {
  state s{key.k0 ^ 0x736f6d6570736575, key.k1 ^ 0x646f72616e646f6d, key.k0 ^ 0x6c7967656e657261,
          key.k1 ^ 0x7465646279746573};
  const std::uint64_t size = bytes.size();
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) s.compress(word_of(bytes.first(8)));
  s.compress(size << 56 | word_of(bytes));
  s.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

}  // namespace orc::detail::multicast
