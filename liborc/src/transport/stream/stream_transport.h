// ipc and tcp: byte streams that speak ZMTP.
#pragma once

#include "transport/transport.h"

namespace orc::detail {

class ipc_transport final : public transport_kind {
 public:
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::ipc; }
  [[nodiscard]] capabilities can() const noexcept override {
    return {.by_default = true, .needs_directory = true, .sees_end = true};
  }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;
};

class tcp_transport final : public transport_kind {
 public:
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::tcp; }
  [[nodiscard]] capabilities can() const noexcept override {
    return {.leaves_host = true, .by_default = true, .repeats_late = true, .checks_path = true, .sees_end = true};
  }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;
};

}  // namespace orc::detail
