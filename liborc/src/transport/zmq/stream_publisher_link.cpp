#include "transport/zmq/stream_publisher_link.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace orc::detail {

namespace {

constexpr std::uint32_t max_depth = 65536;

// A frame that others may see already (a message that is forwarded while somebody still holds it) cannot get a new
// header in place.
[[nodiscard]] sample_buffer copy_with_header(sample& s) noexcept {
  sample_buffer copy = allocate_frame(s.buffer.size());
  if (!copy) return copy;
  std::memcpy(copy.payload(), s.buffer.payload(), s.buffer.size());
  write_header(copy, {s.sequence, s.stamp_ns});
  return copy;
}

[[nodiscard]] bool has_header(sample& s) noexcept {
  const auto header = wire::get(s.buffer.payload() - wire::sample_header::bytes);
  return header.sequence == s.sequence && header.stamp_ns == s.stamp_ns;
}

}  // namespace

stream_publisher_link::stream_publisher_link(zmq_socket socket, wire::id publication, wire::endpoint where,
                                             std::string file)
    : socket_(std::move(socket)),
      fd_(socket_.fd()),
      publication_(publication),
      where_(std::move(where)),
      file_(std::move(file)) {}

// libzmq leaves the files of its ipc listeners behind.
stream_publisher_link::~stream_publisher_link() {
  if (!file_.empty()) ::unlink(file_.c_str());
}

void stream_publisher_link::commit(sample& s) noexcept {
  if (all_.empty()) return;
  if (!has_header(s)) {
    sample own{copy_with_header(s), s.sequence, s.stamp_ns};
    if (!own.buffer) return;
    for (const auto& each : all_) offer(*each, own);
  } else {
    for (const auto& each : all_) offer(*each, s);
  }
  after_change();
}

void stream_publisher_link::service(sample* last) noexcept {
  receive_all(last);
  for (const auto& each : all_) catch_up(*each, last);
  after_change();
}

stream_publisher_link::outcome stream_publisher_link::try_send(const std::string& route, zmq_msg_t* frame,
                                                               bool retry) noexcept {
  while (zmq_send(socket_.get(), route.data(), route.size(), ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0) {
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return outcome::gone;
    if (!retry) return outcome::full;
    socket_.events();  // the reader's progress is known only once its commands were executed
    retry = false;
  }
  while (zmq_msg_send(frame, socket_.get(), ZMQ_DONTWAIT) < 0) {
    if (errno != EINTR) return outcome::gone;
  }
  return outcome::sent;
}

stream_publisher_link::outcome stream_publisher_link::try_send(reader& to, sample& s, bool retry) noexcept {
  zmq_msg_t frame;
  zmq_msg_init(&frame);
  zmq_msg_copy(&frame, frame_of(s.buffer));
  const outcome done = try_send(to.route, &frame, retry);
  if (done != outcome::sent) zmq_msg_close(&frame);
  if (done == outcome::gone) to.gone = true;
  return done;
}

void stream_publisher_link::offer(reader& to, sample& s) noexcept {
  if (!to.lagging.empty()) return queue(to, s);
  switch (try_send(to, s, !to.behind)) {
    case outcome::sent: to.behind = false; return;
    case outcome::full: return queue(to, s);
    case outcome::gone: return;
  }
}

void stream_publisher_link::queue(reader& to, sample& s) noexcept {
  std::uint64_t dropped = 0;
  if (to.depth == 0) {
    dropped = to.behind ? 1 : 0;
    to.behind = true;
  } else {
    while (!to.lagging.empty() && to.lagging.bytes() + s.buffer.size() > max_lagging_bytes) {
      to.lagging.drop_front();
      ++dropped;
    }
    dropped += to.lagging.push({share(s.buffer), s.sequence, s.stamp_ns});
  }
  if (dropped != 0) dropped_.fetch_add(dropped, std::memory_order_relaxed);
}

void stream_publisher_link::catch_up(reader& to, sample* last) noexcept {
  while (!to.gone && !to.lagging.empty() && try_send(to, to.lagging.front(), true) == outcome::sent)
    to.lagging.drop_front();
  if (to.gone || !to.behind || last == nullptr) return;
  sample own;
  if (!has_header(*last)) {
    own = {copy_with_header(*last), last->sequence, last->stamp_ns};
    if (!own.buffer) return;
    last = &own;
  }
  if (try_send(to, *last, true) == outcome::sent) to.behind = false;
}

void stream_publisher_link::receive_all(sample* last) noexcept {
  zmq_frame route;
  zmq_frame content;
  for (std::size_t turn = 0; turn < max_readers && route.try_recv(socket_.get()); ++turn) {
    if (!route.more() || !content.try_recv(socket_.get())) continue;
    const std::string from(reinterpret_cast<const char*>(route.data()), route.size());
    if (content.more()) {
      drop_parts(socket_.get(), content);
      malformed_.fetch_add(1, std::memory_order_relaxed);
      continue;
    }
    receive(from, {content.data(), content.size()}, last);
  }
}

void stream_publisher_link::receive(const std::string& route, std::span<const std::byte> frame, sample* last) noexcept {
  const auto message = wire::decode_link_message(frame);
  if (!message || (message->kind != wire::link_kind::hello && message->kind != wire::link_kind::goodbye)) {
    malformed_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (message->kind == wire::link_kind::goodbye) {
    for (const auto& each : all_) each->gone = each->gone || each->route == route;
  } else if (message->publication != publication_) {
    tell(route, wire::link_kind::refused, message->subscription, last);
  } else {
    on_hello(route, *message, last);
  }
}

stream_publisher_link::outcome stream_publisher_link::tell(const std::string& route, wire::link_kind kind,
                                                           const wire::id& subscription, sample* last) noexcept {
  const auto bytes = wire::encode(wire::link_message{.kind = kind,
                                                     .publication = publication_,
                                                     .subscription = subscription,
                                                     .last_sequence = last != nullptr ? last->sequence : 0});
  zmq_msg_t frame;
  if (zmq_msg_init_size(&frame, bytes.size()) != 0) return outcome::full;
  std::memcpy(zmq_msg_data(&frame), bytes.data(), bytes.size());
  const outcome done = try_send(route, &frame, true);
  if (done != outcome::sent) zmq_msg_close(&frame);
  return done;
}

void stream_publisher_link::on_hello(const std::string& route, const wire::link_message& hello, sample* last) noexcept {
  const auto found = std::find_if(all_.begin(), all_.end(),
                                  [&](const auto& each) { return each->subscription == hello.subscription; });
  const bool joins = found == all_.end();
  reader* const before = joins ? nullptr : found->get();
  if (joins && all_.size() >= forget_at_) forget_gone_readers(last);
  if (joins && all_.size() >= max_readers) {
    tell(route, wire::link_kind::refused, hello.subscription, last);
    return;
  }
  tell(route, wire::link_kind::welcome, hello.subscription, last);
  if (joins) {
    auto fresh = std::make_unique<reader>();
    fresh->subscription = hello.subscription;
    fresh->depth = std::min(hello.depth, max_depth);
    fresh->lagging = sample_ring(std::max<std::uint32_t>(fresh->depth, 1));
    all_.push_back(std::move(fresh));
  }
  reader& known = joins ? *all_.back() : *before;
  // It gets the current sample at once: the last-value cache for one that joins, a repair for one that came back over
  // a new connection. In order, what it lacks may still be on its way over the same connection.
  const bool same_connection = known.route == route;
  known.route = route;
  known.gone = false;
  if (last != nullptr && hello.last_sequence < last->sequence && known.lagging.empty() &&
      (known.depth == 0 || !same_connection))
    known.behind = true;
}

// The kernel tells of a killed subscriber, but libzmq tells only who sends to it.
void stream_publisher_link::forget_gone_readers(sample* last) noexcept {
  std::erase_if(all_, [&](const auto& each) {
    return tell(each->route, wire::link_kind::welcome, each->subscription, last) == outcome::gone;
  });
  forget_at_ = std::max(few_readers, 2 * all_.size());
}

void stream_publisher_link::after_change() noexcept {
  std::erase_if(all_, [](const auto& each) { return each->gone; });
  readers_.store(all_.size(), std::memory_order_relaxed);
  urgent_.store(
      std::any_of(all_.begin(), all_.end(), [](const auto& each) { return each->behind || !each->lagging.empty(); }),
      std::memory_order_relaxed);
}

}  // namespace orc::detail
