// A ZMTP connection that carries samples: it receives large ones in place, and sends them from the caller's memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/files/unique_fd.h"
#include "transport/allowance.h"
#include "transport/frame.h"
#include "wire/sample_header.h"
#include "zmtp/zmtp_connection.h"

namespace orc::detail {

class stream_connection : public zmtp_connection {
 public:
  // Takes over a connected (or connecting) socket, and greets. The peer may be a ZeroMQ socket of any type. `largest`:
  // larger frames break the connection; see allow(). `buffer`: bytes read at once; larger frames are received in place.
  stream_connection(unique_fd fd, role as, std::size_t largest, std::size_t buffer);

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

  // ---- sending ----
  // Bytes that the kernel has of the sample that is begun, headers included. 0: none is begun.
  [[nodiscard]] std::size_t sample_done() const noexcept { return begun() ? sample_done_ : 0; }
  // Starts the frame of a sample. Only when nothing is pending. After `some`, keep() has to follow.
  [[nodiscard]] written send(const wire::sample_header& header, std::span<const std::byte> payload) noexcept;
  // Goes on with the sample that is begun, before keep(): `payload` as for send().
  [[nodiscard]] written go_on(std::span<const std::byte> payload) noexcept {
    return write(sample_head_, payload, sample_done_);
  }
  // Gives it a buffer with the payload that send() has begun, to write the rest from.
  void keep(sample_buffer&& payload) noexcept { sample_ = std::move(payload); }
  // Sends a frame of at most max_small_frame bytes. When something is pending, it waits behind that. None: too many
  // wait.
  static constexpr std::size_t max_small_frame = 128;
  [[nodiscard]] written send(std::span<const std::byte> small) noexcept;
  // Writes what is pending: the sample that is begun, then what waits behind it.
  [[nodiscard]] written flush() noexcept;

 private:
  [[nodiscard]] event receive_large(incoming& out, std::size_t& budget) noexcept;
  [[nodiscard]] bool begin_large(std::size_t size) noexcept;
  [[nodiscard]] bool grow_large() noexcept;

  allowance noise_{100};      // commands and parts; ZeroMQ libraries may be set to send PINGs often
  std::size_t commands_ = 0;  // since the last frame
  bool skipping_ = false;     // inside a message of several frames
  sample_buffer large_;       // being received; grows with what has arrived
  std::size_t large_size_ = 0;
  std::size_t large_filled_ = 0;
  std::size_t largest_so_far_;  // of the complete ones

  std::array<std::byte, wire::sample_header::bytes> sample_head_{};
  sample_buffer sample_;         // being sent
  std::size_t sample_done_ = 0;  // with its headers
};

}  // namespace orc::detail
