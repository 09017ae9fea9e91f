// participant_options::ports: where a publication listens.
#include <netinet/in.h>
#include <sys/socket.h>

#include <set>
#include <string>

#include "orc.h"
#include "support/catch.h"
#include "support/wait_until.h"
#include "transport/stream/stream_socket.h"

using namespace orc::test;
using orc::detail::connect_to_host;
using orc::detail::listen_on_port;
using orc::detail::port_range;
using orc::detail::unique_fd;

namespace {

// Programs outside of the test may have some of them.
constexpr port_range among{28'740, 28'749};

struct listener {
  unique_fd fd;
  std::uint16_t port = 0;
  std::string problem;
};

listener listen(const port_range& within) {
  listener made;
  auto opened = listen_on_port(false, made.port, within);
  if (opened)
    made.fd = *std::move(opened);
  else
    made.problem = opened.error().message();
  return made;
}

unique_fd accepted(const listener& at) {
  REQUIRE(readable(at.fd.get(), patience_ms));
  return unique_fd(::accept4(at.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
}

}  // namespace

TEST_CASE("11: a publication listens on a port of the range, and a full range is named", "[unit][threads]") {
  std::vector<listener> all;
  std::set<std::uint16_t> ports;
  for (;;) {
    auto made = listen(among);
    if (!made.fd) {
      CHECK(made.problem.find("all 10 ports of 28740-28749 (ORC_PORTS) are taken") != std::string::npos);
      break;
    }
    CHECK(among.contains(made.port));
    REQUIRE(ports.insert(made.port).second);  // no port has two listeners
    all.push_back(std::move(made));
  }
  REQUIRE(all.size() > 1);
  const std::uint16_t freed = all.back().port;
  all.pop_back();
  CHECK(listen(among).port == freed);
  CHECK(listen({}).fd);
}

TEST_CASE("11: connections of an ended publication do not keep its port", "[unit][threads]") {
  std::uint16_t port = 0;
  {
    const auto first = listen(among);
    REQUIRE(first.fd);
    port = first.port;
    const auto there = connect_to_host("tcp://127.0.0.1:" + std::to_string(port));
    REQUIRE(there);
    auto here = accepted(first);
    here.reset();  // first, so that this end waits (TIME_WAIT)
    REQUIRE(readable(there->get(), patience_ms));
  }
  const auto again = listen({port, port});
  INFO(again.problem);
  CHECK(again.port == port);
  CHECK(again.fd);
}

TEST_CASE("11: a wrong range of ports is a bad argument that says so", "[unit][threads]") {
  orc::participant_options options;
  options.broker = "none";
  options.ports = "40100-40000";
  orc::participant participant(options);
  const auto outcome = participant.register_topic("t", {.transports = {orc::transport::multicast}}).result();
  CHECK(outcome.code() == orc::errc::bad_argument);
  CHECK(outcome.error().message().find("ORC_PORTS") != std::string::npos);
  CHECK(outcome.error().message().find("40000-40100") != std::string::npos);
}

TEST_CASE("8: a priority needs a transport that leaves the host", "[unit][threads]") {
  orc::participant participant({.broker = "none"});
  orc::topic_options options;
  options.transports = {orc::transport::ipc, orc::transport::shm};
  options.priority = orc::priority::bulk;
  const auto outcome = participant.register_topic("t", options).result();
  CHECK(outcome.code() == orc::errc::bad_argument);
  CHECK(outcome.error().message().find("priority") != std::string::npos);
}
