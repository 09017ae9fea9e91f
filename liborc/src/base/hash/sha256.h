// SHA-256 (FIPS 180-4), for fingerprints of type descriptions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orc::detail {

class sha256 {
 public:
  using digest = std::array<std::uint8_t, 32>;

  void add(std::string_view bytes) noexcept;
  // Returns the hash of everything added. Call it once only.
  [[nodiscard]] digest finish() noexcept;

 private:
  static constexpr std::size_t block_bytes = 64;
  void compress(const std::uint8_t* block) noexcept;

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, block_bytes> block_{};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace orc::detail
