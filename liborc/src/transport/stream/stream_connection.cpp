#include "transport/stream/stream_connection.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/copy.h"

namespace orc::detail {

namespace {

namespace zmtp = wire::zmtp;

constexpr std::size_t noise_unit = 4096;  // bytes of a large part that count as one
// A peer may announce any size and send nothing. Beyond this it takes memory only for what has arrived, or did before.
constexpr std::size_t taken_on_trust = 16 * 1024 * 1024;

}  // namespace

stream_connection::stream_connection(unique_fd fd, role as, std::size_t largest, std::size_t buffer)
    : zmtp_connection(std::move(fd), {.as = as, .to_counterpart = false, .largest = largest, .buffer = buffer}),
      largest_so_far_(taken_on_trust) {
  if (!greet() && failure() == 0) throw std::bad_alloc();
}

// ---- receiving ----

stream_connection::event stream_connection::receive(incoming& out, std::size_t& budget) noexcept {
  if (unsent() != 0 && zmtp_connection::flush() == written::failed) return event::closed;
  for (;;) {
    if (large_) return receive_large(out, budget);
    received got;
    switch (next(got, budget)) {
      case zmtp_connection::event::frame: break;
      case zmtp_connection::event::introduced:
      case zmtp_connection::event::command:
        ++commands_;
        if (noise_.exceeded_by(1)) return event::broken;
        continue;
      case zmtp_connection::event::nothing: return event::nothing;
      case zmtp_connection::event::closed: return event::closed;
      case zmtp_connection::event::broken: return event::broken;
    }
    const bool more = (got.flags & zmtp::more) != 0;
    const std::size_t paddings = std::min(std::exchange(commands_, 0), got.size >= padded_size ? max_paddings : 0);
    for (std::size_t n = 0; n < paddings; ++n) noise_.refund();
    if (more || skipping_) {
      // A part of a message that is dropped needs no memory.
      const bool large = got.too_large_for_buffer();
      if (noise_.exceeded_by(1 + (large ? got.size / noise_unit : 0))) return event::broken;
      if (large) skip(got.size);
      skipping_ = more;
      if (more) continue;
      out = {.bytes = {}, .large = {}, .multipart = true};
      return event::frame;
    }
    if (got.too_large_for_buffer()) {
      if (!begin_large(got.size)) return event::broken;
      continue;
    }
    out.large.reset();
    out.multipart = false;
    out.bytes = got.bytes;
    return event::frame;
  }
}

stream_connection::event stream_connection::receive_large(incoming& out, std::size_t& budget) noexcept {
  while (large_filled_ < large_size_) {
    if (large_filled_ == frame_of(large_).size() && !grow_large()) return event::broken;
    const auto rest = frame_of(large_).subspan(large_filled_);
    const auto got = receive_in_place(rest, large_filled_ + rest.size() == large_size_, large_filled_, budget);
    if (got == zmtp_connection::event::closed) return event::closed;
    if (got != zmtp_connection::event::frame) return event::nothing;
  }
  largest_so_far_ = std::max(largest_so_far_, large_size_);
  out.large = std::move(large_);
  out.bytes = frame_of(out.large);
  out.multipart = false;
  return event::frame;
}

bool stream_connection::begin_large(std::size_t size) noexcept {
  large_ = allocate_frame(std::min(size, largest_so_far_) - wire::sample_header::bytes);
  large_size_ = size;
  large_filled_ = 0;
  return static_cast<bool>(large_);
}

bool stream_connection::grow_large() noexcept {
  sample_buffer larger = allocate_frame(std::min(large_size_, 2 * large_filled_) - wire::sample_header::bytes);
  if (!larger) return false;
  copy_bytes(frame_of(larger).data(), frame_of(large_).data(), large_filled_);
  large_ = std::move(larger);
  return true;
}

// ---- sending ----

stream_connection::written stream_connection::send(const wire::sample_header& header,
                                                   std::span<const std::byte> payload) noexcept {
  static_assert(wire::sample_header::bytes <= max_head);
  wire::put(header, sample_head_.data());
  sample_done_ = 0;
  return write(sample_head_, payload, sample_done_);
}

stream_connection::written stream_connection::send(std::span<const std::byte> small) noexcept {
  std::byte whole[zmtp::max_frame_header + max_small_frame];
  const auto header = zmtp::encode_frame_header(small.size());
  std::memcpy(whole, header.bytes.data(), header.size);
  std::memcpy(whole + header.size, small.data(), small.size());
  return send_small({whole, header.size + small.size()});
}

stream_connection::written stream_connection::flush() noexcept {
  if (begun()) {
    const written result = write(sample_head_, {sample_.payload(), sample_.size()}, sample_done_);
    if (result != written::all) return result;
    sample_.reset();
  }
  return zmtp_connection::flush();
}

}  // namespace orc::detail
