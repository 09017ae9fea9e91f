#include "base/network/tcp_listener.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <thread>

#include "base/files/unique_fd.h"
#include "base/network/endpoint_check.h"
#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::ip_address;
using orc::detail::ip_port;
using orc::detail::unique_fd;

namespace {

// For this thread alone the kernel has no IPv6. False: that cannot be had here.
[[nodiscard]] bool without_ipv6() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(code), code};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

}  // namespace

TEST_CASE("tcp listener: everywhere is both families", "[unit][threads]") {
  ip_port at;
  const unique_fd fd(orc::detail::listen_tcp_everywhere(at, 4));
  REQUIRE(fd);
  CHECK(at.port != 0);
  CHECK(orc::detail::connection_problem({ip_address::loopback_v4(), at.port}, 1s) == 0);
  if (at.address.is_v4()) return orc::test::skip("the kernel has no IPv6");
  CHECK(orc::detail::connection_problem({*ip_address::parse("::1"), at.port}, 1s) == 0);
}

TEST_CASE("tcp listener: everywhere is IPv4 where the kernel has no IPv6", "[unit][threads]") {
  bool possible = false;
  ip_port at;
  unique_fd fd;
  std::thread([&] {
    possible = without_ipv6();
    if (possible) fd.reset(orc::detail::listen_tcp_everywhere(at, 4));
  }).join();
  if (!possible) return orc::test::skip("no seccomp filters");
  REQUIRE(fd);
  CHECK(at.address == ip_address::any_v4());
  CHECK(orc::detail::connection_problem({ip_address::loopback_v4(), at.port}, 1s) == 0);
}

TEST_CASE("tcp listener: errno says why there is none", "[unit][threads]") {
  ip_port at{ip_address::loopback_v4(), 0};
  const unique_fd first(orc::detail::listen_tcp(at, 4));
  REQUIRE(first);
  const unique_fd second(orc::detail::listen_tcp(at, 4));
  CHECK(errno == EADDRINUSE);
  CHECK_FALSE(second);
  ip_port elsewhere{*ip_address::parse("192.0.2.1"), 0};
  const unique_fd third(orc::detail::listen_tcp(elsewhere, 4));
  CHECK(errno == EADDRNOTAVAIL);
  CHECK_FALSE(third);
}
