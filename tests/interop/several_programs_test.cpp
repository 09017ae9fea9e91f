// Several programs on one channel: one transmission serves all, and senders are kept apart.
#include <map>
#include <string>
#include <vector>

#include "interop/peers.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/own_network.h"
#include "support/told_samples.h"

using namespace orc::test;

namespace {

const std::string url = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304";

std::vector<kind> kinds_here() {
  if (missing(kind::python)) return {kind::orc, kind::lcm};
  return {kind::orc, kind::lcm, kind::python};
}

// Until `least` messages of each sender have come; what comes is right and no older than what came from that sender.
void hears_all(peer& receiver, std::uint32_t senders, std::size_t size, unsigned least) {
  std::map<std::uint32_t, unsigned> count;
  std::map<std::uint32_t, std::uint32_t> last;
  for (unsigned enough = 0; enough < senders;) {
    const auto got = receiver.next();
    REQUIRE(got);
    REQUIRE(is_told(*got, size));
    REQUIRE(got->life <= senders);
    REQUIRE(got->number > last[got->life]);
    last[got->life] = got->number;
    if (++count[got->life] == least) ++enough;
  }
}

}  // namespace

TEST_CASE("several programs: what one ORC publication sends, all of them hear", "[interop]") {
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  for (const std::size_t size : {1000u, 200'000u}) {
    const std::string channel = "ALL" + std::to_string(size);
    std::vector<peer> receivers;
    for (const kind which : kinds_here()) {
      for (int i = 0; i < 2; ++i) receivers.emplace_back(which, "receive", std::vector<std::string>{url, channel});
    }
    const peer sender = send(kind::orc, url, channel, {.size = size, .hz = 20});
    for (auto& receiver : receivers) hears_all(receiver, 1, size, 5);
  }
}

TEST_CASE("several programs: fragments of messages from several senders are not mixed", "[interop]") {
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  const std::string channel = "APART";
  constexpr std::size_t size = 300'000;
  peer orc(kind::orc, "receive", {url, channel});
  peer lcm(kind::lcm, "receive", {url, channel});
  std::vector<peer> senders;
  for (const kind which : kinds_here()) {
    for (int i = 0; i < 2; ++i) {
      const auto life = static_cast<std::uint32_t>(senders.size() + 1);
      senders.push_back(send(which, url, channel, {.life = life, .size = size, .hz = 20}));
    }
  }
  const auto count = static_cast<std::uint32_t>(senders.size());
  hears_all(orc, count, size, 5);
  hears_all(lcm, count, size, 5);
}

TEST_CASE("several programs: with a broker, a topic on multicast is LCM's as well", "[interop]") {
  std::string why;
  if (!enter_own_network(why)) return skip(why);
  const broker_process address_broker;
  auto options = address_broker.options();
  options.multicast = url;
  options.transports = {orc::transport::multicast};
  orc::participant participant(options);
  orc::participant other(options);
  constexpr std::size_t size = 100'000;

  const auto registered = participant.register_topic("FROM_ORC").result();
  INFO(registered.error().message());
  REQUIRE(registered);
  peer hears(kind::lcm, "receive", {url, "FROM_ORC"});
  REQUIRE(other.request_topic("FROM_ORC", {.connected_within = patience}).result());
  std::vector<unsigned char> sample(size);
  told{7, 1}.write(sample.data(), size);
  REQUIRE(participant.send_msg("FROM_ORC", sample.data(), size));
  const auto got = hears.next();
  REQUIRE(got);
  CHECK(is_told(*got, size));
  CHECK(got->life == 7);
  told content;
  REQUIRE(told::read(other.recv_msg("FROM_ORC", patience_ms), content));
  CHECK(content.life == 7);

  REQUIRE(participant.request_topic("FROM_LCM"));
  const peer says = send(kind::lcm, url, "FROM_LCM", {.life = 8, .size = size, .hz = 20});
  REQUIRE(told::read(participant.recv_msg("FROM_LCM", patience_ms), content));
  CHECK(content.life == 8);
}
