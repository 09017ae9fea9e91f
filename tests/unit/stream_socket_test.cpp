#include "transport/stream/stream_socket.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>

#include "support/catch.h"

using namespace orc;
using namespace orc::detail;

namespace {

// The end of a new connection that was accepted. None: nothing can connect from here to there.
unique_fd visitor(const unique_fd& door, const std::string& endpoint, unique_fd& other_end) {
  auto made = connect_to_host(endpoint);
  if (!made) return {};
  other_end = *std::move(made);
  pollfd waits{door.get(), POLLIN, 0};
  (void)::poll(&waits, 1, 500);
  return unique_fd(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace

TEST_CASE("stream socket: a port for other hosts is open to both families, whose loopback is one peer", "[unit]") {
  std::uint16_t port = 0;
  const auto opened = listen_on_port(true, port);
  REQUIRE(opened);
  const auto& door = *opened;
  std::array<unique_fd, 3> ends;
  const auto at = [&](const std::string& host, unique_fd& end) {
    return visitor(door, "tcp://" + host + ":" + std::to_string(port), end);
  };
  const auto four = at("127.0.0.1", ends[0]);
  REQUIRE(four);
  const auto mapped = at("[::ffff:127.0.0.1]", ends[1]);
  REQUIRE(mapped);
  CHECK(peer_of(four.get(), wire::transport::tcp) == peer_of(mapped.get(), wire::transport::tcp));
  CHECK_FALSE(peer_of(four.get(), wire::transport::tcp) == peer_id{});
  const auto six = at("[::1]", ends[2]);
  if (!six) return test::skip("this host has no IPv6");
  CHECK(peer_of(four.get(), wire::transport::tcp) == peer_of(six.get(), wire::transport::tcp));
}

TEST_CASE("stream socket: a port for this host is open on 127.0.0.1 alone", "[unit]") {
  std::uint16_t port = 0;
  const auto opened = listen_on_port(false, port);
  REQUIRE(opened);
  unique_fd end;
  const auto where = ":" + std::to_string(port);
  CHECK(visitor(*opened, "tcp://127.0.0.1" + where, end));
  CHECK_FALSE(visitor(*opened, "tcp://127.0.0.2" + where, end));
  CHECK_FALSE(visitor(*opened, "tcp://[::1]" + where, end));
}

TEST_CASE("stream socket: only numbers with a port are connected to", "[unit]") {
  for (const std::string bad : {"tcp://localhost:1", "tcp://127.0.0.1", "tcp://127.0.0.1:", "tcp://127.0.0.1:0",
                                "tcp://::1:1", "tcp://[::1]", "ipc://x", ""}) {
    INFO(bad);
    CHECK_FALSE(connect_to_host(bad));
  }
}
