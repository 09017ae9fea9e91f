#include "orc/options.h"

#include <string>

#include "orc.h"
#include "support/catch.h"

TEST_CASE("transport_set: what was put in is in, nothing else", "[unit][threads]") {
  constexpr orc::transport_set none;
  static_assert(none.empty());
  constexpr orc::transport_set two{orc::transport::ipc, orc::transport::tcp};
  static_assert(!two.empty());
  static_assert(two.contains(orc::transport::ipc));
  static_assert(two.contains(orc::transport::tcp));
  static_assert(!two.contains(orc::transport::inproc));
  static_assert(!two.contains(orc::transport::multicast));
  orc::transport_set grown{orc::transport::tcp};
  grown.insert(orc::transport::ipc);
  CHECK(grown == two);
  CHECK(grown != none);
}

TEST_CASE("transport: names are those of the documentation", "[unit][threads]") {
  CHECK(orc::to_string(orc::transport::inproc) == "inproc");
  CHECK(orc::to_string(orc::transport::ipc) == "ipc");
  CHECK(orc::to_string(orc::transport::tcp) == "tcp");
  CHECK(orc::to_string(orc::transport::shm) == "shm");
  CHECK(orc::to_string(orc::transport::multicast) == "multicast");
}

TEST_CASE("options: the defaults are the documented ones", "[unit][threads]") {
  const orc::request_options request;
  CHECK(request.conflate == 1);
  CHECK(request.depth == 0);
  CHECK(request.connected_within.count() == 0);
  CHECK(request.transports.empty());
  const orc::participant_options participant;
  CHECK(participant.broker_timeout == std::chrono::seconds(2));
  CHECK(participant.broker.empty());
  CHECK(participant.transports.empty());
  const orc::topic_options topic;
  CHECK(topic.expected_size == 0);
  CHECK(topic.transports.empty());
}

TEST_CASE("version: headers and library agree in a build of one tree", "[unit][threads]") {
  CHECK(std::string(orc::version()) == std::to_string(ORC_VERSION_MAJOR) + "." + std::to_string(ORC_VERSION_MINOR) +
                                           "." + std::to_string(ORC_VERSION_PATCH));
}
