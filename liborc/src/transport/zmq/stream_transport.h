// ipc and tcp over libzmq: what they share, and the two of them.
#pragma once

#include <memory>

#include "transport/transport.h"
#include "transport/zmq/socket.h"

namespace orc::detail {

class stream_transport : public transport_kind {
 public:
  explicit stream_transport(std::shared_ptr<process> process) : process_(std::move(process)) {}
  [[nodiscard]] link_or_error<subscriber_link> subscribe(const subscription_spec& spec,
                                                         const wire::endpoint& address) const override;

 protected:
  // A ROUTER with everything set but the endpoint. `depth`: samples that may wait in libzmq for one reader.
  [[nodiscard]] std::variant<zmq_socket, error> publisher_socket(const publication_spec& spec, int depth) const;
  // Why `address` cannot lead anywhere, as far as that can be seen without trying. Empty: try it.
  [[nodiscard]] virtual std::string obstacle(const wire::endpoint& address) const = 0;

  std::shared_ptr<process> process_;
};

class ipc_transport final : public stream_transport {
 public:
  using stream_transport::stream_transport;
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::ipc; }
  [[nodiscard]] capabilities can() const noexcept override { return {}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;

 protected:
  [[nodiscard]] std::string obstacle(const wire::endpoint& address) const override;
};

class tcp_transport final : public stream_transport {
 public:
  using stream_transport::stream_transport;
  [[nodiscard]] wire::transport name() const noexcept override { return wire::transport::tcp; }
  [[nodiscard]] capabilities can() const noexcept override { return {.cross_host = true}; }
  [[nodiscard]] link_or_error<publisher_link> advertise(const publication_spec& spec) const override;

 protected:
  [[nodiscard]] std::string obstacle(const wire::endpoint&) const override { return {}; }
};

}  // namespace orc::detail
