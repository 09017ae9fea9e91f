// One ZMTP connection over a non-blocking stream socket: greeting, handshake, frames in both directions, commands, and
// an orderly end. transport/stream/stream_connection.h sends samples over it, and
// broker/connections/control_connection.h control messages. It has no thread: a frame goes from the sender's call into
// the kernel, and from there into the receiver's.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/files/unique_fd.h"
#include "wire/zmtp.h"

namespace orc::detail {

// A base class. Not thread-safe. No call blocks, raises SIGPIPE, or throws, except the constructor (std::bad_alloc).
class zmtp_connection {
 public:
  enum class role : std::uint8_t { router, dealer };
  struct rules {
    role as{};                   // this end
    bool to_counterpart = true;  // the peer's Socket-Type must be the other role; else it may be any
    std::size_t largest = 0;     // larger frames break the connection; see allow()
    // Bytes of the receive buffer; larger frames are for receive_in_place(). 0: it grows with what arrives, up to the
    // largest frame, and shrinks again.
    std::size_t buffer = 0;
  };
  zmtp_connection(const zmtp_connection&) = delete;
  zmtp_connection& operator=(const zmtp_connection&) = delete;

  // Sends the first bytes of the protocol; a socket that still connects takes them later. False: no memory, or the
  // connection has ended.
  [[nodiscard]] bool greet() noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // True: the peer has introduced itself, so frames may be sent.
  [[nodiscard]] bool ready() const noexcept { return state_ == state::ready; }
  // errno of the first failure in either direction; 0: none.
  [[nodiscard]] int failure() const noexcept { return failure_; }
  // After event::broken: the rule that the peer broke; empty: it does not speak this ZMTP.
  [[nodiscard]] std::string_view why() const noexcept { return why_; }
  // From now on frames may have `largest` bytes.
  void allow(std::size_t largest) noexcept { largest_ = largest; }

  enum class written { all, some, none, failed };  // some, none: the socket is full; some: it took a part
  // Keeps a frame for flush(). False: no memory, and no part of it is kept.
  [[nodiscard]] bool append(std::span<const std::byte> body) noexcept;
  // Bytes kept that the kernel has not taken yet.
  [[nodiscard]] std::size_t unsent() const noexcept { return unsent_; }
  // True while the kernel has only a part of a frame, or frames wait: then write() has to wait.
  [[nodiscard]] bool pending() const noexcept { return begun_ || unsent_ != 0; }
  [[nodiscard]] written flush() noexcept;
  // Drops the unsent bytes.
  void discard() noexcept;
  // From now on the peer may get padding in front of frames of at least `padded_size` bytes, where that makes the
  // kernel copy them faster (base/copy.h).
  static constexpr std::size_t padded_size = 4096;
  static constexpr std::size_t max_paddings = 3;
  void pad_large_frames() noexcept { pads_ = true; }
  // From now on gives at most this many bytes to the kernel in one call.
  void write_at_most(std::size_t bytes) noexcept { piece_ = std::max(bytes, max_front); }
  // From now on gives at most this many bytes to the kernel in all, until the next call. What is left then waits.
  void write_no_more_than(std::size_t bytes) noexcept { room_ = bytes; }
  // Makes the peer's host acknowledge, and the peer answer. Does nothing while something is pending, which has that
  // effect.
  void ping() noexcept;

  // Memory kept for both directions. A piece of the unsent bytes counts until all of it is sent.
  [[nodiscard]] std::size_t kept() const noexcept { return capacity_ + done_ + unsent_; }

 protected:
  // Takes over a connected (or connecting) socket.
  zmtp_connection(unique_fd fd, const rules& by);
  // Tries once more to send what is kept. The peer then gets what the kernel holds, and sees the end, also while a
  // forked child still has the descriptor.
  ~zmtp_connection();

  // ---- receiving ----
  enum class event {
    frame,
    introduced,  // the peer is ready
    command,     // another one, handled
    nothing,     // nothing now: the descriptor becomes readable when there is more
    closed,      // by the peer or the network
    broken       // by the peer: see why()
  };
  struct received {
    std::uint8_t flags = 0;
    std::size_t size = 0;
    // Valid until the next call. A frame that is too large for the buffer has none here: receive_in_place() or skip()
    // has to follow.
    std::span<const std::byte> bytes;
    [[nodiscard]] bool too_large_for_buffer() const noexcept { return bytes.size() != size; }
  };
  // `budget`: bytes that it may still take from the kernel; it subtracts what it takes. `nothing` with no budget left:
  // there may be more.
  [[nodiscard]] event next(received& out, std::size_t& budget) noexcept;
  // Receives into `to`, a part of a large body, and adds to `filled` what came. `to_the_end`: of the body.
  // Frame: `to` is full.
  [[nodiscard]] event receive_in_place(std::span<std::byte> to, bool to_the_end, std::size_t& filled,
                                       std::size_t& budget) noexcept;
  // Drops a large body as it comes.
  void skip(std::size_t size) noexcept { skip_ = size; }
  // For a descriptor that shows each event once: there is something to read. `to_the_end`: the peer sends no more after
  // it.
  void readable(bool to_the_end) noexcept {
    drained_ = false;
    ending_ = ending_ || to_the_end;
  }
  [[nodiscard]] event broken(std::string_view why) noexcept;

  // ---- sending ----
  static constexpr std::size_t max_head = 16;
  // Writes the frame [head][body] without a copy that is kept. Only when nothing is pending, or to go on with the same
  // after a part was taken. `done`: bytes of the frame that the kernel has.
  [[nodiscard]] written write(std::span<const std::byte> head, std::span<const std::byte> body,
                              std::size_t& done) noexcept;
  // write() has begun a frame, which comes first.
  [[nodiscard]] bool begun() const noexcept { return begun_; }
  // Sends a whole small frame, header included, or keeps what the kernel does not take. None: too many bytes wait.
  [[nodiscard]] written send_small(std::span<const std::byte> frame) noexcept;

 private:
  enum class state : std::uint8_t { greeting, handshake, ready };
  static constexpr std::size_t max_padding = max_paddings * wire::zmtp::padding.size();
  static constexpr std::size_t max_front = max_padding + wire::zmtp::max_frame_header + max_head;

  [[nodiscard]] event parse(received& out) noexcept;
  [[nodiscard]] event handle_command(const received& command) noexcept;
  [[nodiscard]] event read(std::size_t& budget) noexcept;
  [[nodiscard]] ssize_t read_and_grow(std::size_t& budget);
  [[nodiscard]] ssize_t read_into(std::byte* at, std::size_t room, std::size_t& budget,
                                  std::size_t behind = 0) noexcept;
  [[nodiscard]] ssize_t take(std::span<iovec> parts) noexcept;
  [[nodiscard]] event nothing_now() noexcept;
  void set_capacity(std::size_t capacity);
  void note_failure() noexcept;
  [[nodiscard]] std::span<const std::byte> buffered() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }

  [[nodiscard]] written write_out(std::span<const std::byte> head, std::span<const std::byte> body,
                                  std::size_t& done) noexcept;
  [[nodiscard]] bool keep(std::span<const std::byte> first, std::span<const std::byte> second) noexcept;

  unique_fd fd_;
  const bool plain_;  // no descriptors can come, only bytes
  const role role_;
  const bool to_counterpart_;
  const bool grows_;
  state state_ = state::greeting;
  bool drained_ = false;     // the last read took all that the kernel had
  bool ending_ = false;      // no more comes: a read must see the end
  bool large_next_ = false;  // as the last frame was: reads what is before its body alone, and the rest in place
  bool begun_ = false;
  int failure_ = 0;
  std::size_t largest_;
  std::string_view why_;

  // Receiving.
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t skip_ = 0;                              // bytes of a large body still to come
  std::size_t padding_ = 0;                           // bytes of commands since the last frame
  std::size_t front_ = wire::zmtp::max_frame_header;  // bytes before the body of the last large frame

  // Sending.
  bool pads_ = false;
  std::size_t padded_by_ = 0;     // the frame that is begun
  std::size_t piece_ = SIZE_MAX;  // bytes per write
  std::size_t room_ = SIZE_MAX;   // bytes that may be written
  std::list<std::string> out_;    // in pieces, so that a long queue is neither moved nor stored twice
  std::size_t done_ = 0;          // bytes of the first piece that are sent
  std::size_t unsent_ = 0;
};

}  // namespace orc::detail
