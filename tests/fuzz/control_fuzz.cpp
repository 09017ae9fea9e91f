// Any bytes through the control-plane decoder; what it accepts must survive being encoded.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wire/control.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orc::wire;
  const auto accepted = decode(std::as_bytes(std::span(data, size)));
  if (!accepted) return 0;
  const auto bytes = encode(*accepted);
  const auto again = decode(std::as_bytes(std::span(bytes.data(), bytes.size())));
  // What is accepted may be too large to be encoded again in full (shared strings), but never into something malformed.
  if (!again) std::abort();
  return 0;
}
