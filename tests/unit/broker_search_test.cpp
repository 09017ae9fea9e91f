// Which candidate of a broker is tried when, and what is said of each.
#include "core/broker/broker_search.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <optional>
#include <string>

#include "base/files/unique_fd.h"
#include "support/catch.h"
#include "support/fake_broker.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::detail::broker_search;
using orc::detail::monotonic;

namespace {

constexpr auto start = monotonic::time_point() + 1h;

// A candidate where a program listens that never answers.
struct mute_candidate : private_endpoint {
  mute_candidate() : fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    endpoint().copy(address.sun_path, sizeof address.sun_path - 1, std::string("ipc://").size());
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(::listen(fd.get(), 8) == 0);
  }
  orc::detail::unique_fd fd;
};

}  // namespace

TEST_CASE("broker search: the only candidate is tried at once, and stays connected", "[unit]") {
  fake_broker broker;
  zmq::context_t context;
  broker_search search(context, broker.endpoint());
  CHECK(search.is_named());
  CHECK_FALSE(search.has_choice());
  CHECK(search.fd() == -1);
  CHECK(search.step(start));
  CHECK(search.endpoint() == broker.endpoint());
  CHECK(search.fd() >= 0);
  zmq::message_t frame;
  CHECK(wait_until([&] {
    broker.serve();
    return search.try_recv(frame);
  }));
  CHECK(search.is_connected());
  const int fd = search.fd();
  CHECK_FALSE(search.step(start + broker_search::patience - 1ms));
  CHECK(search.step(start + broker_search::patience));
  CHECK(search.fd() == fd);  // libzmq keeps trying by itself
  CHECK(search.candidates({}) == broker.endpoint());
  CHECK(search.candidates({"silent"}) == broker.endpoint() + " (silent)");
  CHECK(search.problem().empty());
}

TEST_CASE("broker search: a candidate without anything is left out when there is another one", "[unit]") {
  const private_endpoint nothing;
  fake_broker broker;
  zmq::context_t context;
  broker_search search(context, nothing.endpoint() + "," + broker.endpoint());
  CHECK(search.has_choice());
  CHECK(search.step(start));
  CHECK(search.endpoint() == broker.endpoint());
  CHECK(search.candidates({}) == nothing.endpoint() + ", " + broker.endpoint());
}

TEST_CASE("broker search: a candidate that does not answer has its time, then the next one has", "[unit]") {
  const mute_candidate first;
  const mute_candidate second;
  zmq::context_t context;
  broker_search search(context, first.endpoint() + "," + second.endpoint());
  auto now = start;
  CHECK(search.step(now));
  CHECK(search.endpoint() == first.endpoint());
  CHECK(search.next_step() == now + broker_search::patience);
  now = search.next_step();
  CHECK(search.step(now));
  CHECK(search.endpoint() == second.endpoint());
  now = search.next_step();
  CHECK(search.step(now));
  CHECK(search.endpoint() == first.endpoint());
  CHECK(search.next_step() == now + 2 * broker_search::patience);  // more in the second round
  search.stay(now + 1h);
  CHECK_FALSE(search.step(now + 59min));
  search.restart();
  CHECK(search.step(now + 59min));
  CHECK(search.endpoint() == first.endpoint());
}

TEST_CASE("broker search: a candidate whose connection is up gets more time, once", "[unit]") {
  fake_broker first;  // which says nothing
  fake_broker second;
  first.silent = true;
  zmq::context_t context;
  broker_search search(context, first.endpoint() + "," + second.endpoint());
  CHECK(search.step(start));
  REQUIRE(wait_until([&] { return search.is_connected(); }));
  auto now = start + broker_search::patience;
  CHECK_FALSE(search.step(now));
  CHECK(search.endpoint() == first.endpoint());
  CHECK(search.next_step() == now + broker_search::max_patience);
  now = search.next_step();
  CHECK(search.step(now));
  CHECK(search.endpoint() == second.endpoint());
}

TEST_CASE("broker search: a new connection to the same candidate is a new socket", "[unit]") {
  fake_broker broker;
  zmq::context_t context;
  broker_search search(context, broker.endpoint());
  CHECK(search.step(start));
  zmq::message_t frame;
  const auto greeted = [&] {
    broker.serve();
    return search.try_recv(frame);
  };
  REQUIRE(wait_until(greeted));
  search.reconnect(start);
  CHECK(search.endpoint() == broker.endpoint());
  CHECK(wait_until(greeted));  // the broker greets each connection
}

TEST_CASE("broker search: messages of several frames are dropped", "[unit]") {
  private_endpoint where;
  raw_socket broker(ZMQ_ROUTER);
  broker.bind(where.endpoint());
  zmq::context_t context;
  broker_search search(context, where.endpoint());
  CHECK(search.step(start));
  std::optional<raw_socket::frames> probe;
  REQUIRE(wait_until([&] {
    static_cast<void>(search.is_connected());  // libzmq sends the probe during a call
    probe = broker.receive(0ms);
    return probe.has_value();
  }));
  REQUIRE(broker.send({probe->front(), "one", "two"}));
  REQUIRE(broker.send({probe->front(), "whole"}));
  zmq::message_t frame;
  REQUIRE(wait_until([&] { return search.try_recv(frame); }));
  CHECK(frame.to_string() == "whole");
}
