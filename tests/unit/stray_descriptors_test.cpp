// A peer may send descriptors along with its bytes. Whoever closes the last one of a TCP socket that lingers waits for
// its other end, which the peer holds as well.
#include "base/files/stray_descriptors.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/files/unique_fd.h"
#include "broker/connections/control_connection.h"
#include "support/catch.h"
#include "support/wait_until.h"
#include "transport/stream/stream_connection.h"

using namespace orc::test;
using orc::detail::unique_fd;

namespace {

struct pair_of_sockets {
  unique_fd ours, theirs;
  pair_of_sockets() {
    int both[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both) == 0);
    ours.reset(both[0]);
    theirs.reset(both[1]);
  }
};

// Connected, with more than the other end takes.
struct lingering {
  unique_fd door{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  unique_fd sends{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  unique_fd never_reads;

  lingering() {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const address = reinterpret_cast<sockaddr*>(&at);
    REQUIRE(::bind(door.get(), address, size) == 0);
    REQUIRE(::listen(door.get(), 1) == 0);
    REQUIRE(::getsockname(door.get(), address, &size) == 0);
    const linger long_time{1, 60};
    REQUIRE(::setsockopt(sends.get(), SOL_SOCKET, SO_LINGER, &long_time, sizeof long_time) == 0);
    REQUIRE(::connect(sends.get(), address, size) == 0);
    never_reads.reset(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::vector<char> much(64 * 1024);
    while (::send(sends.get(), much.data(), much.size(), MSG_DONTWAIT) > 0) {
    }
  }
};

// False: the kernel does not let it through.
bool send_along(int over, int descriptor) {
  char byte = 1;
  iovec part{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  return ::sendmsg(over, &message, MSG_NOSIGNAL) == 1;
}

}  // namespace

TEST_CASE("stray descriptors: bytes pass, and a descriptor ends it without waiting for anybody", "[unit]") {
  const pair_of_sockets sockets;
  std::array<char, 16> got{};
  REQUIRE(::send(sockets.theirs.get(), "abc", 3, MSG_NOSIGNAL) == 3);
  CHECK(orc::detail::receive_without_descriptors(sockets.ours.get(), got.data(), got.size()) == 3);
  CHECK(std::memcmp(got.data(), "abc", 3) == 0);
  CHECK(orc::detail::receive_without_descriptors(sockets.ours.get(), got.data(), got.size()) == -1);
  CHECK(errno == EAGAIN);

  lingering socket;
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(send_along(sockets.theirs.get(), socket.sends.get()));
  socket.sends.reset(::dup(sockets.theirs.get()));  // the one on its way is the last
  CHECK(orc::detail::receive_without_descriptors(sockets.ours.get(), got.data(), got.size()) == -1);
  CHECK(errno == EPROTO);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("stray descriptors: they end a connection of the broker and of a link", "[unit]") {
  pair_of_sockets of_broker;
  pair_of_sockets of_link;
  const bool refused = orc::detail::refuse_descriptors(of_broker.ours.get());
  orc::control_connection connection(std::move(of_broker.ours));
  orc::detail::stream_connection line(std::move(of_link.ours), orc::detail::stream_connection::role::dealer, 1000,
                                      1000);
  for (const int theirs : {of_broker.theirs.get(), of_link.theirs.get()}) {
    lingering socket;
    CHECK(send_along(theirs, socket.sends.get()) != refused);
    if (refused) continue;  // by the kernel
    socket.sends.reset(::dup(theirs));
    const auto start = std::chrono::steady_clock::now();
    std::span<const std::byte> frame;
    orc::detail::stream_connection::incoming incoming;
    std::size_t budget = 1000;
    if (theirs == of_broker.theirs.get())
      CHECK(connection.receive(frame, {}) == orc::control_connection::event::closed);
    else
      CHECK(line.receive(incoming, budget) == orc::detail::stream_connection::event::closed);
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  }
}
