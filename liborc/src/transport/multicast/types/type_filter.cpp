#include "transport/multicast/types/type_filter.h"

#include <array>
#include <cstdio>

#include "base/text/printable.h"
#include "orc/schema.h"
#include "transport/multicast/datagram/big_endian.h"

namespace orc::detail::multicast {

namespace {

constexpr std::size_t fingerprint_bytes = 8;

[[nodiscard]] std::string hex(std::uint64_t value) {
  std::array<char, 19> text{};
  (void)std::snprintf(text.data(), text.size(), "0x%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

}  // namespace

type_filter::type_filter(const described_type* expected) {
  if (expected == nullptr) return;
  fingerprint_ = lcm_fingerprint(expected->description);
  name_ = escaped(expected->description.name);
}

bool type_filter::passes(std::span<const std::byte> payload) const noexcept {
  if (!fingerprint_) return true;
  return payload.size() >= fingerprint_bytes && get_big_endian<std::uint64_t>(payload.data()) == *fingerprint_;
}

void type_filter::dropped(std::span<const std::byte> payload, const source& from, monotonic::time_point now) noexcept {
  const bool has_one = payload.size() >= fingerprint_bytes;
  last_ = stranger{from, payload.size(), has_one ? get_big_endian<std::uint64_t>(payload.data()) : 0, now};
}

void type_filter::expire(monotonic::time_point now) noexcept {
  if (last_ && now - last_->at > remembered) last_.reset();
}

std::optional<error> type_filter::problem() const {
  if (!last_ || !fingerprint_) return std::nullopt;
  const std::string of = "a message of " + last_->from.text();
  const std::string here = hex(*fingerprint_) + " here (" + name_ + ")";
  if (last_->size < fingerprint_bytes)
    return error(errc::type_mismatch,
                 "there is no fingerprint in " + of + " with " + std::to_string(last_->size) + " bytes, " + here);
  return error(errc::type_mismatch, "the fingerprint is " + hex(last_->fingerprint) + " in " + of + ", " + here);
}

}  // namespace orc::detail::multicast
