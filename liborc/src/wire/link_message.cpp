#include "wire/link_message.h"

#include <cstring>

namespace orc::wire {

namespace {

constexpr std::size_t secret_at = 8;  // in place of a sample's time

// Offsets behind the sample header.
constexpr char magic[4] = {'O', 'R', 'C', 'L'};
constexpr std::size_t kind_at = 4;
constexpr std::size_t version_at = 5;
constexpr std::size_t flags_at = 6;
constexpr std::size_t publication_at = 8;
constexpr std::size_t subscription_at = 24;
constexpr std::size_t depth_at = 40;
constexpr std::size_t last_sequence_at = 48;
constexpr std::uint8_t link_version = 1;
constexpr std::uint8_t padding_flag = 1;

template <typename T>
void store(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
T load(const std::byte* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void store_id(std::byte* at, const id& value) noexcept {
  store(at, value.hi);
  store(at + 8, value.lo);
}

id load_id(const std::byte* at) noexcept { return {load<std::uint64_t>(at), load<std::uint64_t>(at + 8)}; }

}  // namespace

std::array<std::byte, link_message::bytes> encode(const link_message& message) noexcept {
  std::array<std::byte, link_message::bytes> frame{};
  put(sample_header{}, frame.data());
  store(frame.data() + secret_at, message.secret);
  std::byte* const fields = frame.data() + sample_header::bytes;
  std::memcpy(fields, magic, sizeof magic);
  store(fields + kind_at, message.kind);
  store(fields + version_at, link_version);
  store(fields + flags_at, message.takes_padding ? padding_flag : std::uint8_t{0});
  store_id(fields + publication_at, message.publication);
  store_id(fields + subscription_at, message.subscription);
  store(fields + depth_at, message.depth);
  store(fields + last_sequence_at, message.last_sequence);
  return frame;
}

std::optional<link_message> decode_link_message(std::span<const std::byte> frame) noexcept {
  if (frame.size() != link_message::bytes || get(frame.data()).sequence != 0) return std::nullopt;
  const std::byte* const fields = frame.data() + sample_header::bytes;
  if (std::memcmp(fields, magic, sizeof magic) != 0) return std::nullopt;
  if (load<std::uint8_t>(fields + version_at) != link_version) return std::nullopt;
  const auto kind = load<std::uint8_t>(fields + kind_at);
  if (kind < 1 || kind > 4) return std::nullopt;
  link_message message;
  message.kind = static_cast<link_kind>(kind);
  message.secret = load<std::uint64_t>(frame.data() + secret_at);
  message.publication = load_id(fields + publication_at);
  message.subscription = load_id(fields + subscription_at);
  message.depth = load<std::uint32_t>(fields + depth_at);
  message.takes_padding = (load<std::uint8_t>(fields + flags_at) & padding_flag) != 0;
  message.last_sequence = load<std::uint64_t>(fields + last_sequence_at);
  if (!message.publication || !message.subscription) return std::nullopt;
  return message;
}

}  // namespace orc::wire
