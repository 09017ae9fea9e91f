// A datagram may overtake another one on any network: what ORC's own datagrams say may be late.
#include <arpa/inet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <string>

#include "base/files/unique_fd.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_group.h"
#include "support/wait_until.h"
#include "transport/multicast/datagram/orc_datagram.h"

using namespace orc::test;
namespace multicast = orc::detail::multicast;

namespace {

// A publication that a test sends for, datagram by datagram, in the order that it wants.
class fake_sender {
 public:
  explicit fake_sender(std::string channel) : channel_(std::move(channel)) {
    const ip_mreqn by{{}, {}, static_cast<int>(::if_nametoindex("lo"))};
    REQUIRE(::setsockopt(socket_.get(), IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) == 0);
    const std::string url = test_group();  // udpm://ADDRESS:PORT?…
    const auto colon = url.find(':', 7);
    group_.sin_family = AF_INET;
    group_.sin_port = htons(static_cast<std::uint16_t>(std::stoi(url.substr(colon + 1))));
    REQUIRE(::inet_pton(AF_INET, url.substr(7, colon - 7).c_str(), &group_.sin_addr) == 1);
  }

  void say(std::uint32_t number, const std::string& payload) const {
    std::string bytes = "LC02";
    for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift);
    send(bytes + channel_ + '\0' + payload);
  }
  void announce(std::uint64_t newest) const {
    std::array<std::byte, multicast::max_orc_datagram> bytes;
    multicast::orc_datagram told;
    told.publication = id_;
    told.sequence = newest;
    told.channel = channel_;
    const std::size_t size = multicast::encode(told, bytes);
    send(std::string(reinterpret_cast<const char*>(bytes.data()), size));
  }

 private:
  void send(const std::string& bytes) const {
    REQUIRE(::sendto(socket_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&group_),
                     sizeof group_) == static_cast<ssize_t>(bytes.size()));
  }

  const std::string channel_;
  const orc::wire::id id_ = orc::wire::id::random();
  const orc::detail::unique_fd socket_{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_in group_{};
};

std::string text_of(const orc::message& m) { return {static_cast<const char*>(m.data()), m.size()}; }

}  // namespace

TEST_CASE("multicast announcement: one that comes late does not bring older samples back", "[integration][threads]") {
  for (const int conflate : {0, 1}) {
    INFO("conflate " << conflate);
    const std::string channel = "late" + std::to_string(conflate);
    orc::participant participant(alone());
    REQUIRE(participant.request_topic(channel, {.conflate = conflate}).result());
    const fake_sender publication(channel);
    // Until it listens.
    REQUIRE(wait_until([&] {
      publication.say(5, "five");
      const auto first = participant.recv_msg(channel, 20);
      return first && text_of(first) == "five";
    }));
    publication.announce(3);  // was sent after sample 3
    publication.say(4, "four");
    publication.say(5, "five");
    publication.say(6, "six");
    const auto second = participant.recv_msg(channel, patience_ms);
    REQUIRE(second);
    CHECK(text_of(second) == "six");
  }
}

TEST_CASE("multicast: a request hears strangers, then the publication that is registered, then strangers again",
          "[integration][threads]") {
  const broker_process map;
  auto options = map.options();
  options.multicast = test_group();
  const orc::transport_set over{orc::transport::multicast};
  orc::participant reader(options);
  REQUIRE(reader.request_topic("switch", {.transports = over}).result());
  const fake_sender stranger("switch");
  std::uint32_t number = 0;
  const auto hears = [&](const std::string& what) {
    return wait_until([&] {
      stranger.say(++number, "stranger");
      const auto got = reader.recv_msg("switch", 20);
      return got && text_of(got) == what;
    });
  };
  CHECK(hears("stranger"));

  orc::participant writer(options);
  REQUIRE(writer.register_topic("switch", {.transports = over}));
  REQUIRE(reader.subscriber("switch").wait_connected(patience_ms));
  REQUIRE(wait_until([&] { return writer.publisher("switch").readers() == 1; }));
  REQUIRE(writer.send_msg("switch", "registered", 10));
  REQUIRE(hears("registered"));
  // From now on nobody else is heard.
  for (int i = 0; i < 50; ++i) {
    stranger.say(++number, "stranger");
    const auto got = reader.recv_msg("switch", 1);
    CHECK_FALSE((got && text_of(got) == "stranger"));
  }

  REQUIRE(writer.unregister_topic("switch"));
  CHECK(hears("stranger"));
}
