#include "transport/zmq/stream_transport.h"

#include "core/process.h"
#include "transport/zmq/stream_subscriber_link.h"
#include "wire/fd_limit.h"

namespace orc::detail {

namespace {

constexpr int subscriber_depth = 1000;  // small samples between two turns of the housekeeping
constexpr int bulk_subscriber_depth = 4;
constexpr int bulk_depth = 2;
constexpr std::size_t descriptors_in_reserve = 16;
constexpr int largest_link_message = 4096;  // what a publication accepts from subscribers

// A dead peer is noticed by the kernel; ZMTP heartbeats would kill large samples on slow links (DESIGN.md section 6).
void watch_peer(zmq_socket& socket) noexcept {
  socket.set(ZMQ_TCP_KEEPALIVE, 1);
  socket.set(ZMQ_TCP_KEEPALIVE_IDLE, 5);
  socket.set(ZMQ_TCP_KEEPALIVE_INTVL, 2);
  socket.set(ZMQ_TCP_KEEPALIVE_CNT, 3);
  socket.set(ZMQ_TCP_MAXRT, 10'000);
  socket.set(ZMQ_HANDSHAKE_IVL, 5'000);
}

[[nodiscard]] error cannot_open() {
  return {errno == EMFILE ? errc::no_descriptors : errc::system_error,
          std::string("cannot open a socket: ") + zmq_strerror(errno)};
}

void choose_io_thread(zmq_socket& socket, bool bulk) noexcept {
  socket.set64(ZMQ_AFFINITY, static_cast<std::int64_t>(bulk ? process::bulk_affinity : process::small_affinity));
}

}  // namespace

std::variant<zmq_socket, error> stream_transport::publisher_socket(const publication_spec& spec, int depth) const {
  if (!room_for_fds(descriptors_in_reserve))
    return error(errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)");
  zmq_socket socket(process_->context(), ZMQ_ROUTER);
  if (!socket) return cannot_open();
  socket.set(ZMQ_ROUTER_MANDATORY, 1);
  socket.set(ZMQ_SNDHWM, spec.bulk ? bulk_depth : depth);
  socket.set64(ZMQ_MAXMSGSIZE, largest_link_message);
  socket.set(ZMQ_LINGER, 500);
  socket.set(ZMQ_IPV6, 1);
  choose_io_thread(socket, spec.bulk);
  watch_peer(socket);
  return socket;
}

link_or_error<subscriber_link> stream_transport::subscribe(const subscription_spec& spec,
                                                           const wire::endpoint& address) const {
  if (auto why = obstacle(address); !why.empty()) return error(errc::refused, std::move(why));
  if (!room_for_fds(descriptors_in_reserve)) return error(errc::no_descriptors, "out of file descriptors");
  zmq_socket socket(process_->context(), ZMQ_DEALER);
  if (!socket) return cannot_open();
  const bool bulk = address.bulk;
  socket.set(ZMQ_SNDHWM, 2);  // a hello and a goodbye
  socket.set(ZMQ_RCVHWM, bulk ? bulk_subscriber_depth : subscriber_depth);
  socket.set(ZMQ_LINGER, 200);  // for the goodbye
  socket.set(ZMQ_RECONNECT_IVL, 20);
  socket.set(ZMQ_RECONNECT_IVL_MAX, 500);
  socket.set(ZMQ_IPV6, 1);
  choose_io_thread(socket, bulk);
  watch_peer(socket);
  if (zmq_connect(socket.get(), address.address.c_str()) != 0)
    return error(errc::refused, std::string("cannot connect: ") + zmq_strerror(errno));
  return std::make_unique<stream_subscriber_link>(std::move(socket), spec);
}

}  // namespace orc::detail
