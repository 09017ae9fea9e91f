#include "benchmarks/recorder_load.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

// Every sample of a burst is due at the same time; so many bursts a second.
constexpr double bursts_per_second = 1000;

// Sends sample n on topic n % topics. True: it was sent.
using send_one = std::function<bool(std::uint64_t n)>;

load_report send_all(const load_plan& plan, const send_one& send) {
  load_report done;
  const double rate = plan.hz * plan.topics;
  const auto total = static_cast<std::uint64_t>(rate * plan.seconds);
  std::vector<std::int64_t> calls;
  calls.reserve(total + 1);
  const std::int64_t start = now_ns();
  const std::int64_t end = start + static_cast<std::int64_t>(plan.seconds * 1e9);
  for (std::uint64_t n = 0; (rate > 0 ? n < total : now_ns() < end) && !interrupted(); ++n) {
    if (rate > 0) {
      const double due_s = static_cast<double>(n) / rate;
      const double step = rate > bursts_per_second ? 1 / bursts_per_second : 0;
      const double at_s = step > 0 ? static_cast<double>(static_cast<std::int64_t>(due_s / step)) * step : due_s;
      const std::int64_t at = start + static_cast<std::int64_t>(at_s * 1e9);
      if (now_ns() < at) sleep_until_ns(at);
    }
    const std::int64_t before = now_ns();
    if (send(n)) ++done.sent;
    calls.push_back(now_ns() - before);
  }
  done.seconds = static_cast<double>(now_ns() - start) / 1e9;
  const summary s = summarize(calls);
  done.p50_us = s.p50;
  done.p99_us = s.p99;
  done.good = true;
  return done;
}

// LCM's format: magic, number, channel, payload. One socket, as a program with liblcm has.
load_report send_lcm(const load_plan& plan, channel& line) {
  const detail::unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const ip_mreqn by{{}, {}, static_cast<int>(::if_nametoindex("lo"))};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(plan.port));
  const bool ready = ::setsockopt(socket.get(), IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof by) == 0 &&
                     ::inet_pton(AF_INET, load_group, &to.sin_addr) == 1;
  line.put(ready);
  (void)line.get<bool>();
  if (!ready) return {};
  std::vector<std::string> datagrams;
  for (int i = 0; i < plan.topics; ++i)
    datagrams.push_back(std::string("LC02") + std::string(4, '\0') + "CHANNEL_" + std::to_string(i) + '\0' +
                        std::string(plan.size, 'x'));
  return send_all(plan, [&](std::uint64_t n) {
    std::string& bytes = datagrams[n % datagrams.size()];
    for (unsigned i = 0; i < 4; ++i) bytes[4 + i] = static_cast<char>(n >> (24 - 8 * i));
    return ::sendto(socket.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) > 0;
  });
}

std::string topic_of(const load_plan& plan, int i) {
  return "load" + std::to_string(plan.number) + "/" + std::to_string(i);
}

load_report send_orc(const load_plan& plan, channel& line) {
  orc::participant participant(participant_at(plan.broker, "recorder (load)"));
  std::vector<orc::publisher> out;
  topic_options offer;
  offer.transports = {plan.kind == load_kind::shm ? transport::shm : transport::ipc};
  bool ready = true;
  for (int i = 0; i < plan.topics; ++i) {
    const std::string topic = topic_of(plan, i);
    ready = ready && participant.register_topic(topic, offer);
    out.push_back(participant.publisher(topic));
  }
  // The recorder chooses its queue by the size of samples.
  std::vector<std::byte> sample(plan.size, std::byte{1});
  line.put(ready);
  const std::int64_t deadline = now_ns() + connect_within_ms * std::int64_t{1'000'000};
  for (orc::publisher& each : out)
    while (ready && each.readers() < static_cast<std::size_t>(plan.readers) && now_ns() < deadline)
      sleep_until_ns(now_ns() + 1'000'000);
  (void)line.get<bool>();
  if (!ready) return {};
  return send_all(
      plan, [&](std::uint64_t n) { return static_cast<bool>(out[n % out.size()].send(sample.data(), sample.size())); });
}

// Takes the newest sample of each topic as it comes, until the line has a word.
void read_all(const load_plan& plan, channel& line) {
  orc::participant participant(participant_at(plan.broker, "recorder (reader)"));
  std::vector<orc::subscriber> in;
  std::vector<pollfd> items{{line.fd(), POLLIN, 0}};
  request_options wish;
  wish.transports = {plan.kind == load_kind::shm ? transport::shm : transport::ipc};
  for (int i = 0; i < plan.topics; ++i) {
    const std::string topic = topic_of(plan, i);
    (void)participant.request_topic(topic, wish);
    in.push_back(participant.subscriber(topic));
    items.push_back({in.back().fd(), POLLIN, 0});
  }
  while (::poll(items.data(), items.size(), -1) > 0 && items[0].revents == 0)
    for (std::size_t i = 0; i < in.size(); ++i)
      if (items[i + 1].revents != 0) (void)in[i].recv(0);
}

}  // namespace

void serve_reader(channel& line) {
  while (const auto plan = line.get<load_plan>()) {
    read_all(*plan, line);
    (void)line.get<bool>();
    line.put(true);
  }
}

void serve_load(channel& line) {
  while (const auto plan = line.get<load_plan>())
    line.put(plan->kind == load_kind::lcm ? send_lcm(*plan, line) : send_orc(*plan, line));
}

}  // namespace orc::bench
