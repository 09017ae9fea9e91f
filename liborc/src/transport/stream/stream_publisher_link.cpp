#include "transport/stream/stream_publisher_link.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "transport/stream/stream_socket.h"

namespace orc::detail {

namespace {

constexpr std::uint32_t max_depth = 65536;
constexpr std::size_t largest_link_message = 4096;  // what a publication accepts from subscribers
constexpr std::size_t read_buffer = 512;

[[nodiscard]] bool has_header(sample& s) noexcept {
  const auto header = wire::get(frame_of(s.buffer).data());
  return header.sequence == s.sequence && header.stamp_ns == s.stamp_ns;
}

// The same bytes, with the header in front of them. A frame that others may see already (a message that is forwarded
// while somebody still holds it) cannot get it in place: it is copied. Without a buffer: no memory.
[[nodiscard]] sample with_header(sample& s) noexcept {
  if (has_header(s)) return {share(s.buffer), s.sequence, s.stamp_ns};
  sample copy{allocate_frame(s.buffer.size()), s.sequence, s.stamp_ns};
  if (!copy.buffer) return copy;
  std::memcpy(copy.buffer.payload(), s.buffer.payload(), s.buffer.size());
  write_header(copy.buffer, {s.sequence, s.stamp_ns});
  return copy;
}

}  // namespace

stream_publisher_link::reader::reader(unique_fd fd)
    : line(std::move(fd), "ROUTER", largest_link_message, read_buffer) {}

stream_publisher_link::stream_publisher_link(acceptor door, wire::id publication, wire::endpoint where)
    : door_(std::move(door)), publication_(publication), where_(std::move(where)) {}

// ---- out ----

void stream_publisher_link::commit(sample& s) noexcept {
  if (readers() == 0) return;
  sample own;
  if (!has_header(s) && !(own = with_header(s)).buffer) return;
  for (const auto& each : all_) {
    if (each->joined) offer(*each, own.buffer ? own : s);
  }
  after_change();
}

void stream_publisher_link::offer(reader& to, sample& s) noexcept {
  if (waits(to)) catch_up(to, nullptr);
  if (to.gone) return;
  if (to.line.pending() || !to.lagging.empty() || !hand_over(to, s)) return queue(to, s);
  to.behind = false;
}

// False: there is no room. A part that was taken counts as all: the connection keeps the rest.
bool stream_publisher_link::hand_over(reader& to, sample& s) noexcept {
  fit_kernel_queue(to, s.buffer.size());
  switch (to.line.send(s.buffer)) {
    case zmtp_connection::written::all: return true;
    case zmtp_connection::written::some: watch_for_room(to); return true;
    case zmtp_connection::written::none: return false;
    case zmtp_connection::written::failed: to.gone = changed_ = true; return true;
  }
  return true;
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
    if (sample kept{share_frame(s.buffer), s.sequence, s.stamp_ns}; kept.buffer)
      dropped += to.lagging.push(std::move(kept));
    else
      ++dropped;
  }
  if (dropped != 0) dropped_.fetch_add(dropped, std::memory_order_relaxed);
  watch_for_room(to);
}

void stream_publisher_link::catch_up(reader& to, sample* last) noexcept {
  if (to.gone) return;
  if (to.line.flush() == zmtp_connection::written::failed) {
    to.gone = changed_ = true;
    return;
  }
  while (!to.gone && !to.line.pending() && !to.lagging.empty() && hand_over(to, to.lagging.front()))
    to.lagging.drop_front();
  if (!to.gone && !to.line.pending() && to.behind && last != nullptr) {
    sample own = with_header(*last);
    if (own.buffer && hand_over(to, own)) to.behind = false;
  }
  watch_for_room(to);
}

// About one sample may wait in the kernel: more would only be old when it arrives, less would cost large ones a wake-up
// for every piece.
void stream_publisher_link::fit_kernel_queue(reader& to, std::size_t sample_size) noexcept {
  if (sample_size <= to.kernel_queue) return;
  to.kernel_queue = std::bit_ceil(std::max(sample_size, smallest_kernel_queue));
  set_kernel_queue(to.line.fd(), where_.transport, to.kernel_queue);
}

void stream_publisher_link::watch_for_room(reader& of) noexcept {
  const bool wanted = waits(of);
  if (of.gone || wanted == of.watched_for_room) return;
  of.watched_for_room = wanted;
  door_.watch_for_room(of.line.fd(), &of, wanted);
}

bool stream_publisher_link::behind() const noexcept {
  return std::any_of(all_.begin(), all_.end(),
                     [](const auto& each) { return each->joined && !each->gone && waits(*each); });
}

// ---- in ----

void stream_publisher_link::service(sample* last) noexcept {
  door_.each_event(
      [&](void* who, std::uint32_t events) {
        reader& of = *static_cast<reader*>(who);
        if ((events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) receive_all(of, last);
        if (waits(of)) catch_up(of, last);
      },
      [&] { accept_some(); });
  if (const auto now = monotonic::now(); now >= next_sweep_) {
    next_sweep_ = now + std::chrono::seconds(1);
    sweep(now);
  }
  after_change();
}

void stream_publisher_link::accept_some() noexcept {
  for (int n = 0; n < visitor::most_accepted; ++n) {
    if (all_.size() >= max_connections) return door_.pause();
    unique_fd fd = door_.accept();
    if (!fd) return;
    try {
      accept_one(std::move(fd));
    } catch (const std::bad_alloc&) {
      return door_.pause();
    }
  }
}

void stream_publisher_link::accept_one(unique_fd fd) {
  prepare_stream(fd.get(), where_.transport);
  auto fresh = std::make_unique<reader>(std::move(fd));
  all_.push_back(std::move(fresh));
  if (!door_.watch(all_.back()->line.fd(), all_.back().get())) all_.pop_back();
}

void stream_publisher_link::receive_all(reader& from, sample* last) noexcept {
  zmtp_connection::incoming frame;
  while (!from.gone) {
    switch (from.line.receive(frame)) {
      case zmtp_connection::event::frame:
        if (frame.multipart)
          count_malformed();
        else
          receive(from, frame.bytes, last);
        break;
      case zmtp_connection::event::nothing: return;
      case zmtp_connection::event::broken: count_malformed(); [[fallthrough]];
      case zmtp_connection::event::closed: from.gone = changed_ = true; return;
    }
    if (from.guest.talks_too_much()) {
      count_malformed();
      from.gone = changed_ = true;
    }
  }
}

void stream_publisher_link::receive(reader& from, std::span<const std::byte> frame, sample* last) noexcept {
  const auto message = wire::decode_link_message(frame);
  if (!message || (message->kind != wire::link_kind::hello && message->kind != wire::link_kind::goodbye)) {
    count_malformed();
  } else if (message->kind == wire::link_kind::goodbye) {
    from.gone = changed_ = true;
  } else if (message->publication != publication_) {
    tell(from, wire::link_kind::refused, message->subscription, last);
  } else if (from.joined && from.subscription != message->subscription) {
    count_malformed();  // one connection, one subscription
  } else {
    on_hello(from, *message, last);
  }
}

void stream_publisher_link::tell(reader& to, wire::link_kind kind, const wire::id& subscription,
                                 sample* last) noexcept {
  const auto bytes = wire::encode(wire::link_message{.kind = kind,
                                                     .publication = publication_,
                                                     .subscription = subscription,
                                                     .last_sequence = last != nullptr ? last->sequence : 0});
  if (to.line.send(bytes) == zmtp_connection::written::failed) to.gone = changed_ = true;
}

void stream_publisher_link::on_hello(reader& from, const wire::link_message& hello, sample* last) noexcept {
  if (!from.joined && readers() >= max_readers) return tell(from, wire::link_kind::refused, hello.subscription, last);
  tell(from, wire::link_kind::welcome, hello.subscription, last);
  if (from.joined) return;  // said once more on a silent link
  // The same subscription over an older connection: it has come back before we saw it leave.
  for (const auto& each : all_) {
    if (each->joined && each->subscription == hello.subscription) each->gone = true;
  }
  from.joined = changed_ = true;
  from.subscription = hello.subscription;
  from.depth = std::min(hello.depth, max_depth);
  from.lagging = sample_ring(std::max<std::uint32_t>(from.depth, 1));
  // It gets the current sample at once: the last-value cache for one that joins, a repair for one that came back.
  if (last == nullptr || hello.last_sequence >= last->sequence) return;
  if (from.depth == 0) {
    from.behind = true;
  } else if (sample own = with_header(*last); own.buffer) {
    own.buffer = share_frame(own.buffer);
    if (own.buffer) (void)from.lagging.push(std::move(own));  // in order: before any that is sent from now on
  }
}

void stream_publisher_link::sweep(monotonic::time_point now) noexcept {
  for (const auto& each : all_) {
    const bool stranger = !each->joined && each->guest.is_overdue(now);
    const bool dead = waits(*each) && peer_is_silent(each->line.fd(), where_.transport);
    if (stranger || dead) each->gone = changed_ = true;
  }
  door_.resume();
}

void stream_publisher_link::after_change() noexcept {
  if (!changed_) return;
  changed_ = false;
  std::erase_if(all_, [&](const auto& each) {
    if (each->gone) door_.forget(each->line.fd());
    return each->gone;
  });
  readers_.store(
      static_cast<std::size_t>(std::count_if(all_.begin(), all_.end(), [](const auto& each) { return each->joined; })),
      std::memory_order_relaxed);
}

}  // namespace orc::detail
