// orc_test_starved_node BROKER TRANSPORTS SECONDS: a participant that publishes, one that subscribes over the
// transports (inproc,shm), and one that subscribes over the last of them, with topics that come and go, in a process
// that may run out of memory at any moment. Every failure is met as a program would: with another try. Says how many
// samples were sent and received. A sample that is not as it was sent ends it with status 3.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "orc.h"

namespace {

using steady = std::chrono::steady_clock;

struct counts {
  unsigned long sent = 0;
  unsigned long received = 0;
  unsigned long refused = 0;  // calls that said no_memory, or failed for want of it
  unsigned long joined = 0;
};

orc::transport named(const std::string& name) {
  for (const auto each : {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp, orc::transport::shm,
                          orc::transport::multicast}) {
    if (orc::to_string(each) == name) return each;
  }
  std::exit(2);
}

void receive(orc::participant& receiver, const std::string& topic, counts& all) {
  const auto got = receiver.recv_msg(topic, 1);
  if (!got) return;
  if (got.size() < 100 || *static_cast<const unsigned char*>(got.data()) != 'x') std::exit(3);
  ++all.received;
}

// Sends through both ways that a sample can go, and receives; a second subscription takes all in order.
void exchange(orc::participant& sender, orc::participant& receiver, orc::participant& far, const std::string& topic,
              counts& all) {
  std::vector<char> large(100'000, 'x');
  for (int n = 0; n < 200; ++n) {
    const std::size_t size = n % 10 == 0 ? large.size() : 100;
    const bool sent = static_cast<bool>(sender.send_msg(topic, large.data(), size));
    sent ? ++all.sent : ++all.refused;
    if (auto loan = sender.loan(topic, 1000)) {
      std::memset(loan.data(), 'x', 1000);
      (void)sender.send_msg(topic, std::move(loan));
    }
    receive(receiver, topic, all);
    receive(far, topic, all);
  }
}

void live(const std::string& broker, const std::vector<orc::transport>& over, steady::time_point end, counts& all) {
  orc::participant sender({.broker = broker, .name = "sender", .broker_timeout = std::chrono::milliseconds(300)});
  orc::participant receiver({.broker = broker, .name = "receiver", .broker_timeout = std::chrono::milliseconds(300)});
  orc::participant far({.broker = broker, .name = "far", .broker_timeout = std::chrono::milliseconds(300)});
  orc::transport_set set;
  for (const auto each : over) set.insert(each);
  for (int round = 0; round < 20 && steady::now() < end; ++round) {
    const std::string topic = "starved/" + std::to_string(round % 3);
    if (!sender.register_topic(topic, {.transports = set}).result()) ++all.refused;
    const int conflate = round % 2;
    if (receiver
            .request_topic(
                topic, {.conflate = conflate, .connected_within = std::chrono::milliseconds(300), .transports = set})
            .result())
      ++all.joined;
    else
      ++all.refused;
    (void)far.request_topic(
        topic, {.conflate = conflate, .connected_within = std::chrono::milliseconds(300), .transports = {over.back()}});
    exchange(sender, receiver, far, topic, all);
    (void)receiver.release_topic(topic);
    (void)far.release_topic(topic);
    (void)sender.unregister_topic(topic);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::vector<orc::transport> over;
  std::istringstream names(argv[2]);
  for (std::string name; std::getline(names, name, ',');) over.push_back(named(name));
  const auto end = steady::now() + std::chrono::seconds(std::atoi(argv[3]));
  counts all;
  while (steady::now() < end) {
    try {
      live(argv[1], over, end, all);
    } catch (const std::bad_alloc&) {
      ++all.refused;  // constructors have no other way to say so
    }
  }
  std::printf("%lu %lu %lu %lu\n", all.sent, all.received, all.refused, all.joined);
  return 0;
}
