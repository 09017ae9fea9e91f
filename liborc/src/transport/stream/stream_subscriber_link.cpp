#include "transport/stream/stream_subscriber_link.h"

#include <sys/socket.h>

#include "base/copy.h"
#include "transport/stream/stream_socket.h"

namespace orc::detail {

namespace {

constexpr std::size_t sample_read_buffer = 32 * 1024;
// One receive takes at most this much out of the kernel, which rarely holds as much. A publisher that is faster than
// this thread must not keep it reading for ever, whatever it sends.
constexpr std::size_t max_bytes = 16 * 1024 * 1024;
constexpr std::size_t max_frames = 64 * 1024;
constexpr std::size_t max_publisher_message = 4096;
constexpr auto max_answer_time = std::chrono::milliseconds(750);

}  // namespace

stream_subscriber_link::stream_subscriber_link(unique_fd fd, wire::transport kind, const subscription_spec& spec)
    : kind_(kind),
      line_(std::move(fd), stream_connection::role::dealer, max_publisher_message, sample_read_buffer),
      publication_(spec.publication),
      subscription_(spec.id),
      secret_(spec.secret),
      delivery_(spec.delivery),
      newest_so_far_(spec.newest) {}

stream_subscriber_link::~stream_subscriber_link() {
  if (state() == link_state::connected) say(wire::link_kind::goodbye);
}

// Newest wins: empties the socket, and drops everything older than the last sample in it.
bool stream_subscriber_link::try_recv(sample& out, pick) noexcept {
  bool found = false;
  std::size_t budget = max_bytes;
  stream_connection::incoming frame;
  cut_short_ = false;
  for (std::size_t frames = 0; state() != link_state::lost; ++frames) {
    if (frames == max_frames) {
      cut_short_ = true;
      break;
    }
    const auto event = line_.receive(frame, budget);
    if (!greeted_ && line_.ready()) {
      greeted_ = true;
      say(wire::link_kind::hello);
    }
    if (event == stream_connection::event::nothing) {
      cut_short_ = budget == 0;
      break;
    }
    if (event != stream_connection::event::frame) {
      const bool broken = event == stream_connection::event::broken;
      if (broken) count_malformed();
      lose({broken                 ? link_end::cause::not_orc
            : line_.failure() != 0 ? link_end::cause::network
                                   : link_end::cause::closed,
            line_.failure()});
      break;
    }
    const auto what = accept(frame, out);
    if (what == accepted::nothing && noise_.exceeded_by(1)) {
      count_malformed();
      lose({link_end::cause::not_orc});
    }
    if (what != accepted::sample) continue;
    found = true;
    if (delivery_.depth == 0) continue;
    cut_short_ = true;
    break;
  }
  return found;
}

stream_subscriber_link::accepted stream_subscriber_link::accept(stream_connection::incoming& frame,
                                                                sample& out) noexcept {
  if (frame.multipart || frame.bytes.size() < wire::sample_header::bytes) {
    count_malformed();
    return accepted::nothing;
  }
  const auto header = wire::get(frame.bytes.data());
  if (header.sequence == 0) {
    if (const auto message = wire::decode_link_message(frame.bytes))
      handle(*message);
    else
      count_malformed();
    return accepted::nothing;
  }
  if (state() != link_state::connected) {  // no samples may come before the welcome
    count_malformed();
    return accepted::nothing;
  }
  if (frame.large) {
    out.buffer = std::move(frame.large);
  } else {
    auto buffer = allocate_frame(frame.bytes.size() - wire::sample_header::bytes);
    if (!buffer) return accepted::no_memory;  // keep an older sample in `out`
    copy_bytes(frame_of(buffer).data(), frame.bytes.data(), frame.bytes.size());
    out.buffer = std::move(buffer);
  }
  out.sequence = header.sequence;
  out.stamp_ns = header.stamp_ns;
  return accepted::sample;
}

void stream_subscriber_link::handle(const wire::link_message& message) noexcept {
  if (message.subscription != subscription_) return;
  if (message.publication != publication_)
    refuse(link_end::cause::other_publication);
  else if (message.kind == wire::link_kind::refused)
    refuse(link_end::cause::no_room);
  if (message.kind != wire::link_kind::welcome || state() != link_state::connecting) return;
  newest_at_join_ = message.last_sequence;
  line_.allow(wire::sample_header::bytes + max_stream_sample);
  state_.store(link_state::connected, std::memory_order_release);
}

void stream_subscriber_link::lose(link_end why) noexcept {
  end_ = why;
  state_.store(link_state::lost, std::memory_order_release);
}

void stream_subscriber_link::refuse(link_end::cause why) noexcept {
  end_ = {why};
  state_.store(link_state::refused, std::memory_order_release);
}

bool stream_subscriber_link::is_reached() const noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  return ::getpeername(line_.fd(), reinterpret_cast<sockaddr*>(&peer), &size) == 0;
}

std::string stream_subscriber_link::remark() const { return small_packets_remark(line_.fd(), kind_); }

// How often the kernel has tried says little, because its pauses depend on the network. After a silence the publisher's
// kernel may pause for as long again before it repeats what was lost: then only data shows that its way works.
bool stream_subscriber_link::path_answers(monotonic::time_point now) noexcept {
  if (state() != link_state::connected) return true;
  const auto path = path_of(line_.fd(), kind_);
  if (path == path_state::heard || (path == path_state::quiet && !is_silent_)) asked_at_ = now;
  if (path == path_state::quiet) line_.ping();
  is_silent_ = now - asked_at_ >= max_answer_time;
  return !is_silent_;
}

void stream_subscriber_link::say(wire::link_kind kind) noexcept {
  const auto bytes = wire::encode(wire::link_message{.kind = kind,
                                                     .publication = publication_,
                                                     .subscription = subscription_,
                                                     .secret = kind == wire::link_kind::hello ? secret_ : 0,
                                                     .depth = delivery_.depth,
                                                     .takes_padding = kind == wire::link_kind::hello,
                                                     .last_sequence = newest_so_far_});
  (void)line_.send(bytes);  // the rest goes out with the next receive
}

}  // namespace orc::detail
