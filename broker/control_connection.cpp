#include "control_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>

#include "wire/control.h"

namespace orc {

namespace {

namespace zmtp = wire::zmtp;

constexpr std::size_t read_at_once = 16 * 1024;
constexpr std::size_t piece_bytes = 16 * 1024;
constexpr std::size_t idle_capacity = 1024;    // of an empty buffer; it shrinks when there is less in it
constexpr std::size_t max_ready_bytes = 4096;  // of an introduction
constexpr unsigned commands_per_second = 200;  // a heartbeat (PING) every 5 ms

static_assert(wire::max_control_bytes + zmtp::max_frame_header + read_at_once <= control_connection::max_buffered);

[[nodiscard]] std::span<const std::byte> bytes_of(std::string_view text) noexcept {
  return std::as_bytes(std::span(text.data(), text.size()));
}

[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept {  // ZMTP ignores case here
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

// Returns the value of a property in the metadata of READY, which repeats 1 byte + name, 4 bytes + value. Empty:
// missing or malformed.
[[nodiscard]] std::string_view property(std::string_view metadata, std::string_view wanted) noexcept {
  while (!metadata.empty()) {
    const auto name_size = static_cast<unsigned char>(metadata[0]);
    if (metadata.size() < 1 + std::size_t{name_size} + 4) return {};
    const auto name = metadata.substr(1, name_size);
    metadata.remove_prefix(1 + name_size);
    std::size_t size = 0;
    for (int i = 0; i < 4; ++i) size = (size << 8) | static_cast<unsigned char>(metadata[static_cast<std::size_t>(i)]);
    metadata.remove_prefix(4);
    if (metadata.size() < size) return {};
    if (same_name(name, wanted)) return metadata.substr(0, size);
    metadata.remove_prefix(size);
  }
  return {};
}

}  // namespace

control_connection::~control_connection() {
  if (!fd_) return;
  (void)flush();
  // Closing with unread bytes would make tcp reset the connection, and the peer would lose what it has not received
  // yet.
  ::shutdown(fd_.get(), SHUT_WR);
  std::array<char, read_at_once> unread;
  for (int n = 0; n < 16 && take(unread) > 0; ++n) {
  }
}

bool control_connection::greet() noexcept {
  try {
    write(zmtp::greeting(), bytes_of(zmtp::ready_frame(role_ == role::router ? "ROUTER" : "DEALER")));
  } catch (const std::bad_alloc&) {
    return false;
  }
  return flush() != flushed::failed;
}

// ---- receiving ----

control_connection::event control_connection::receive(std::span<const std::byte>& frame,
                                                      clock::time_point now) noexcept {
  try {
    for (;;) {
      if (const event got = parse(frame, now); got != event::nothing) return got;
      if (drained_) {
        forget_handled();
        return event::nothing;
      }
      if (const event got = read(); got != event::handled) return got;
    }
  } catch (const std::bad_alloc&) {
    return broken("no memory for a message");
  }
}

// Receives bytes. Descriptors with them are the error EPROTO.
ssize_t control_connection::take(std::span<char> to) noexcept {
  return plain_ ? ::recv(fd_.get(), to.data(), to.size(), MSG_DONTWAIT)
                : detail::receive_without_descriptors(fd_.get(), to.data(), to.size());
}

// Returns `handled` when some bytes came.
control_connection::event control_connection::read() {
  forget_handled();
  std::array<char, read_at_once> bytes;
  const ssize_t n = take(bytes);
  if (n > 0) {
    const auto size = static_cast<std::size_t>(n);
    if (in_.size() + size > in_.capacity() && 2 * in_.capacity() > max_buffered) {  // it would double
      std::string largest;
      largest.reserve(max_buffered);
      in_.swap(largest.append(in_));
    }
    in_.append(bytes.data(), size);
    // A socket that gave less has no more. But the end of the connection is reported only once.
    drained_ = size < bytes.size() && !ending_;
    return event::handled;
  }
  if (n < 0 && errno == EINTR) return event::handled;
  if (n == 0 || errno != EAGAIN) return event::ended;
  drained_ = true;
  return event::nothing;
}

void control_connection::forget_handled() {
  in_.erase(0, std::exchange(begin_, 0));
  const auto enough = in_.empty() ? idle_capacity : read_at_once;
  if (in_.size() < idle_capacity && in_.capacity() > enough) in_.shrink_to_fit();
}

control_connection::event control_connection::parse(std::span<const std::byte>& frame, clock::time_point now) {
  if (state_ == state::greeting) {
    const auto start = buffered();
    if (!zmtp::acceptable_greeting(start)) return event::ended;
    if (start.size() < zmtp::greeting_bytes) return event::nothing;
    begin_ += zmtp::greeting_bytes;
    state_ = state::handshake;
  }
  const auto header = zmtp::decode_frame_header(buffered());
  if (!header) return event::nothing;
  if ((header->flags & ~zmtp::known_flags) != 0) return event::ended;
  const bool command = (header->flags & zmtp::command) != 0;
  if (state_ == state::handshake && (!command || header->size > max_ready_bytes)) return event::ended;
  if ((header->flags & zmtp::more) != 0) return broken("a message of several frames");
  if (header->size > wire::max_control_bytes) return broken("a message that is too long");
  const auto rest = buffered().subspan(header->header_size);
  if (rest.size() < header->size) return event::nothing;
  begin_ += header->header_size + header->size;
  const auto body = rest.first(header->size);
  if (command) return handle_command(body, now);
  frame = body;
  return event::frame;
}

control_connection::event control_connection::handle_command(std::span<const std::byte> body, clock::time_point now) {
  const auto name = zmtp::command_name(body);
  if (state_ == state::handshake) {
    const std::string_view text(reinterpret_cast<const char*>(body.data()), body.size());
    const std::string_view other = role_ == role::router ? "DEALER" : "ROUTER";
    if (name != "READY" || property(text.substr(1 + name.size()), "Socket-Type") != other) return event::ended;
    state_ = state::ready;
    return event::handled;
  }
  if (name == "ERROR") return event::ended;
  if (now - commands_from_ >= std::chrono::seconds(1)) {
    commands_from_ = now;
    commands_ = 0;
  }
  if (++commands_ > commands_per_second) return broken("too many commands");
  if (name == "PING") write(bytes_of(zmtp::pong_frame(body)), {});
  return event::handled;
}

control_connection::event control_connection::broken(std::string_view why) noexcept {
  why_ = why;
  return event::broken;
}

// ---- sending ----

bool control_connection::append(std::span<const std::byte> frame) noexcept {
  const auto header = zmtp::encode_frame_header(frame.size());
  try {
    write({header.bytes.data(), header.size}, frame);
  } catch (const std::bad_alloc&) {
    return false;
  }
  return true;
}

void control_connection::write(std::span<const std::byte> first, std::span<const std::byte> second) {
  const auto size = first.size() + second.size();
  if (out_.empty() || out_.back().size() + size > piece_bytes) {
    out_.emplace_back();
    try {
      out_.back().reserve(size);
    } catch (const std::bad_alloc&) {
      out_.pop_back();
      throw;
    }
  } else {
    out_.back().reserve(std::max(out_.back().size() + size, std::min(2 * out_.back().capacity(), piece_bytes)));
  }
  for (const auto part : {first, second}) {
    out_.back().append(reinterpret_cast<const char*>(part.data()), part.size());
  }
  unsent_ += size;
}

control_connection::flushed control_connection::flush() noexcept {
  bool moved = false;
  while (!out_.empty()) {
    const auto& piece = out_.front();
    const ssize_t n = ::send(fd_.get(), piece.data() + done_, piece.size() - done_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return flushed::failed;
      return moved ? flushed::some : flushed::none;
    }
    moved = true;
    done_ += static_cast<std::size_t>(n);
    unsent_ -= static_cast<std::size_t>(n);
    if (done_ < piece.size()) continue;
    out_.pop_front();
    done_ = 0;
  }
  return flushed::all;
}

void control_connection::discard() noexcept {
  out_.clear();
  done_ = 0;
  unsent_ = 0;
}

}  // namespace orc
