// A conversation with the broker's service, without sockets: the input is a list of messages, each with a connection, a
// pause before it and a length: [u8 connection][u8 pause, 10 ms][u16 length, little-endian][bytes].
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "broker/service/broker_service.h"

namespace {

using namespace orc;

// Every answer must be fit to be read by a participant.
bool check_frame(broker_service::routing, const std::string& frame) {
  if (!wire::decode(std::as_bytes(std::span(frame.data(), frame.size())))) std::abort();
  return frame.size() % 7 != 0;  // some connections do not take it
}

broker_service_options options() {
  broker_service_options made;
  made.host = "here";
  made.start_time = [](std::uint32_t) { return 1; };
  made.limits = {.topics = 8,
                 .participants = 4,
                 .subscriptions = 8,
                 .schema_bytes = 2'048,
                 .topics_each = 4,
                 .subscriptions_each = 4};
  // Odd pids live, of the others one in two cannot be checked: all answers occur.
  made.check_process = [](std::uint32_t pid, std::uint64_t) {
    if (pid % 2 == 1) return detail::process_state::alive;
    return pid % 4 == 0 ? detail::process_state::dead : detail::process_state::unknown;
  };
  made.pid_is_gone = [](std::uint32_t pid) { return pid % 8 == 0; };
  return made;
}

// Six places, of which two are ipc of one user, two of another, one tcp of this host and one of another. In the first
// byte of a message bits 0-2 choose the place; bit 7 first closes its connection, and opens another one.
class connections {
 public:
  explicit connections(broker_service& service) : service_(service) {
    for (std::size_t place = 0; place < numbers_.size(); ++place) open(place);
  }
  broker_service::routing at(std::uint8_t choice, broker_service::time now) {
    const std::size_t place = (choice & 7) % numbers_.size();
    if ((choice & 0x80) != 0) {
      service_.closed(numbers_[place], now);
      open(place);
    }
    return numbers_[place];
  }

 private:
  void open(std::size_t place) {
    peer who;
    who.way = place < 4 ? peer::via::ipc : peer::via::tcp;
    who.uid = place < 2 ? 1'000 : 1'001;
    who.pid = place == 0 ? 7 : 0;
    who.directory = "/run/orc";
    if (place >= 4) who.address = place == 4 ? "127.0.0.1" : "192.0.2.1";
    numbers_[place] = ++last_;
    service_.opened(last_, who);
  }

  broker_service& service_;
  std::array<broker_service::routing, 6> numbers_{};
  broker_service::routing last_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  broker_service::time now{std::chrono::hours(1)};
  broker_service service(options(), check_frame, now);
  auto next_tick = now + std::chrono::seconds(1);
  connections open(service);
  while (size >= 4) {
    now += std::chrono::milliseconds(10) * data[1];
    const std::size_t length = std::min(std::size_t{data[2]} | std::size_t{data[3]} << 8, size - 4);
    const auto from = open.at(data[0], now);
    if (now >= next_tick) {
      service.tick(now);
      next_tick = now + std::chrono::seconds(1);
    } else {
      service.turn(now);
    }
    service.receive(from, std::as_bytes(std::span(data + 4, length)), now);
    data += 4 + length;
    size -= 4 + length;
  }
  now += std::chrono::hours(1);
  service.tick(now);
  while (service.next_deadline().value_or(now + std::chrono::hours(1)) <= now) service.turn(now);
  const auto& map = service.map();
  if (map.participant_count() + map.topic_count() + map.subscription_count() + map.description_bytes() != 0) {
    std::abort();
  }
  return 0;
}
