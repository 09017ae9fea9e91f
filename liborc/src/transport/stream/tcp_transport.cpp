// tcp: one port per publication, on the loopback unless the broker can be reached from other hosts.
#include "transport/stream/stream_publisher_link.h"
#include "transport/stream/stream_socket.h"
#include "transport/stream/stream_transport.h"

namespace orc::detail {

link_or_error<publisher_link> tcp_transport::advertise(const publication_spec& spec) const {
  auto watch = make_watch();
  if (auto* const failed = std::get_if<error>(&watch)) return std::move(*failed);
  std::uint16_t port = 0;
  auto listener = listen_on_port(spec.listen_remote, port);
  if (auto* const failed = std::get_if<error>(&listener)) return std::move(*failed);
  const std::string host = spec.listen_remote && !spec.advertise.empty() ? spec.advertise : "127.0.0.1";
  return std::make_unique<stream_publisher_link>(
      std::move(std::get<unique_fd>(listener)), std::move(std::get<unique_fd>(watch)), spec.id,
      wire::endpoint{wire::transport::tcp, "tcp://" + host + ":" + std::to_string(port)});
}

}  // namespace orc::detail
