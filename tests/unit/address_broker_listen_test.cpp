// Why a broker does not start, one reason at a time.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "broker/address_broker.h"
#include "support/as_nobody.h"
#include "support/catch.h"
#include "support/private_endpoint.h"
#include "support/raw_client.h"

using namespace orc;
using orc::test::contains;
using test::private_endpoint;

namespace {

detail::expected<std::unique_ptr<address_broker>> start(std::vector<std::string> listen) {
  address_broker_options options;
  options.listen = std::move(listen);
  return address_broker::start(std::move(options));
}

std::string why_not(std::vector<std::string> listen) {
  auto started = start(std::move(listen));
  REQUIRE(!started);
  return started.error().message();
}

mode_t mode_of(const std::string& path) {
  struct stat found {};
  REQUIRE(stat(path.c_str(), &found) == 0);
  return found.st_mode & 07777;
}

}  // namespace

TEST_CASE("broker listen: endpoints that are none") {
  CHECK_THAT(why_not({}), contains("no endpoint"));
  CHECK_THAT(why_not({"inproc://x"}), contains("inproc://x") && contains("neither ipc://PATH nor tcp://"));
  CHECK_THAT(why_not({"ipc://"}), contains("path is empty"));
  CHECK_THAT(why_not({"ipc://@abstract"}), contains("no permissions"));
  CHECK_THAT(why_not({"tcp://nonsense"}), contains("cannot listen at tcp://nonsense"));
  CHECK_THAT(why_not({"tcp://127.0.0.1:99999"}), contains("tcp://ADDRESS:PORT"));
  CHECK_THAT(why_not({"tcp://203.0.113.7:5570"}), contains("no such address"));
}

TEST_CASE("broker listen: * is both families, and stays * in what is printed") {
  const auto broker = *start({"tcp://*:*"});
  const auto endpoint = broker->endpoints()[0];
  CHECK_THAT(endpoint, contains("tcp://*:"));
  const auto port = endpoint.substr(endpoint.rfind(':'));
  for (const std::string address : {"127.0.0.1", "[::1]"}) {
    if (address == "[::1]" && !start({"tcp://[::1]:*"})) return test::skip("this host has no IPv6");
    test::raw_client client("tcp://" + address + port);
    CHECK(std::holds_alternative<wire::topic_list>(client.ask(wire::list_topics{})));
  }
  CHECK_THAT((*start({"tcp://[::1]:*"}))->endpoints()[0], contains("tcp://[::1]:"));
  CHECK_THAT((*start({"tcp://[::]:*"}))->endpoints()[0], contains("tcp://[::]:"));
  CHECK_THAT((*start({"tcp://0.0.0.0:*"}))->endpoints()[0], contains("tcp://0.0.0.0:"));
  CHECK_THAT((*start({"tcp://lo:*"}))->endpoints()[0], contains("tcp://127.0.0.1:"));
  CHECK_THAT(why_not({"tcp://::1:5570"}), contains("no such address"));
  CHECK_THAT(why_not({"tcp://localhost:5570"}), contains("localhost is neither an address nor an interface"));
  CHECK_THAT(why_not({"tcp://[127.0.0.1]:5570"}), contains("no such address"));
}

TEST_CASE("broker listen: a second broker on the same path is refused and told the first one's pid") {
  const private_endpoint place;
  const auto first = start({place.endpoint()});
  REQUIRE(first);
  CHECK_THAT(why_not({place.endpoint()}),
             contains("another orc-broker (pid " + std::to_string(getpid()) + ") already serves " + place.endpoint()));
  test::raw_client client(place.endpoint());
  CHECK(std::holds_alternative<wire::topic_list>(client.ask(wire::list_topics{})));
}

TEST_CASE("broker listen: a second broker on the same port is refused, and takes nothing with it") {
  const private_endpoint place;
  auto first = start({"tcp://127.0.0.1:*"});
  const auto taken = (*first)->endpoints()[0];
  CHECK_THAT(why_not({place.endpoint(), taken}), contains("cannot listen at " + taken) && contains("another program"));
  CHECK(access((place.directory() + "/broker.lock").c_str(), F_OK) != 0);
  CHECK(start({place.endpoint()}));
}

TEST_CASE("broker listen: a socket that another program serves is not stolen") {
  const private_endpoint place;
  zmq::context_t context;
  zmq::socket_t other(context, zmq::socket_type::router);
  other.bind(place.endpoint());
  CHECK_THAT(why_not({place.endpoint()}), contains("another program already serves"));
  other.unbind(place.endpoint());
}

TEST_CASE("broker listen: only a socket is replaced, no other file") {
  const private_endpoint place;
  const auto path = place.directory() + "/broker";
  std::ofstream(path) << "precious";
  CHECK_THAT(why_not({place.endpoint()}), contains("is not a socket"));
  std::string kept;
  std::ifstream(path) >> kept;
  CHECK(kept == "precious");
}

TEST_CASE("broker listen: a path too long for a socket") {
  const private_endpoint place;
  const auto room = 107 - place.directory().size() - 1;
  CHECK(start({"ipc://" + place.directory() + "/" + std::string(room, 'x')}));
  CHECK_THAT(why_not({"ipc://" + place.directory() + "/" + std::string(room + 1, 'x')}),
             contains("108 bytes") && contains("at most 107"));
}

TEST_CASE("broker listen: the directory is made, and decides who may connect") {
  const private_endpoint place;
  const auto directory = place.directory() + "/a/b";
  {
    const auto broker = start({"ipc://" + directory + "/broker"});
    REQUIRE(broker);
    CHECK(mode_of(directory) == 0700);
    CHECK(mode_of(directory + "/broker") == 0600);
  }
  REQUIRE(chmod(directory.c_str(), 0770) == 0);
  const auto broker = start({"ipc://" + directory + "/broker"});
  CHECK(mode_of(directory) == 01770);
  CHECK(mode_of(directory + "/broker") == 0660);
}

TEST_CASE("broker listen: a directory that cannot be made") {
  CHECK_THAT(why_not({"ipc:///proc/orc/broker"}), contains("cannot be made"));
  CHECK_THAT(why_not({"ipc:///dev/null/broker"}), contains("/dev/null"));
}

TEST_CASE("broker listen: a directory that this user may not use names its owner and the remedy") {
  if (geteuid() != 0) return test::skip("only root can become another user");
  const private_endpoint place;  // of root alone
  for (const char* below : {"/broker", "/made/broker"}) {
    const auto said = test::text_for_nobody([&] { return why_not({"ipc://" + place.directory() + below}); });
    CHECK_THAT(said, contains("Permission denied") && contains(place.directory() + " belongs to root"));
  }
  const auto said = test::text_for_nobody([&] { return why_not({"ipc://" + place.directory() + "/made/broker"}); });
  CHECK_THAT(said, contains("set XDG_RUNTIME_DIR to "));
}

TEST_CASE("broker listen: a private endpoint leaves nothing") {
  std::string directory;
  {
    const private_endpoint place;
    directory = place.directory();
    CHECK(mode_of(directory) == 0700);
    const auto broker = start({place.endpoint()});
  }
  CHECK(access(directory.c_str(), F_OK) != 0);
}
