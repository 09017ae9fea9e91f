// The description of a publication's type, cut into datagrams for subscriptions that ask for it.
#pragma once

#include <cstdint>
#include <string>

#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/datagram/source.h"
#include "wire/described_type.h"

namespace orc::detail::multicast {

// Constant, except for the socket that it sends by. No call blocks.
class type_offer {
 public:
  // `type`: null: untyped.
  explicit type_offer(const described_type* type);

  // 0: untyped.
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  // The bytes that the answer to this request puts on the network, with the kernel's cost of each datagram; 0: it is
  // not about this type.
  [[nodiscard]] std::size_t cost(const orc_datagram& request) const noexcept;
  // Sends the answer: the next type_parts_at_once parts. A description that is too long is named, not sent.
  void answer(int socket, const source& to, const orc_datagram& request) const noexcept;

 private:
  std::uint64_t hash_ = 0;
  std::uint32_t size_ = 0;
  std::string bytes_;  // empty: too long
};

}  // namespace orc::detail::multicast
