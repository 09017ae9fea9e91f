// What peer brokers answer, and beacons, without sockets: the input is a list of datagrams and frames, each with a
// peer, a pause before it and a length: [u8 peer and flags][u8 pause, 10 ms][u16 length, little-endian][bytes]. Bits
// 0-1 are the peer. Bit 7: its connection ends, and another one is made. Bit 6: the bytes are a beacon. Bits 4-5: a
// frame that can be decoded answers the last question for changes (1) or for a schema (2).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "broker/service/broker_service.h"
#include "wire/beacon.h"

namespace {

using namespace orc;

constexpr std::size_t configured = 3;

// What the service asked its peers last.
struct questions {
  std::uint64_t changes = 0;
  std::uint64_t schema = 0;
};

class world {
 public:
  explicit world(broker_service::time now)
      : service_(
            options(), [](broker_service::routing, const std::string&) { return true; }, now) {
    for (std::size_t n = 0; n < configured; ++n) service_.peer_connected(n, n == 0, now);
  }
  broker_service& service() { return service_; }

  void take(std::uint8_t flags, std::span<const std::byte> bytes, broker_service::time now) {
    if ((flags & 0x40) != 0) {
      if (const auto heard = wire::decode_beacon(bytes))
        service_.peer_discovered("tcp://192.0.2." + std::to_string(flags & 0xf) + ":5570", heard->epoch, now);
      return;
    }
    const std::size_t which = (flags & 3) % asked_.size();
    if ((flags & 0x80) != 0) {
      service_.peer_lost(which, "ended", now);
      service_.peer_connected(which, which == 0, now);
    }
    auto message = wire::decode(bytes);
    const auto answers = (flags >> 4) & 3;
    if (!message || answers == 0 || answers == 3) return service_.receive_from_peer(which, bytes, now);
    message->request = answers == 1 ? asked_[which].changes : asked_[which].schema;
    const auto frame = wire::encode(*message);
    service_.receive_from_peer(which, std::as_bytes(std::span(frame)), now);
  }
  void lose_all(broker_service::time now) {
    for (std::size_t n = 0; n < asked_.size(); ++n) service_.peer_lost(n, "ended", now);
  }

 private:
  broker_service_options options() {
    broker_service_options made;
    made.host = "here";
    made.limits = {.topics = 8,
                   .participants = 4,
                   .subscriptions = 8,
                   .schema_bytes = 2'048,
                   .topics_each = 4,
                   .subscriptions_each = 4};
    for (std::size_t n = 0; n < configured; ++n) made.peers.push_back("tcp://peer" + std::to_string(n) + ":5570");
    asked_.resize(configured);
    made.add_peer = [this](peer_reports::peer_key which, const std::string&) {
      if (which > asked_.size()) std::abort();
      asked_.resize(std::max(asked_.size(), which + 1));
      if (asked_.size() > wire::max_peers) std::abort();
    };
    made.send_to_peer = [this](peer_reports::peer_key to, const std::string& frame) {
      const auto message = wire::decode(std::as_bytes(std::span(frame)));
      if (!message) std::abort();
      if (std::holds_alternative<wire::watch>(message->content)) asked_.at(to).changes = message->request;
      if (std::holds_alternative<wire::get_schema>(message->content)) asked_.at(to).schema = message->request;
      return true;
    };
    return made;
  }

  std::vector<questions> asked_;  // before the service, which is made with it
  broker_service service_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  broker_service::time now{std::chrono::hours(1)};
  world peers(now);
  auto& service = peers.service();
  auto next_tick = now + std::chrono::seconds(1);
  while (size >= 4) {
    now += std::chrono::milliseconds(10) * data[1];
    const std::size_t length = std::min(std::size_t{data[2]} | std::size_t{data[3]} << 8, size - 4);
    if (now >= next_tick) {
      service.tick(now);
      next_tick = now + std::chrono::seconds(1);
    } else {
      service.turn(now);
    }
    peers.take(data[0], std::as_bytes(std::span(data + 4, length)), now);
    if (service.map().topic_count() > 8 || service.map().description_bytes() > 2'048) std::abort();
    data += 4 + length;
    size -= 4 + length;
  }
  peers.lose_all(now);
  now += std::chrono::hours(1);
  service.tick(now);
  while (service.next_deadline().value_or(now + std::chrono::hours(1)) <= now) service.turn(now);
  if (service.map().topic_count() + service.map().description_bytes() != 0) std::abort();
  return 0;
}
