// One ZMTP connection over a non-blocking stream socket: handshake, receiving and sending frames. It has no thread: a
// frame goes from the sender's call into the kernel, and from there into the receiver's call.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "transport/allowance.h"
#include "transport/frame.h"
#include "wire/sample_header.h"
#include "wire/zmtp.h"

namespace orc::detail {

// Not thread-safe. No call blocks, throws or raises SIGPIPE.
class zmtp_connection {
 public:
  // Takes over a connected (or connecting) socket. `socket_type`: of this end, ROUTER or DEALER. `largest`: larger
  // frames break the connection; see allow(). `buffer`: bytes read at once; larger frames are received in place.
  zmtp_connection(unique_fd fd, std::string_view socket_type, std::size_t largest, std::size_t buffer);
  // The peer gets what the kernel holds already, and then sees the end, also while a forked child still has the
  // descriptor.
  ~zmtp_connection();
  zmtp_connection(const zmtp_connection&) = delete;
  zmtp_connection& operator=(const zmtp_connection&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // True: the peer has introduced itself, so frames may be sent.
  [[nodiscard]] bool ready() const noexcept { return state_ == state::ready; }
  // errno of the first failure in either direction; 0: none.
  [[nodiscard]] int failure() const noexcept { return failure_; }

  // ---- receiving ----
  struct incoming {
    std::span<const std::byte> bytes;  // of one frame, valid until the next receive
    sample_buffer large;               // owns them when they did not come through the buffer
    bool multipart = false;            // a message of several frames: dropped, `bytes` is empty
  };
  enum class event {
    frame,
    nothing,  // nothing now: the descriptor becomes readable when there is more
    closed,   // by the peer or the network
    broken    // not ZMTP, too large, no memory for it, or too many commands and parts
  };
  // `budget`: bytes that it may still take from the kernel; it subtracts what it takes. `nothing` with no budget left:
  // there may be more. It drops commands and parts on the way; more of them than an allowance break the connection.
  [[nodiscard]] event receive(incoming& out, std::size_t& budget) noexcept;
  // From now on frames may have `largest` bytes.
  void allow(std::size_t largest) noexcept { largest_ = largest; }

  // ---- sending ----
  // From now on gives at most this many bytes to the kernel in one call.
  void write_at_most(std::size_t bytes) noexcept { piece_ = std::max(bytes, max_head); }
  // True while the kernel has only a part of a frame: the next one waits until flush() has written the rest.
  [[nodiscard]] bool pending() const noexcept { return pending_ != outgoing::none; }
  // Bytes that the kernel has of the sample that is begun, headers included. 0: none is begun.
  [[nodiscard]] std::size_t sample_done() const noexcept { return pending_ == outgoing::sample ? sample_done_ : 0; }
  enum class written { all, some, none, failed };  // some: the rest is pending
  // Starts the frame of a sample. Only when nothing is pending. After `some`, keep() has to follow.
  [[nodiscard]] written send(const wire::sample_header& header, std::span<const std::byte> payload) noexcept;
  // Gives it a buffer with the payload that send() has begun, to write the rest from.
  void keep(sample_buffer&& payload) noexcept;
  // Sends a frame of at most max_small_frame bytes. When something is pending, it waits behind that. None: too many
  // wait.
  static constexpr std::size_t max_small_frame = 128;
  [[nodiscard]] written send(std::span<const std::byte> small) noexcept;
  // Writes what is pending. All: nothing is pending any more.
  [[nodiscard]] written flush() noexcept;
  // Makes the peer's host acknowledge, and the peer answer. Does nothing while something is pending, which has that
  // effect.
  void ping() noexcept;

 private:
  enum class state { greeting, handshake, ready };
  enum class outgoing { none, small, sample };

  // What comes before a payload: the headers of the frame and of the sample.
  static constexpr std::size_t max_head = wire::zmtp::max_frame_header + wire::sample_header::bytes;
  struct sample_head {
    std::array<std::byte, max_head> bytes;
    std::size_t size = 0;
  };
  [[nodiscard]] static sample_head head_of(const wire::sample_header& header, std::size_t payload_size) noexcept;

  [[nodiscard]] event read_large(incoming& out, std::size_t& budget) noexcept;
  [[nodiscard]] event read_more(std::size_t& budget) noexcept;
  [[nodiscard]] ssize_t take(std::span<iovec> parts) noexcept;
  void note_failure() noexcept;
  [[nodiscard]] ssize_t read_into(std::byte* at, std::size_t room, std::size_t& budget,
                                  std::size_t behind = 0) noexcept;
  [[nodiscard]] bool begin_large(std::size_t size) noexcept;
  [[nodiscard]] bool grow_large() noexcept;
  // Takes what is complete out of the buffer. Nothing: more bytes are needed.
  [[nodiscard]] event parse(incoming& out) noexcept;
  // For a frame that is too large for the buffer.
  [[nodiscard]] event parse_large(const wire::zmtp::frame_header& header) noexcept;
  [[nodiscard]] event take(std::uint8_t flags, std::span<const std::byte> body, incoming& out) noexcept;
  [[nodiscard]] bool handle_command(std::span<const std::byte> body) noexcept;
  [[nodiscard]] std::span<const std::byte> buffered() const noexcept { return {buffer_.get() + begin_, end_ - begin_}; }

  written write_out(const std::byte* head, std::size_t head_size, const std::byte* body, std::size_t body_size,
                    std::size_t& done) noexcept;
  written enqueue(std::span<const std::byte> frame) noexcept;
  written flush_small() noexcept;
  written flush_sample() noexcept;

  unique_fd fd_;
  const bool plain_;  // no descriptors can come, only bytes
  std::size_t largest_;
  state state_ = state::greeting;
  int failure_ = 0;

  // Receiving.
  const std::size_t capacity_;
  const std::unique_ptr<std::byte[]> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  allowance noise_{100};     // commands and parts; ZeroMQ libraries may be set to send PINGs often
  bool drained_ = false;     // the last read took all that the kernel had
  bool large_next_ = false;  // as the last frame was: reads its header alone, and the rest in place
  bool skipping_ = false;    // inside a message of several frames
  std::size_t skip_ = 0;     // bytes of a large part still to come
  std::uint8_t skip_flags_ = 0;
  sample_buffer large_;  // being received; grows with what has arrived
  std::size_t large_size_ = 0;
  std::size_t large_filled_ = 0;
  std::size_t largest_so_far_;  // of the complete ones

  std::size_t piece_ = SIZE_MAX;  // bytes per write
  // Sending: first the small ones, then the sample; or, when the sample was begun first, the other way round.
  outgoing pending_ = outgoing::none;
  std::string small_;
  std::size_t small_done_ = 0;
  sample_buffer sample_;
  sample_head sample_head_{};
  std::size_t sample_done_ = 0;  // with the head
};

}  // namespace orc::detail
