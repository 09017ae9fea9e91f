// Any bytes, in pieces of any size, into one end of a ZMTP connection; every fourth input is introduced properly first,
// so that frames are reached. A receive must always end, and nothing larger than allowed may come out.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "transport/stream/stream_connection.h"

namespace {

constexpr std::size_t largest = 1 << 16;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using orc::detail::stream_connection;
  using orc::detail::unique_fd;
  if (size < 2) return 0;
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0) return 0;
  const unique_fd far(fds[1]);
  stream_connection line(unique_fd{fds[0]}, stream_connection::role::router, largest, 300);
  if (data[0] % 4 != 0) {
    const auto greeting = orc::wire::zmtp::greeting();
    const std::string ready = orc::wire::zmtp::ready_frame("DEALER");
    (void)::send(far.get(), greeting.data(), greeting.size(), MSG_NOSIGNAL);
    (void)::send(far.get(), ready.data(), ready.size(), MSG_NOSIGNAL);
  }
  const std::size_t piece = 1 + data[1];
  stream_connection::incoming frame;
  for (std::size_t at = 2; at < size; at += piece) {
    if (::send(far.get(), data + at, std::min(piece, size - at), MSG_NOSIGNAL) < 0) break;
    for (;;) {
      std::size_t budget = 1 + data[0];
      const auto event = line.receive(frame, budget);
      if (event == stream_connection::event::nothing && budget == 0) continue;
      if (event == stream_connection::event::nothing) break;
      if (event != stream_connection::event::frame) return 0;
      if (frame.bytes.size() > largest) std::abort();
      for (const std::byte each : frame.bytes) {
        if (each == std::byte{0xab}) (void)line.pending();  // reads every byte
      }
    }
  }
  return 0;
}
