#include "transport/stream/zmtp_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/stray_descriptors.h"

namespace orc::detail {

namespace {

namespace zmtp = wire::zmtp;

constexpr std::size_t max_small_bytes = 1024;  // that may wait; a peer that asks for more does not read
constexpr std::size_t noise_unit = 4096;       // bytes of a part that count as one
constexpr std::size_t copied_size = 256;       // up to this, one contiguous write is cheaper than two pieces
// A peer may announce any size and send nothing. Beyond this it takes memory only for what has arrived, or did before.
constexpr std::size_t taken_on_trust = 16 * 1024 * 1024;

[[nodiscard]] std::span<const std::byte> bytes_of(const std::string& text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

zmtp_connection::zmtp_connection(unique_fd fd, std::string_view socket_type, std::size_t largest, std::size_t buffer)
    : fd_(std::move(fd)),
      plain_(refuse_descriptors(fd_.get())),
      largest_(largest),
      capacity_(std::max(buffer, zmtp::greeting_bytes)),
      buffer_(new std::byte[capacity_]),
      largest_so_far_(taken_on_trust) {
  const auto greeting = zmtp::greeting();
  small_.reserve(max_small_bytes);
  small_.append(reinterpret_cast<const char*>(greeting.data()), greeting.size());
  small_ += zmtp::ready_frame(socket_type);
  pending_ = outgoing::small;
  (void)flush();  // a socket that still connects takes it later
}

zmtp_connection::~zmtp_connection() {
  if (!fd_) return;
  // Closing with unread bytes would make tcp reset the connection, and the peer would lose what it has not received
  // yet.
  ::shutdown(fd_.get(), SHUT_WR);
  iovec unread{buffer_.get(), capacity_};
  for (int n = 0; n < 16 && take({&unread, 1}) > 0; ++n) {
  }
  ::shutdown(fd_.get(), SHUT_RD);
}

// ---- receiving ----

zmtp_connection::event zmtp_connection::receive(incoming& out, std::size_t& budget) noexcept {
  if (pending_ == outgoing::small && flush() == written::failed) return event::closed;
  for (;;) {
    if (large_) return read_large(out, budget);
    if (const event got = parse(out); got != event::nothing) return got;
    if (large_) continue;
    if (drained_) {
      drained_ = false;
      return event::nothing;
    }
    if (const event got = read_more(budget); got != event::frame) return got;
  }
}

ssize_t zmtp_connection::take(std::span<iovec> parts) noexcept {
  if (!plain_) return receive_without_descriptors(fd_.get(), parts);
  if (parts.size() == 1) return ::recv(fd_.get(), parts[0].iov_base, parts[0].iov_len, MSG_DONTWAIT);
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  return ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
}

// Same as recv(2), within the budget. Bytes `behind` those go to the start of the buffer.
ssize_t zmtp_connection::read_into(std::byte* at, std::size_t room, std::size_t& budget, std::size_t behind) noexcept {
  iovec parts[2] = {{at, std::min(room, budget)}, {buffer_.get(), behind}};
  for (;;) {
    const ssize_t n = take(std::span(parts).first(behind != 0 ? 2 : 1));
    if (n < 0 && errno == EINTR) continue;
    if (n > 0) budget -= static_cast<std::size_t>(n);
    if (n < 0) note_failure();
    return n;
  }
}

// The event for errno; the kernel reports each failure once.
void zmtp_connection::note_failure() noexcept {
  if (failure_ == 0 && errno != EAGAIN && errno != ENOTCONN) failure_ = errno;
}

// Returns `frame` when some bytes came.
zmtp_connection::event zmtp_connection::read_more(std::size_t& budget) noexcept {
  if (budget == 0) return event::nothing;
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const bool header_alone = large_next_ && end_ == 0 && skip_ == 0;
  const std::size_t room = header_alone ? zmtp::max_frame_header : capacity_ - end_;
  const ssize_t n = read_into(buffer_.get() + end_, room, budget);
  if (n == 0) return event::closed;
  if (n < 0) return errno == EAGAIN || errno == ENOTCONN ? event::nothing : event::closed;
  end_ += static_cast<std::size_t>(n);
  drained_ = static_cast<std::size_t>(n) < room && budget != 0;
  return event::frame;
}

zmtp_connection::event zmtp_connection::read_large(incoming& out, std::size_t& budget) noexcept {
  while (large_filled_ < large_size_) {
    if (large_filled_ == frame_of(large_).size() && !grow_large()) return event::broken;
    const std::size_t room = frame_of(large_).size() - large_filled_;
    if (budget == 0) return event::nothing;
    // The next header comes along: then the end of what the kernel has shows without another read.
    const bool has_end = large_filled_ + room == large_size_ && budget >= room + zmtp::max_frame_header;
    const std::size_t behind = has_end ? zmtp::max_frame_header : 0;
    const ssize_t n = read_into(frame_of(large_).data() + large_filled_, room, budget, behind);
    if (n == 0) return event::closed;
    if (n < 0) return errno == EAGAIN ? event::nothing : event::closed;
    const auto got = static_cast<std::size_t>(n);
    large_filled_ += std::min(got, room);
    if (got < room) return event::nothing;
    end_ = got - room;
    drained_ = behind != 0 && end_ < behind && budget != 0;
  }
  largest_so_far_ = std::max(largest_so_far_, large_size_);
  large_next_ = true;
  out.large = std::move(large_);
  out.bytes = frame_of(out.large);
  out.multipart = false;
  return event::frame;
}

bool zmtp_connection::begin_large(std::size_t size) noexcept {
  large_ = allocate_frame(std::min(size, largest_so_far_) - wire::sample_header::bytes);
  if (!large_) return false;
  large_size_ = size;
  large_filled_ = end_ - begin_;
  std::memcpy(frame_of(large_).data(), buffer_.get() + begin_, large_filled_);
  begin_ = end_ = 0;
  drained_ = false;
  return true;
}

bool zmtp_connection::grow_large() noexcept {
  sample_buffer larger = allocate_frame(std::min(large_size_, 2 * large_filled_) - wire::sample_header::bytes);
  if (!larger) return false;
  std::memcpy(frame_of(larger).data(), frame_of(large_).data(), large_filled_);
  large_ = std::move(larger);
  return true;
}

zmtp_connection::event zmtp_connection::parse(incoming& out) noexcept {
  if (state_ == state::greeting) {
    const auto start = buffered();
    if (!zmtp::acceptable_greeting(start)) return event::broken;
    if (start.size() < zmtp::greeting_bytes) return event::nothing;
    begin_ += zmtp::greeting_bytes;
    state_ = state::handshake;
  }
  for (;;) {
    if (skip_ != 0) {
      const std::size_t skipped = std::min(skip_, end_ - begin_);
      begin_ += skipped;
      skip_ -= skipped;
      if (skip_ != 0) return event::nothing;
      out.large.reset();
      if (const event got = take(skip_flags_, {}, out); got != event::nothing) return got;
    }
    const auto header = zmtp::decode_frame_header(buffered());
    if (!header) return event::nothing;
    if ((header->flags & ~zmtp::known_flags) != 0 || header->size > largest_) return event::broken;
    if (header->size > capacity_ - header->header_size) {
      if (const event got = parse_large(*header); got != event::nothing || large_) return got;
      continue;
    }
    const auto rest = buffered().subspan(header->header_size);
    if (rest.size() < header->size) return event::nothing;
    begin_ += header->header_size + header->size;
    large_next_ = false;
    out.large.reset();
    if (const event got = take(header->flags, rest.first(header->size), out); got != event::nothing) return got;
  }
}

zmtp_connection::event zmtp_connection::parse_large(const zmtp::frame_header& header) noexcept {
  if (state_ != state::ready || (header.flags & zmtp::command) != 0) return event::broken;
  begin_ += header.header_size;
  if ((header.flags & zmtp::more) == 0 && !skipping_) return begin_large(header.size) ? event::nothing : event::broken;
  // A part of a message that is dropped needs no memory.
  if (noise_.exceeded_by(header.size / noise_unit)) return event::broken;
  skip_ = header.size;
  skip_flags_ = header.flags;
  return event::nothing;
}

// Nothing: it was for this connection only.
zmtp_connection::event zmtp_connection::take(std::uint8_t flags, std::span<const std::byte> body,
                                             incoming& out) noexcept {
  const bool is_command = (flags & zmtp::command) != 0;
  const bool more = (flags & zmtp::more) != 0;
  const bool part = more || skipping_;
  if ((is_command || part) && noise_.exceeded_by(1)) return event::broken;
  if (is_command) return handle_command(body) ? event::nothing : event::broken;
  if (state_ != state::ready) return event::broken;
  skipping_ = more;
  if (more) return event::nothing;
  out.multipart = part;
  out.bytes = part ? std::span<const std::byte>{} : body;
  return event::frame;
}

bool zmtp_connection::handle_command(std::span<const std::byte> body) noexcept try {
  const auto name = zmtp::command_name(body);
  if (state_ != state::ready) {
    if (name != "READY") return false;
    state_ = state::ready;
    return true;
  }
  if (name == "PING") (void)enqueue(bytes_of(zmtp::pong_frame(body)));
  return name != "ERROR";
} catch (const std::bad_alloc&) {
  return true;  // without the PONG
}

// ---- sending ----

zmtp_connection::written zmtp_connection::write_out(const std::byte* head, std::size_t head_size, const std::byte* body,
                                                    std::size_t body_size, std::size_t& done) noexcept {
  const std::size_t size = head_size + body_size;
  iovec parts[2];
  msghdr message{};
  message.msg_iov = parts;
  for (;;) {
    message.msg_iovlen = 0;
    const std::size_t head_left = head_size - std::min(done, head_size);
    if (head_left != 0) parts[message.msg_iovlen++] = {const_cast<std::byte*>(head) + done, head_left};
    const std::size_t body_done = done - std::min(done, head_size);
    const std::size_t asked = std::min(size - done, piece_);
    parts[message.msg_iovlen++] = {const_cast<std::byte*>(body) + body_done, asked - head_left};
    // MSG_EOR: tcp must not append to what waits already, because it would not check how much that is.
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      if (done == size) return written::all;
      if (static_cast<std::size_t>(n) == asked) continue;  // a piece
      return written::some;
    }
    if (errno == EINTR) continue;
    note_failure();
    if (errno != EAGAIN && errno != ENOTCONN) return written::failed;
    return done == 0 ? written::none : written::some;
  }
}

zmtp_connection::sample_head zmtp_connection::head_of(const wire::sample_header& header,
                                                      std::size_t payload_size) noexcept {
  const auto frame = zmtp::encode_frame_header(wire::sample_header::bytes + payload_size);
  sample_head head{.bytes = {}, .size = frame.size + wire::sample_header::bytes};
  std::memcpy(head.bytes.data(), frame.bytes.data(), frame.size);
  wire::put(header, head.bytes.data() + frame.size);
  return head;
}

zmtp_connection::written zmtp_connection::send(const wire::sample_header& header,
                                               std::span<const std::byte> payload) noexcept {
  const auto head = head_of(header, payload.size());
  std::size_t done = 0;
  written result{};
  if (payload.size() <= copied_size) {
    std::byte whole[max_head + copied_size];
    std::memcpy(whole, head.bytes.data(), head.size);
    if (!payload.empty()) std::memcpy(whole + head.size, payload.data(), payload.size());
    result = write_out(whole, 0, whole, head.size + payload.size(), done);
  } else {
    result = write_out(head.bytes.data(), head.size, payload.data(), payload.size(), done);
  }
  if (result != written::some) return result;
  sample_head_ = head;
  sample_done_ = done;
  return result;
}

void zmtp_connection::keep(sample_buffer&& payload) noexcept {
  sample_ = std::move(payload);
  pending_ = outgoing::sample;
}

zmtp_connection::written zmtp_connection::send(std::span<const std::byte> small) noexcept {
  std::byte whole[zmtp::max_frame_header + max_small_frame];
  const auto header = zmtp::encode_frame_header(small.size());
  std::memcpy(whole, header.bytes.data(), header.size);
  std::memcpy(whole + header.size, small.data(), small.size());
  return enqueue({whole, header.size + small.size()});
}

zmtp_connection::written zmtp_connection::enqueue(std::span<const std::byte> frame) noexcept {
  if (small_.size() + frame.size() > max_small_bytes) return written::none;
  small_.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  if (pending()) return written::some;  // what is begun comes first
  pending_ = outgoing::small;
  return flush();
}

void zmtp_connection::ping() noexcept try {
  if (!pending() && ready()) (void)enqueue(bytes_of(zmtp::ping_frame()));
} catch (const std::bad_alloc&) {  // without the PING
}

zmtp_connection::written zmtp_connection::flush() noexcept {
  while (pending_ != outgoing::none) {
    const written result = pending_ == outgoing::small ? flush_small() : flush_sample();
    if (result != written::all) return result == written::none ? written::some : result;
  }
  return written::all;
}

zmtp_connection::written zmtp_connection::flush_small() noexcept {
  const auto bytes = bytes_of(small_);
  const written result = write_out(bytes.data(), 0, bytes.data(), bytes.size(), small_done_);
  if (result != written::all) return result;
  small_.clear();
  small_done_ = 0;
  pending_ = outgoing::none;
  return result;
}

zmtp_connection::written zmtp_connection::flush_sample() noexcept {
  const written result =
      write_out(sample_head_.bytes.data(), sample_head_.size, sample_.payload(), sample_.size(), sample_done_);
  if (result != written::all) return result;
  sample_.reset();
  pending_ = small_.empty() ? outgoing::none : outgoing::small;
  return result;
}

}  // namespace orc::detail
