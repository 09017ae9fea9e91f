#include "zmtp/zmtp_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/copy.h"
#include "base/files/stray_descriptors.h"

namespace orc::detail {

namespace {

namespace zmtp = wire::zmtp;

constexpr std::size_t read_at_once = 16 * 1024;  // into a buffer that grows
constexpr std::size_t idle_capacity = 1024;      // of a buffer that grows, while it has less; 0 while it is empty
constexpr std::size_t max_ready_bytes = 4096;    // of an introduction
constexpr std::size_t max_small_bytes = 1024;    // that may wait; a peer that asks for more does not read
constexpr std::size_t copied_size = 256;         // up to this, one contiguous write is cheaper than two pieces
constexpr std::size_t piece_bytes = 16 * 1024;   // of what waits

[[nodiscard]] std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

[[nodiscard]] std::string_view name_of(zmtp_connection::role role) noexcept {
  return role == zmtp_connection::role::router ? "ROUTER" : "DEALER";
}

// The kernel puts what a tcp socket sends at the start of a page, unless earlier bytes of this thread still wait there.
[[nodiscard]] std::size_t padding_for(std::span<const std::byte> body, std::size_t front) noexcept {
  std::size_t padding = 0;
  while (copies_slowly(reinterpret_cast<std::uintptr_t>(body.data()), padding + front)) padding += zmtp::padding.size();
  return padding;
}

[[nodiscard]] bool means_not_now(int error) noexcept { return error == EAGAIN || error == ENOTCONN; }

}  // namespace

zmtp_connection::zmtp_connection(unique_fd fd, const rules& by)
    : fd_(std::move(fd)),
      plain_(refuse_descriptors(fd_.get())),
      role_(by.as),
      to_counterpart_(by.to_counterpart),
      grows_(by.buffer == 0),
      largest_(by.largest) {
  if (!grows_) set_capacity(std::max(by.buffer, zmtp::greeting_bytes));
}

zmtp_connection::~zmtp_connection() {
  if (!fd_) return;
  room_ = SIZE_MAX;
  (void)flush();
  // Closing with unread bytes would make tcp reset the connection, and the peer would lose what it has not received
  // yet.
  ::shutdown(fd_.get(), SHUT_WR);
  std::array<std::byte, read_at_once> more;
  iovec unread[2] = {{buffer_.get(), capacity_}, {more.data(), more.size()}};
  for (int n = 0; n < 16 && take(unread) > 0; ++n) {
  }
  ::shutdown(fd_.get(), SHUT_RD);
}

bool zmtp_connection::greet() noexcept try {
  return keep(zmtp::greeting(), bytes_of(zmtp::ready_frame(name_of(role_)))) && flush() != written::failed;
} catch (const std::bad_alloc&) {
  return false;
}

// ---- receiving ----

zmtp_connection::event zmtp_connection::next(received& out, std::size_t& budget) noexcept {
  for (;;) {
    if (const event got = parse(out); got != event::nothing) return got;
    if (std::exchange(drained_, false)) return nothing_now();
    if (const event got = read(budget); got != event::frame) return got;
  }
}

zmtp_connection::event zmtp_connection::parse(received& out) noexcept {
  if (state_ == state::greeting) {
    const auto start = buffered();
    if (!zmtp::acceptable_greeting(start)) return event::broken;
    if (start.size() < zmtp::greeting_bytes) return event::nothing;
    begin_ += zmtp::greeting_bytes;
    state_ = state::handshake;
  }
  if (skip_ != 0) {
    const std::size_t skipped = std::min(skip_, end_ - begin_);
    begin_ += skipped;
    skip_ -= skipped;
    if (skip_ != 0) return event::nothing;
  }
  const auto header = zmtp::decode_frame_header(buffered());
  if (!header) return event::nothing;
  const bool command = (header->flags & zmtp::command) != 0;
  if ((header->flags & ~zmtp::known_flags) != 0) return event::broken;
  if (state_ != state::ready && (!command || header->size > max_ready_bytes)) return event::broken;
  if (header->size > largest_) return broken("a message that is too long");
  const auto rest = buffered().subspan(header->header_size);
  if (rest.size() < header->size) {
    if (grows_ || header->size <= capacity_ - header->header_size) return event::nothing;
    if (command) return event::broken;
    begin_ += header->header_size;
    front_ = header->header_size + std::min(std::exchange(padding_, 0), max_padding);
    drained_ = false;
    out = {header->flags, header->size, {}};
    return event::frame;
  }
  begin_ += header->header_size + header->size;
  padding_ = command ? padding_ + header->header_size + header->size : 0;
  if (!command) large_next_ = false;
  out = {header->flags, header->size, rest.first(header->size)};
  return command ? handle_command(out) : event::frame;
}

zmtp_connection::event zmtp_connection::handle_command(const received& command) noexcept try {
  const auto body = command.bytes;
  const auto name = zmtp::command_name(body);
  if ((command.flags & zmtp::more) != 0) return event::broken;
  if (state_ != state::ready) {
    if (name != "READY") return event::broken;
    const auto other = name_of(role_ == role::router ? role::dealer : role::router);
    if (to_counterpart_ && zmtp::property(body.subspan(1 + name.size()), "Socket-Type") != other) return event::broken;
    state_ = state::ready;
    return event::introduced;
  }
  if (name == "ERROR") return event::broken;
  if (name == "PING") (void)send_small(bytes_of(zmtp::pong_frame(body)));
  return event::command;
} catch (const std::bad_alloc&) {
  return event::command;  // without the PONG
}

zmtp_connection::event zmtp_connection::broken(std::string_view why) noexcept {
  why_ = why;
  return event::broken;
}

// Returns `frame` when some bytes came.
zmtp_connection::event zmtp_connection::read(std::size_t& budget) noexcept try {
  if (budget == 0) return event::nothing;
  if (begin_ == end_) {
    begin_ = end_ = 0;
  } else if (begin_ != 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const std::size_t seen = padding_ + end_;  // of what may be before the body of a large frame
  const bool front_alone = large_next_ && seen < front_ && skip_ == 0;
  const std::size_t room = grows_ ? read_at_once : front_alone ? front_ - seen : capacity_ - end_;
  const ssize_t n = grows_ ? read_and_grow(budget) : read_into(buffer_.get() + end_, room, budget);
  if (n == 0) return event::closed;
  if (n < 0) return means_not_now(errno) ? nothing_now() : event::closed;
  end_ += static_cast<std::size_t>(n);
  drained_ = static_cast<std::size_t>(n) < room && budget != 0 && !ending_;
  return event::frame;
} catch (const std::bad_alloc&) {
  return broken("no memory for a message");
}

ssize_t zmtp_connection::read_and_grow(std::size_t& budget) {
  std::array<std::byte, read_at_once> bytes;
  const ssize_t n = read_into(bytes.data(), bytes.size(), budget);
  if (n <= 0) return n;
  const std::size_t needed = end_ + static_cast<std::size_t>(n);
  const std::size_t most = largest_ + zmtp::max_frame_header + read_at_once;
  if (needed > capacity_) set_capacity(std::max(needed, std::min(2 * capacity_, most)));
  std::memcpy(buffer_.get() + end_, bytes.data(), static_cast<std::size_t>(n));
  return n;
}

// Gives back what a growing buffer does not need until more comes.
zmtp_connection::event zmtp_connection::nothing_now() noexcept try {
  const std::size_t rest = end_ - begin_;
  if (grows_ && rest < idle_capacity && capacity_ > (rest == 0 ? 0 : idle_capacity)) set_capacity(rest);
  return event::nothing;
} catch (const std::bad_alloc&) {
  return event::nothing;  // it stays as it is
}

void zmtp_connection::set_capacity(std::size_t capacity) {
  const auto rest = buffered();
  std::unique_ptr<std::byte[]> other(capacity != 0 ? new std::byte[capacity] : nullptr);
  if (!rest.empty()) std::memcpy(other.get(), rest.data(), rest.size());
  buffer_ = std::move(other);
  capacity_ = capacity;
  begin_ = 0;
  end_ = rest.size();
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
  if (failure_ == 0 && !means_not_now(errno)) failure_ = errno;
}

zmtp_connection::event zmtp_connection::receive_in_place(std::span<std::byte> to, bool to_the_end, std::size_t& filled,
                                                         std::size_t& budget) noexcept {
  if (const auto came_along = buffered(); !came_along.empty()) {  // with the header; fewer than `to` has room for
    std::memcpy(to.data(), came_along.data(), came_along.size());
    to = to.subspan(came_along.size());
    filled += came_along.size();
  }
  begin_ = end_ = 0;
  if (budget == 0) return event::nothing;
  // The next header comes along: then the end of what the kernel has shows without another read.
  const bool has_end = to_the_end && budget >= to.size() + front_;
  const std::size_t behind = has_end ? front_ : 0;
  const ssize_t n = read_into(to.data(), to.size(), budget, behind);
  if (n == 0) return event::closed;
  if (n < 0) return means_not_now(errno) ? event::nothing : event::closed;
  const auto got = static_cast<std::size_t>(n);
  filled += std::min(got, to.size());
  if (got < to.size()) return event::nothing;
  end_ = got - to.size();
  drained_ = behind != 0 && end_ < behind && budget != 0;
  large_next_ = to_the_end;
  return event::frame;
}

// ---- sending ----

zmtp_connection::written zmtp_connection::write_out(std::span<const std::byte> head, std::span<const std::byte> body,
                                                    std::size_t& done) noexcept {
  const std::size_t size = head.size() + body.size();
  iovec parts[2];
  msghdr message{};
  message.msg_iov = parts;
  for (;;) {
    message.msg_iovlen = 0;
    const std::size_t head_left = head.size() - std::min(done, head.size());
    if (head_left != 0) parts[message.msg_iovlen++] = {const_cast<std::byte*>(head.data()) + done, head_left};
    const std::size_t body_done = done - std::min(done, head.size());
    const std::size_t asked = std::min({size - done, piece_, room_});
    if (asked < std::min(size - done, max_front)) return done == 0 ? written::none : written::some;
    parts[message.msg_iovlen++] = {const_cast<std::byte*>(body.data()) + body_done, asked - head_left};
    // MSG_EOR: tcp must not append to what waits already, because it would not check how much that is.
    const ssize_t n = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL | MSG_EOR);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
      room_ -= static_cast<std::size_t>(n);
      if (done == size) return written::all;
      if (static_cast<std::size_t>(n) == asked) continue;  // a piece
      return written::some;
    }
    if (errno == EINTR) continue;
    note_failure();
    if (!means_not_now(errno)) return written::failed;
    return done == 0 ? written::none : written::some;
  }
}

zmtp_connection::written zmtp_connection::write(std::span<const std::byte> head, std::span<const std::byte> body,
                                                std::size_t& done) noexcept {
  std::byte whole[max_front + copied_size];
  const auto header = zmtp::encode_frame_header(head.size() + body.size());
  if (!begun_) padded_by_ = pads_ && body.size() >= padded_size ? padding_for(body, header.size + head.size()) : 0;
  std::size_t front = 0;
  const auto put = [&](const void* from, std::size_t size) {
    std::memcpy(whole + front, from, size);
    front += size;
  };
  while (front < padded_by_) put(zmtp::padding.data(), zmtp::padding.size());
  put(header.bytes.data(), header.size);
  put(head.data(), head.size());
  written result{};
  if (body.size() <= copied_size) {
    if (!body.empty()) std::memcpy(whole + front, body.data(), body.size());
    result = write_out({}, {whole, front + body.size()}, done);
  } else {
    result = write_out({whole, front}, body, done);
  }
  begun_ = result == written::some;
  return result;
}

zmtp_connection::written zmtp_connection::send_small(std::span<const std::byte> frame) noexcept {
  if (pending()) {
    if (unsent_ + frame.size() > max_small_bytes) return written::none;
    return keep(frame, {}) ? written::some : written::none;
  }
  std::size_t done = 0;
  const written result = write_out({}, frame, done);
  if (result == written::all || result == written::failed) return result;
  if (keep(frame.subspan(done), {})) return written::some;
  if (done == 0) return written::none;
  ::shutdown(fd_.get(), SHUT_WR);  // there is no memory for the rest, and half a frame is useless
  return written::failed;
}

void zmtp_connection::ping() noexcept try {
  if (!pending() && ready()) (void)send_small(bytes_of(zmtp::ping_frame()));
} catch (const std::bad_alloc&) {  // without the PING
}

bool zmtp_connection::append(std::span<const std::byte> body) noexcept {
  const auto header = zmtp::encode_frame_header(body.size());
  return keep({header.bytes.data(), header.size}, body);
}

bool zmtp_connection::keep(std::span<const std::byte> first, std::span<const std::byte> second) noexcept try {
  const std::size_t size = first.size() + second.size();
  if (out_.empty() || out_.back().size() + size > piece_bytes) {
    std::string piece;
    piece.reserve(size);
    out_.push_back(std::move(piece));
  } else {
    out_.back().reserve(std::max(out_.back().size() + size, std::min(2 * out_.back().capacity(), piece_bytes)));
  }
  for (const auto part : {first, second}) {
    out_.back().append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  unsent_ += size;
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

zmtp_connection::written zmtp_connection::flush() noexcept {
  if (begun_) return written::none;
  bool moved = false;
  while (!out_.empty()) {
    const std::size_t before = done_;
    const written result = write_out({}, bytes_of(out_.front()), done_);
    unsent_ -= done_ - before;
    moved = moved || done_ != before;
    if (result == written::failed) return result;
    if (result != written::all) return moved ? written::some : written::none;
    out_.pop_front();
    done_ = 0;
  }
  return written::all;
}

void zmtp_connection::discard() noexcept {
  out_.clear();
  done_ = 0;
  unsent_ = 0;
}

}  // namespace orc::detail
