#pragma once

#include <string>
#include <utility>

#include "transport/transport.h"
#include "wire/multicast_url.h"

namespace orc::detail {

// LCM's UDP multicast (lcm_datagram.h), and what ORC's contract needs besides it (orc_datagram.h).
class multicast_transport final : public transport_kind {
 public:
  // `own_network`: URL of the participant's network.
  explicit multicast_transport(std::string own_network) : own_network_(std::move(own_network)) {}
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::multicast; }
  [[nodiscard]] capabilities can() const noexcept override { return {.needs_broker = false, .leaves_host = true}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;

 private:
  const std::string own_network_;
};

}  // namespace orc::detail
