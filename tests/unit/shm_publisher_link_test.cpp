// Whom a publication over shared memory admits: what subscribers can pin is bounded, and one process has a share of it.
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "support/value_of.h"
#include "support/wait_until.h"
#include "transport/shm/shm_layout.h"
#include "transport/shm/shm_packet.h"
#include "transport/shm/shm_transport.h"

using namespace orc::test;
namespace shm = orc::detail::shm;
namespace wire = orc::wire;
using orc::detail::publisher_link;
using orc::detail::sample;
using orc::detail::unique_fd;

namespace {

enum class by : std::uint8_t { this_process, another_process };

struct publication_over_shm {
  publication_over_shm() {
    spec.id = wire::id::random();
    spec.directory = directory.path();
    link = value_of(orc::detail::shm_transport().advertise(spec));
  }

  // The kernel tells the publication which process connected: a child that shares our descriptors, and ends.
  unique_fd connect(by whom) const {
    unique_fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = link->where().address.substr(std::strlen("shm://"));
    std::memcpy(address.sun_path, path.data(), path.size());
    const auto* const to = reinterpret_cast<const sockaddr*>(&address);
    if (whom == by::this_process) {
      REQUIRE(::connect(fd.get(), to, sizeof address) == 0);
      return fd;
    }
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, CLONE_FILES | SIGCHLD, nullptr, nullptr, nullptr, 0));
    if (child == 0) ::_exit(::connect(fd.get(), to, sizeof address) == 0 ? 0 : 1);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
    return fd;
  }

  // True: welcome; false: refused.
  bool join(std::uint32_t pins, by whom = by::this_process) {
    sockets.push_back(connect(whom));
    const int fd = sockets.back().get();
    const shm::packet hello{
        .kind = shm::packet_kind::hello, .publication = spec.id, .subscription = wire::id::random(), .pins = pins};
    REQUIRE(shm::send_packet(fd, hello) == shm::delivered::yes);
    shm::received_packet answer;
    REQUIRE(wait_until([&] {
      service();
      return shm::receive_packet(fd, answer, true) == shm::received::packet &&
             answer.packet.kind != shm::packet_kind::preparing;
    }));
    return answer.packet.kind == shm::packet_kind::welcome;
  }

  void service() {
    if (const auto work = link->service(&last).work) work->step();
  }

  void send(std::size_t size) {
    last = {orc::detail::allocate_frame(size), last.sequence + 1, 1};
    std::memset(last.buffer.payload(), 0, size);
    link->commit(last);
  }

  orc::detail::temporary_directory directory;
  orc::detail::publication_spec spec;
  std::unique_ptr<publisher_link> link;
  std::vector<unique_fd> sockets;
  sample last{orc::detail::allocate_frame(100), 1, 1};
};

}  // namespace

TEST_CASE("shm publisher link: one process gets a quarter of the pins, and others still join", "[unit]") {
  publication_over_shm p;
  for (int n = 0; n < 4; ++n) REQUIRE(p.join(shm::max_pins_of_reader));
  CHECK(!p.join(1));
  CHECK(p.join(10, by::another_process));
  p.sockets.front().reset();  // what it had is free again
  REQUIRE(wait_until([&] {
    p.service();
    return p.link->readers() == 4;
  }));
  CHECK(p.join(10));
}

TEST_CASE("shm publisher link: when samples grow, readers with the most pins go until the rest may be held", "[unit]") {
  publication_over_shm p;
  REQUIRE(p.join(2));
  for (int n = 0; n < 3; ++n) REQUIRE(p.join(shm::max_pins_of_reader));
  for (int n = 0; n < 4; ++n) REQUIRE(p.join(shm::max_pins_of_reader, by::another_process));
  p.send(50'000'000);
  p.service();
  CHECK(p.link->readers() == 5);  // 2 + 4 * 64 pins of 62.5 MB are less than 16 GiB, 64 more are not
  char byte = 0;
  std::size_t ended = 0;
  for (const auto& each : p.sockets) {
    while (::recv(each.get(), &byte, 1, MSG_DONTWAIT) > 0) {
    }
    ended += ::recv(each.get(), &byte, 1, MSG_DONTWAIT) == 0 ? 1U : 0U;
  }
  CHECK(ended == 3);
  CHECK(::recv(p.sockets.front().get(), &byte, 1, MSG_DONTWAIT) < 0);
  for (int n = 0; n < 3; ++n) p.send(50'000'000);
  CHECK(p.link->dropped() == 0);
}
