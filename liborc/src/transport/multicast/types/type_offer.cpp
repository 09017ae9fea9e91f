#include "transport/multicast/types/type_offer.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "transport/multicast/socket/datagram_batch.h"
#include "transport/multicast/types/type_parts.h"

namespace orc::detail::multicast {

namespace {

constexpr std::size_t per_datagram = 512;  // that a datagram counts besides its own

}  // namespace

type_offer::type_offer(const described_type* type) {
  if (type == nullptr) return;
  hash_ = type->reference.hash;
  bytes_ = write_type(type->description);
  size_ = static_cast<std::uint32_t>(bytes_.size());
  if (size_ > max_type_bytes) bytes_ = {};
}

std::size_t type_offer::cost(const orc_datagram& request) const noexcept {
  if (hash_ == 0 || request.type != hash_ || request.offset >= size_) return 0;
  const std::size_t rest = bytes_.empty() ? 0 : size_ - request.offset;
  const std::size_t sent = std::min(rest, type_parts_at_once * max_type_part);
  const std::size_t datagrams = std::max<std::size_t>(1, (sent + max_type_part - 1) / max_type_part);
  return sent + datagrams * (type_header + per_datagram);
}

void type_offer::answer(int socket, const source& to, const orc_datagram& request) const noexcept {
  if (cost(request) == 0) return;
  orc_datagram d{};
  d.kind = datagram_kind::type;
  d.publication = request.publication;
  d.link = request.link;
  d.type = hash_;
  d.size = size_;
  d.offset = bytes_.empty() ? 0 : request.offset;
  sending_batch batch(to, {});
  for (std::size_t n = 0; n < type_parts_at_once; ++n) {
    const auto part = std::as_bytes(std::span(bytes_)).subspan(std::min<std::size_t>(d.offset, bytes_.size()));
    std::array<std::byte, max_orc_datagram> head;
    datagram_head& to_send = batch.head();
    to_send.size = encode(d, head);
    std::memcpy(to_send.bytes.data(), head.data(), to_send.size);
    batch.add(part.first(std::min(part.size(), max_type_part)));
    if (part.size() <= max_type_part) break;
    d.offset += static_cast<std::uint32_t>(max_type_part);
  }
  (void)batch.send(socket);
}

}  // namespace orc::detail::multicast
