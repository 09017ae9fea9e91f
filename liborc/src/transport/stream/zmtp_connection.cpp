#include "transport/stream/zmtp_connection.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orc::detail {

namespace {

namespace zmtp = wire::zmtp;

constexpr std::size_t most_small_bytes = 1024;  // that may wait; a peer that asks for more does not read
constexpr unsigned most_wasted = 256;           // nobody who means well sends as many
constexpr std::size_t copied_size = 256;        // up to this, one contiguous write is cheaper than two pieces

[[nodiscard]] std::span<const std::byte> bytes_of(const std::string& text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

zmtp_connection::zmtp_connection(unique_fd fd, std::string_view socket_type, std::size_t largest, std::size_t buffer)
    : fd_(std::move(fd)),
      largest_(largest),
      capacity_(std::max(buffer, zmtp::greeting_bytes)),
      buffer_(new std::byte[capacity_]) {
  const auto greeting = zmtp::greeting();
  small_.reserve(most_small_bytes);
  small_.append(reinterpret_cast<const char*>(greeting.data()), greeting.size());
  small_ += zmtp::ready_frame(socket_type);
  pending_ = outgoing::small;
  (void)flush();  // a socket that is still connecting takes it later
}

zmtp_connection::~zmtp_connection() {
  if (!fd_) return;
  // Closing with unread bytes would make tcp reset the connection and throw away what the peer has not got yet.
  ::shutdown(fd_.get(), SHUT_WR);
  for (int n = 0; n < 16 && ::recv(fd_.get(), buffer_.get(), capacity_, MSG_DONTWAIT) > 0; ++n) {
  }
  ::shutdown(fd_.get(), SHUT_RD);
}

// ---- in ----

zmtp_connection::event zmtp_connection::receive(incoming& out) noexcept {
  if (pending_ == outgoing::small && flush() == written::failed) return event::closed;
  if (begin_ == end_) wasted_ = 0;
  for (;;) {
    if (large_) {
      bool complete = false;
      const event got = read_large(out, complete);
      if (got != (complete ? event::nothing : event::frame)) return got;
      continue;  // with more of it, or after a part that was for us alone
    }
    if (const event got = parse(out); got != event::nothing) return got;
    if (large_) continue;
    if (drained_) {
      drained_ = false;
      return event::nothing;
    }
    if (const event got = read_more(); got != event::frame) return got;
  }
}

// Frame: some bytes came.
zmtp_connection::event zmtp_connection::read_more() noexcept {
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t room = capacity_ - end_;
  for (;;) {
    const ssize_t n = ::recv(fd_.get(), buffer_.get() + end_, room, MSG_DONTWAIT);
    if (n == 0) return event::closed;
    if (n > 0) {
      end_ += static_cast<std::size_t>(n);
      drained_ = static_cast<std::size_t>(n) < room;
      return event::frame;
    }
    if (errno == EAGAIN || errno == ENOTCONN) return event::nothing;
    if (errno != EINTR) return event::closed;
  }
}

// Frame: some bytes came; `complete`: they were the last ones.
zmtp_connection::event zmtp_connection::read_large(incoming& out, bool& complete) noexcept {
  auto* const start = frame_of(large_).data();
  const std::size_t rest = large_size_ - large_filled_;
  const ssize_t n = ::recv(fd_.get(), start + large_filled_, rest, MSG_DONTWAIT);
  if (n == 0) return event::closed;
  if (n < 0) {
    if (errno == EINTR) return event::frame;
    return errno == EAGAIN ? event::nothing : event::closed;
  }
  large_filled_ += static_cast<std::size_t>(n);
  if (large_filled_ < large_size_) return static_cast<std::size_t>(n) < rest ? event::nothing : event::frame;
  complete = true;
  out.large = std::move(large_);
  return take(large_flags_, {start, large_size_}, out);
}

bool zmtp_connection::begin_large(const zmtp::frame_header& header) noexcept {
  large_ = allocate_frame(header.size - wire::sample_header::bytes);
  if (!large_) return false;
  large_flags_ = header.flags;
  large_size_ = header.size;
  begin_ += header.header_size;
  large_filled_ = end_ - begin_;
  std::memcpy(frame_of(large_).data(), buffer_.get() + begin_, large_filled_);
  begin_ = end_ = 0;
  drained_ = false;
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
    const auto header = zmtp::decode_frame_header(buffered());
    if (!header) return event::nothing;
    if ((header->flags & ~zmtp::known_flags) != 0 || header->size > largest_) return event::broken;
    if (header->size > capacity_ - header->header_size) {
      if (state_ != state::ready) return event::broken;
      return begin_large(*header) ? event::nothing : event::broken;
    }
    const auto rest = buffered().subspan(header->header_size);
    if (rest.size() < header->size) return event::nothing;
    begin_ += header->header_size + header->size;
    out.large.reset();
    if (const event got = take(header->flags, rest.first(header->size), out); got != event::nothing) return got;
  }
}

// Nothing: it was for us alone.
zmtp_connection::event zmtp_connection::take(std::uint8_t flags, std::span<const std::byte> body,
                                             incoming& out) noexcept {
  if (++wasted_ > most_wasted) return event::broken;
  if ((flags & zmtp::command) != 0) return handle_command(body) ? event::nothing : event::broken;
  if (state_ != state::ready) return event::broken;
  const bool more = (flags & zmtp::more) != 0;
  const bool part = more || skipping_;
  skipping_ = more;
  if (more) return event::nothing;
  wasted_ = 0;
  out.multipart = part;
  out.bytes = part ? std::span<const std::byte>{} : body;
  return event::frame;
}

bool zmtp_connection::handle_command(std::span<const std::byte> body) noexcept {
  const auto name = zmtp::command_name(body);
  if (state_ != state::ready) {
    if (name != "READY") return false;
    state_ = state::ready;
    return true;
  }
  if (name == "PING") (void)enqueue(bytes_of(zmtp::pong_frame(body)));
  return name != "ERROR";
}

// ---- out ----

zmtp_connection::written zmtp_connection::write_out(const std::byte* head, std::size_t head_size, const std::byte* body,
                                                    std::size_t body_size, std::size_t& done) noexcept {
  const std::size_t size = head_size + body_size;
  iovec parts[2];
  msghdr message{};
  message.msg_iov = parts;
  for (;;) {
    message.msg_iovlen = 0;
    if (done < head_size) parts[message.msg_iovlen++] = {const_cast<std::byte*>(head) + done, head_size - done};
    const std::size_t body_done = done > head_size ? done - head_size : 0;
    parts[message.msg_iovlen++] = {const_cast<std::byte*>(body) + body_done, body_size - body_done};
    // MSG_EOR: tcp must not append to what waits already, for then it would not look how much that is.
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      return done == size ? written::all : written::some;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != ENOTCONN) return written::failed;
    return done == 0 ? written::none : written::some;
  }
}

zmtp_connection::written zmtp_connection::send(sample_buffer& sample) noexcept {
  const auto frame = frame_of(sample);
  const auto header = zmtp::encode_frame_header(frame.size());
  std::size_t done = 0;
  written result{};
  if (frame.size() <= copied_size) {
    std::byte whole[zmtp::longest_frame_header + copied_size];
    std::memcpy(whole, header.bytes.data(), header.size);
    std::memcpy(whole + header.size, frame.data(), frame.size());
    result = write_out(whole, 0, whole, header.size + frame.size(), done);
  } else {
    result = write_out(header.bytes.data(), header.size, frame.data(), frame.size(), done);
  }
  if (result != written::some) return result;
  sample_ = share_frame(sample);
  if (!sample_) return written::failed;  // no memory for the rest, and half a sample is of no use
  sample_header_ = header;
  sample_done_ = done;
  pending_ = outgoing::sample;
  return result;
}

zmtp_connection::written zmtp_connection::send(std::span<const std::byte> small) noexcept {
  std::byte whole[zmtp::longest_frame_header + largest_small];
  const auto header = zmtp::encode_frame_header(small.size());
  std::memcpy(whole, header.bytes.data(), header.size);
  std::memcpy(whole + header.size, small.data(), small.size());
  return enqueue({whole, header.size + small.size()});
}

zmtp_connection::written zmtp_connection::enqueue(std::span<const std::byte> frame) noexcept {
  if (small_.size() + frame.size() > most_small_bytes) return written::none;
  small_.append(reinterpret_cast<const char*>(frame.data()), frame.size());
  if (pending()) return written::some;  // what is begun comes first
  pending_ = outgoing::small;
  return flush();
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
  const auto frame = frame_of(sample_);
  const written result =
      write_out(sample_header_.bytes.data(), sample_header_.size, frame.data(), frame.size(), sample_done_);
  if (result != written::all) return result;
  sample_.reset();
  pending_ = small_.empty() ? outgoing::none : outgoing::small;
  return result;
}

}  // namespace orc::detail
