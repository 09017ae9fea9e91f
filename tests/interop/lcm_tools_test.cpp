// LCM's own tools on ORC's topics: what lcm-logger records and lcm-logplayer plays back is what was sent.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "interop/crc32.h"
#include "interop/lcm_log.h"
#include "interop/peers.h"
#include "support/own_network.h"
#include "support/told_samples.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

const std::string url = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304";
// One as single datagrams, one in fragments; all that is played back fits into a receive buffer.
const std::map<std::string, std::size_t> channels = {{"small", 100}, {"large", 70'000}};

std::size_t events_of(const std::string& log, const std::string& channel) {
  const auto events = read_lcm_log(log);
  return static_cast<std::size_t>(
      std::count_if(events.begin(), events.end(), [&](const auto& event) { return event.channel == channel; }));
}

void record(const std::string& logger, const std::string& log) {
  child_process recorder({logger, "--quiet", "--lcm-url=" + url, log});
  std::vector<peer> senders;
  for (const auto& [channel, size] : channels) {
    senders.push_back(send(kind::orc, url, channel, {.size = size, .hz = 50}));
  }
  for (const auto& of : channels) {
    REQUIRE(wait_until([&] { return events_of(log, of.first) >= 20; }));
  }
  recorder.send_signal(SIGINT);
  CHECK(recorder.wait_for_end() == 0);
}

// The numbers of each channel's messages, all of which are as they were sent.
std::map<std::string, std::vector<std::uint32_t>> check(const std::vector<lcm_event>& log) {
  std::map<std::string, std::vector<std::uint32_t>> numbers;
  for (const auto& event : log) {
    INFO("event " << event.number << " on " << event.channel);
    REQUIRE(channels.contains(event.channel));
    told content;
    REQUIRE(event.data.size() == channels.at(event.channel));
    REQUIRE(told::read(event.data.data(), event.data.size(), content));
    auto& seen = numbers[event.channel];
    REQUIRE((seen.empty() || content.number == seen.back() + 1));
    seen.push_back(content.number);
  }
  return numbers;
}

void record_and_play(const std::string& logger, const std::string& player) {
  if (!std::filesystem::exists(logger)) return skip("no " + logger + ": tools/dev setup installs it");
  if (std::string why; !enter_own_network(why)) return skip(why);
  const orc::detail::temporary_directory scratch;
  const std::string log = scratch.file("log");
  record(logger, log);
  const auto recorded = check(read_lcm_log(log));
  for (const auto& [channel, size] : channels) {
    INFO(channel);
    peer receiver(kind::orc, "receive", {url, channel});
    child_process playing({player, "--lcm-url=" + url, log});
    for (const std::uint32_t number : recorded.at(channel)) {
      const auto got = receiver.next();
      REQUIRE(got);
      CHECK(is_told(*got, size));
      CHECK(got->number == number);
    }
    CHECK(playing.wait_for_end() == 0);
  }
}

}  // namespace

TEST_CASE("lcm tools: lcm-logger records a topic, lcm-logplayer plays it back", "[interop]") {
  record_and_play("/usr/bin/lcm-logger", "/usr/bin/lcm-logplayer");
}

TEST_CASE("lcm tools: the same with those of PyPI", "[interop]") {
  if (const auto why = missing(kind::python)) return skip(*why);
  record_and_play(of_venv("lcm-logger"), of_venv("lcm-logplayer"));
}
