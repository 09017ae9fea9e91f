// ipc and tcp: what they share, and the two of them.
#pragma once

#include <memory>

#include "transport/transport.h"

namespace orc::detail {

class stream_transport : public transport_kind {
 public:
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;

 protected:
  // Why `address` cannot lead anywhere, as far as that can be seen without trying. Empty: try it.
  [[nodiscard]] virtual std::string obstacle(const wire::endpoint& address) const = 0;
};

class ipc_transport final : public stream_transport {
 public:
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::ipc; }
  [[nodiscard]] capabilities can() const noexcept override { return {}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;

 protected:
  [[nodiscard]] std::string obstacle(const wire::endpoint& address) const override;
};

class tcp_transport final : public stream_transport {
 public:
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::tcp; }
  [[nodiscard]] capabilities can() const noexcept override { return {.cross_host = true}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;

 protected:
  [[nodiscard]] std::string obstacle(const wire::endpoint&) const override { return {}; }
};

// The descriptor that a publisher link watches its connections with.
[[nodiscard]] std::variant<unique_fd, error> make_watch();

}  // namespace orc::detail
