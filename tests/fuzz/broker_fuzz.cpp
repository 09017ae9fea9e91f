// A conversation with the broker's service, without sockets: the input is a list of messages, each with a connection, a
// pause before it and a length: [u8 connection][u8 pause, 10 ms][u16 length, little-endian][bytes].
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <variant>

#include "broker/broker_service.h"

namespace {

using namespace orc;

// Every answer must be fit to be read by a participant.
bool check_frame(const std::string&, const std::string& frame) {
  const auto decoded = wire::decode(std::as_bytes(std::span(frame.data(), frame.size())));
  if (!std::holds_alternative<wire::envelope>(decoded)) std::abort();
  return frame.size() % 7 != 0;  // some connections do not take it
}

broker_service_options options() {
  broker_service_options made;
  made.host = "here";
  made.limits = {.topics = 8, .participants = 4, .subscriptions = 8, .schema_bytes = 64};
  // Odd pids live, of the others one in two cannot be checked: all answers occur.
  made.check_process = [](std::uint32_t pid, std::uint64_t) {
    if (pid % 2 == 1) return detail::process_state::alive;
    return pid % 4 == 0 ? detail::process_state::dead : detail::process_state::unknown;
  };
  made.pid_is_gone = [](std::uint32_t pid) { return pid % 8 == 0; };
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  broker_service::time now{std::chrono::hours(1)};
  broker_service service(options(), check_frame, now);
  auto next_tick = now + std::chrono::seconds(1);
  while (size >= 4) {
    const std::string from(1, static_cast<char>(data[0] % 6));
    now += std::chrono::milliseconds(10) * data[1];
    const std::size_t length = std::min(std::size_t{data[2]} | std::size_t{data[3]} << 8, size - 4);
    service.settle_overdue_probes(now);
    if (now >= next_tick) {
      service.tick(now);
      next_tick = now + std::chrono::seconds(1);
    }
    service.receive(from, std::as_bytes(std::span(data + 4, length)), now);
    data += 4 + length;
    size -= 4 + length;
  }
  service.tick(now + std::chrono::hours(1));
  service.settle_overdue_probes(now + std::chrono::hours(1));
  const auto& map = service.map();
  if (map.participant_count() + map.topic_count() + map.subscription_count() + map.schema_bytes() != 0) std::abort();
  return 0;
}
