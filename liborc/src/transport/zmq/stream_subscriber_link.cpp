#include "transport/zmq/stream_subscriber_link.h"

namespace orc::detail {

stream_subscriber_link::stream_subscriber_link(zmq_socket socket, const subscription_spec& spec)
    : socket_(std::move(socket)),
      fd_(socket_.fd()),
      publication_(spec.publication),
      subscription_(spec.id),
      delivery_(spec.delivery) {}

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
  if (message.publication != publication_ || message.kind == wire::link_kind::refused) {
    state_.store(link_state::refused, std::memory_order_release);
    return;
  }
  if (message.kind == wire::link_kind::welcome && message.subscription == subscription_) {
    state_.store(link_state::connected, std::memory_order_release);
    return;
  }
  if (message.kind != wire::link_kind::greeting) return;
  const auto hello = wire::encode(wire::link_message{.kind = wire::link_kind::hello,
                                                     .publication = publication_,
                                                     .subscription = subscription_,
                                                     .depth = delivery_.depth});
  // Never full: the pipe is new and nothing else is sent on it. Should it fail, the next connection greets again.
  zmq_send(socket_.get(), hello.data(), hello.size(), ZMQ_DONTWAIT);
}

}  // namespace orc::detail
