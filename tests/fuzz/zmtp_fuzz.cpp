// Any bytes, in pieces of any size, into a ZMTP connection of a stream and into one of the broker; three of four inputs
// are introduced properly first, so that frames are reached. A receive must always end, nothing larger than allowed may
// come out, and both must get the same frames.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "broker/connections/control_connection.h"
#include "transport/stream/stream_connection.h"

namespace {

using orc::control_connection;
using orc::detail::stream_connection;
using orc::detail::unique_fd;
using input = std::span<const std::uint8_t>;
using frames = std::vector<std::string>;

constexpr std::size_t largest = orc::wire::max_control_bytes;

void keep(frames& all, std::span<const std::byte> bytes) {
  if (bytes.size() > largest) std::abort();
  all.emplace_back(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// `receive_all`: false when the connection has ended.
template <class F>
void feed(int far, input data, F receive_all) {
  if (data[0] % 4 != 0) {
    const auto greeting = orc::wire::zmtp::greeting();
    const std::string ready = orc::wire::zmtp::ready_frame("DEALER");
    (void)::send(far, greeting.data(), greeting.size(), MSG_NOSIGNAL);
    (void)::send(far, ready.data(), ready.size(), MSG_NOSIGNAL);
  }
  const std::size_t piece = 1 + data[1];
  for (std::size_t at = 2; at < data.size(); at += piece) {
    if (::send(far, data.data() + at, std::min(piece, data.size() - at), MSG_NOSIGNAL) < 0 || !receive_all()) return;
  }
}

frames over_stream(unique_fd near, int far, input data) {
  stream_connection line(std::move(near), stream_connection::role::router, largest, 300);
  frames got;
  stream_connection::incoming frame;
  feed(far, data, [&] {
    for (;;) {
      std::size_t budget = 1 + data[0];
      const auto event = line.receive(frame, budget);
      if (event == stream_connection::event::nothing && budget == 0) continue;
      if (event != stream_connection::event::frame) return event == stream_connection::event::nothing;
      keep(got, frame.bytes);
    }
  });
  return got;
}

frames to_broker(unique_fd near, int far, input data) {
  control_connection line(std::move(near));
  frames got;
  if (!line.greet()) std::abort();
  feed(far, data, [&] {
    line.readable(false);
    for (;;) {
      std::span<const std::byte> frame;
      switch (line.receive(frame, {})) {
        case control_connection::event::frame: keep(got, frame); break;
        case control_connection::event::introduced:
        case control_connection::event::command: break;
        case control_connection::event::nothing: return true;
        case control_connection::event::closed:
        case control_connection::event::broken: return false;
      }
      if (line.kept() > control_connection::max_buffered) std::abort();
    }
  });
  return got;
}

template <class F>
frames over_a_pair(F receive, input data) {
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) != 0) return {};
  const unique_fd far(fds[1]);
  return receive(unique_fd(fds[0]), far.get(), data);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto first = over_a_pair(over_stream, {data, size});
  const auto second = over_a_pair(to_broker, {data, size});
  // Each ends for reasons of its own.
  if (!std::equal(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(std::min(first.size(), second.size())),
                  second.begin()))
    std::abort();
  return 0;
}
