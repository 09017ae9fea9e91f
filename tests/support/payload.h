// Sample contents that tell what they are: bytes that depend on size and seed, and a counter in front.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "orc/message.h"

namespace orc::test {

using bytes = std::vector<unsigned char>;

[[nodiscard]] inline bytes patterned(std::size_t size, std::uint64_t seed = 0) {
  bytes result(size);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + size + 1;
  for (auto& byte : result) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<unsigned char>(state >> 56);
  }
  return result;
}

[[nodiscard]] inline bool holds(const message& sample, const bytes& expected) {
  return sample.size() == expected.size() &&
         (expected.empty() || std::memcmp(sample.data(), expected.data(), expected.size()) == 0);
}

// The counter in the first 8 bytes; 0 when the sample is too short.
[[nodiscard]] inline std::uint64_t value_of(const message& sample) {
  std::uint64_t value = 0;
  if (sample.size() >= sizeof value) std::memcpy(&value, sample.data(), sizeof value);
  return value;
}

template <class Publisher>
[[nodiscard]] result send_value(Publisher& publisher, std::uint64_t value) {
  return publisher.send(&value, sizeof value);
}

}  // namespace orc::test
