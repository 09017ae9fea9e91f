#include "transport/zmq/stream_subscriber_link.h"

namespace orc::detail {

stream_subscriber_link::stream_subscriber_link(zmq_socket socket, const subscription_spec& spec)
    : socket_(std::move(socket)),
      fd_(socket_.fd()),
      publication_(spec.publication),
      subscription_(spec.id),
      delivery_(spec.delivery) {
  tell(wire::link_kind::hello, 0);
}

stream_subscriber_link::~stream_subscriber_link() { tell(wire::link_kind::goodbye, 0); }

// On a silent link the hello is said again. When the connection is down it waits in libzmq, goes out with the next
// connection, and the publication knows the subscription again at once.
void stream_subscriber_link::refresh(std::uint64_t newest) noexcept {
  if (!std::exchange(heard_, false)) tell(wire::link_kind::hello, newest);
}

void stream_subscriber_link::tell(wire::link_kind kind, std::uint64_t newest) noexcept {
  const auto bytes = wire::encode(wire::link_message{.kind = kind,
                                                     .publication = publication_,
                                                     .subscription = subscription_,
                                                     .depth = delivery_.depth,
                                                     .last_sequence = newest});
  zmq_send(socket_.get(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);  // full: one is waiting to go out already
}

// Newest wins: the socket is always emptied, also because libzmq signals its descriptor only when an empty pipe gets a
// message, and one receive after a poll may return a stale one (DESIGN.md section 6).
bool stream_subscriber_link::try_recv(sample& out) noexcept {
  bool found = false;
  zmq_frame frame;
  while (frame.try_recv(socket_.get())) {
    if (!accept(frame, out)) continue;
    found = true;
    if (delivery_.depth != 0) break;
  }
  return found;
}

bool stream_subscriber_link::accept(zmq_frame& frame, sample& out) noexcept {
  if (frame.more()) {
    drop_parts(socket_.get(), frame);
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (frame.size() < wire::sample_header::bytes) {
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  heard_ = true;
  const auto header = wire::get(frame.data());
  if (header.sequence == 0) {
    if (const auto message = wire::decode_link_message({frame.data(), frame.size()}))
      handle(*message);
    else
      malformed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (state_.load(std::memory_order_relaxed) != link_state::connected) {  // nobody sends samples before a welcome
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  out.buffer = adopt_frame(frame.get());
  out.sequence = header.sequence;
  out.stamp_ns = header.stamp_ns;
  return true;
}

void stream_subscriber_link::handle(const wire::link_message& message) noexcept {
  if (message.subscription != subscription_) return;
  if (message.publication != publication_ || message.kind == wire::link_kind::refused)
    state_.store(link_state::refused, std::memory_order_release);
  if (message.kind != wire::link_kind::welcome || state_.load(std::memory_order_relaxed) != link_state::connecting) return;
  newest_at_join_ = message.last_sequence;
  state_.store(link_state::connected, std::memory_order_release);
}

}  // namespace orc::detail
