// `orc play` and LCM's own tools: what each plays, the other records.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "interop/lcm_log.h"
#include "interop/peers.h"
#include "support/own_network.h"
#include "support/payload.h"
#include "support/recording_file.h"
#include "support/wait_until.h"

using namespace orc;
using namespace orc::test;

namespace {

const std::string url = "udpm://239.255.76.67:7667?ttl=0&recv_buf_size=4194304";
const char* const logger = "/usr/bin/lcm-logger";
const char* const player = "/usr/bin/lcm-logplayer";

std::string text_of(const bytes& data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }

// Messages of both formats of LCM, single datagrams and fragments, on two channels. All fit into a receive buffer.
std::vector<std::pair<std::string, std::string>> write_run(const std::string& path) {
  std::vector<std::pair<std::string, std::string>> sent;
  recording_file file(path);
  file.channel("SMALL").channel("LARGE");
  for (std::uint64_t i = 0; i < 20; ++i) {
    sent.emplace_back("SMALL", text_of(patterned(10 + i, i)));
    file.sample("SMALL", static_cast<double>(20 * i), sent.back().second);
    if (i % 5 != 0) continue;
    sent.emplace_back("LARGE", text_of(patterned(100'000 + i, i)));
    file.sample("LARGE", static_cast<double>(20 * i + 10), sent.back().second);
  }
  file.close();
  return sent;
}

std::vector<std::pair<std::string, std::string>> heard_by_logger(const std::string& log) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& event : read_lcm_log(log)) {
    if (event.channel == "SMALL" || event.channel == "LARGE") all.emplace_back(event.channel, event.data);
  }
  return all;
}

// Each channel in its order. liblcm stamps a message in several datagrams at one of them, so beside another channel it
// may change places.
std::vector<std::pair<std::string, std::string>> by_channel(std::vector<std::pair<std::string, std::string>> all) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

// Plays with these words until lcm-logger has as many messages; returns them.
std::vector<std::pair<std::string, std::string>> recorded_by_logger(const std::string& log, std::size_t count,
                                                                    const std::vector<std::string>& play) {
  child_process recorder({logger, "--quiet", "--lcm-url=" + url, log});
  // Until the logger hears the group: a message of a channel that nobody looks at.
  peer probe = send(kind::orc, url, "PROBE", {.life = 1, .size = 20, .hz = 100});
  REQUIRE(wait_until([&] { return !read_lcm_log(log).empty(); }));
  child_process playing(play);
  INFO(playing.read_all());
  CHECK(playing.wait_for_end() == 0);
  REQUIRE(wait_until([&] { return heard_by_logger(log).size() >= count; }));
  recorder.send_signal(SIGINT);
  CHECK(recorder.wait_for_end() == 0);
  return heard_by_logger(log);
}

}  // namespace

TEST_CASE("play: lcm-logger records what orc play publishes, from MCAP and from an LCM log", "[interop]") {
  if (!std::filesystem::exists(logger)) return skip(std::string("no ") + logger + ": tools/dev setup installs it");
  if (std::string why; !enter_own_network(why)) return skip(why);
  const detail::temporary_directory scratch;
  const auto sent = write_run(scratch.file("run.mcap"));
  const std::string orc = program("orc");
  REQUIRE(
      child_process({orc, "log", "convert", scratch.file("run.mcap"), "-o", scratch.file("run.lcm")}).wait_for_end() ==
      0);
  for (const char* file : {"run.mcap", "run.lcm"}) {
    INFO(file);
    const auto heard = recorded_by_logger(scratch.file(std::string(file) + ".heard"), sent.size(),
                                          {orc, "play", "--multicast", url, scratch.file(file)});
    CHECK((by_channel(heard) == by_channel(sent)));
  }
}

TEST_CASE("play: lcm-logplayer plays an LCM log of ours as orc play does", "[interop]") {
  if (!std::filesystem::exists(player)) return skip(std::string("no ") + player + ": tools/dev setup installs it");
  if (std::string why; !enter_own_network(why)) return skip(why);
  const detail::temporary_directory scratch;
  const auto sent = write_run(scratch.file("run.mcap"));
  REQUIRE(child_process({program("orc"), "log", "convert", scratch.file("run.mcap"), "-o", scratch.file("run.lcm")})
              .wait_for_end() == 0);
  const auto heard =
      recorded_by_logger(scratch.file("heard"), sent.size(), {player, "--lcm-url=" + url, scratch.file("run.lcm")});
  CHECK((by_channel(heard) == by_channel(sent)));
}

TEST_CASE("play: an LCM log of lcm-logger plays, converts and checks", "[interop]") {
  if (!std::filesystem::exists(logger)) return skip(std::string("no ") + logger + ": tools/dev setup installs it");
  if (std::string why; !enter_own_network(why)) return skip(why);
  const detail::temporary_directory scratch;
  const auto sent = write_run(scratch.file("run.mcap"));
  const std::string orc = program("orc");
  const std::string log = scratch.file("logged");
  const auto logged = recorded_by_logger(log, sent.size(), {orc, "play", "--multicast", url, scratch.file("run.mcap")});
  REQUIRE((by_channel(logged) == by_channel(sent)));
  CHECK(child_process({orc, "log", "check", log}).wait_for_end() == 0);
  REQUIRE(child_process({orc, "log", "convert", log, "-o", scratch.file("back.mcap"), "--exclude", "PROBE"})
              .wait_for_end() == 0);
  std::vector<std::pair<std::string, std::string>> converted;
  for (const file_sample& each : samples_of(scratch.file("back.mcap"))) converted.emplace_back(each.topic, each.data);
  CHECK((by_channel(converted) == by_channel(sent)));
  const auto heard = recorded_by_logger(scratch.file("again"), sent.size(),
                                        {orc, "play", "--multicast", url, "--exclude", "PROBE", log});
  CHECK((by_channel(heard) == by_channel(sent)));
}
