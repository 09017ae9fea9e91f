// tcp: one port per publication, on the loopback unless the broker can be reached from other hosts.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cstring>

#include "core/unique_fd.h"
#include "transport/zmq/stream_publisher_link.h"
#include "transport/zmq/stream_transport.h"

namespace orc::detail {

namespace {

constexpr int tcp_depth = 2;
// What may wait in the kernel for a slow link, beyond what is on the wire: everything queued there is older than the
// sample that the publisher has by then. Accepted connections inherit it from the listening socket.
constexpr int unsent_low_water = 4 * 1024;
constexpr int bulk_unsent_low_water = 128 * 1024;

struct listener {
  unique_fd fd;
  std::uint16_t port = 0;
};

std::variant<listener, error> listen_on(bool all_interfaces, bool bulk) {
  listener made;
  made.fd.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(all_interfaces ? INADDR_ANY : INADDR_LOOPBACK);
  const int low_water = bulk ? bulk_unsent_low_water : unsent_low_water;
  socklen_t size = sizeof address;
  if (!made.fd || ::bind(made.fd.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::setsockopt(made.fd.get(), IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low_water, sizeof low_water) != 0 ||
      ::listen(made.fd.get(), 128) != 0 ||
      ::getsockname(made.fd.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return error(errno == EMFILE ? errc::no_descriptors : errc::system_error,
                 std::string("cannot listen on a tcp port: ") + strerror(errno));
  made.port = ntohs(address.sin_port);
  return made;
}

}  // namespace

link_or_error<publisher_link> tcp_transport::advertise(const publication_spec& spec) const {
  auto made = publisher_socket(spec, tcp_depth);
  if (auto* const failed = std::get_if<error>(&made)) return std::move(*failed);
  auto& socket = std::get<zmq_socket>(made);
  auto listening = listen_on(spec.listen_remote, spec.bulk);
  if (auto* const failed = std::get_if<error>(&listening)) return std::move(*failed);
  auto& [fd, port] = std::get<listener>(listening);

  // libzmq takes the listening descriptor over, and with it the option that it has no name for.
  socket.set(ZMQ_USE_FD, fd.get());
  const std::string bound = "tcp://127.0.0.1:" + std::to_string(port);
  if (zmq_bind(socket.get(), bound.c_str()) != 0)
    return error(errc::system_error, "cannot listen on " + bound + ": " + zmq_strerror(errno));
  (void)fd.release();
  const std::string host = spec.listen_remote && !spec.advertise.empty() ? spec.advertise : "127.0.0.1";
  return std::make_unique<stream_publisher_link>(
      std::move(socket), spec.id,
      wire::endpoint{wire::transport::tcp, "tcp://" + host + ":" + std::to_string(port), spec.bulk});
}

}  // namespace orc::detail
