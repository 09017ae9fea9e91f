// Shared topics in recordings: one channel for each publisher, and one publication for each when it is played.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "support/recorded.h"
#include "support/recorder_process.h"
#include "support/test_node.h"

using namespace orc;
using namespace orc::test;

namespace {

type_description json_type(const std::string& name) {
  return {.name = name, .schema_encoding = "jsonschema", .message_encoding = "json", .schema = R"({"type":"object"})"};
}

// A publisher of the shared topic "stop".
class panel {
 public:
  panel(const broker_process& broker, const std::string& name, const type_description& type = {})
      : node_(broker.options(name)) {
    topic_options options;
    options.shared = true;
    options.type = type;
    const result done = node_.register_topic("stop", options).result();
    INFO(done.error().message());
    REQUIRE(done);
  }
  [[nodiscard]] bool is_heard() {
    return wait_until([&] { return node_.publisher("stop").readers() >= 1; });
  }
  void send(const std::string& text) { REQUIRE(node_.send_msg("stop", text.data(), text.size())); }

 private:
  orc::participant node_;
};

// The samples of a topic, by the publisher that their channel names.
std::map<std::string, std::vector<recorded_sample>> by_publisher(const recorded& from, const std::string& topic) {
  std::map<std::string, std::vector<recorded_sample>> found;
  for (const auto& each : from.of(topic))
    found[from.channels.at(each.channel).metadata.at("orc.publisher")].push_back(each);
  return found;
}

void check_numbered(const std::vector<recorded_sample>& samples, const std::string& prefix, std::size_t count) {
  INFO(prefix);
  REQUIRE(samples.size() == count);
  for (std::size_t i = 0; i < count; ++i) {
    CHECK(samples[i].data == prefix + std::to_string(i));
    CHECK(samples[i].sequence == samples.front().sequence + i);
    CHECK(samples[i].channel == samples.front().channel);
  }
}

std::vector<std::string> files_in(const std::string& directory) {
  std::vector<std::string> all;
  for (const auto& each : std::filesystem::directory_iterator(directory)) all.push_back(each.path());
  std::sort(all.begin(), all.end());
  return all;
}

std::string new_directory(const broker_process& broker, const std::string& name) {
  std::string made = broker.directory().file(name);
  std::filesystem::create_directory(made);
  return made;
}

// Sends in turn, the second one twice as often.
void send_both(panel& gate, panel& desk, int count) {
  for (int i = 0; i < count; ++i) {
    gate.send("gate " + std::to_string(i));
    desk.send("desk " + std::to_string(2 * i));
    desk.send("desk " + std::to_string(2 * i + 1));
  }
}

}  // namespace

TEST_CASE("orc record gives each publisher of a shared topic a channel, and orc play a publication") {
  const broker_process broker;
  const tool orc(broker);
  const std::string first = broker.directory().file("first.mcap");
  const std::string second = broker.directory().file("second.mcap");
  constexpr int count = 200;
  {
    panel gate(broker, "gate", json_type("Gate"));
    panel desk(broker, "desk", json_type("Desk"));
    recorder_process recorder(orc, {"-o", first});
    REQUIRE(gate.is_heard());
    REQUIRE(desk.is_heard());
    send_both(gate, desk, count);
    REQUIRE(wait_until([&] { return samples_in(first) == 3 * count; }));
    CHECK(recorder.end() == 0);
  }
  const recorded original = read_recording(first);
  CHECK(original.problems.empty());
  CHECK(original.entries("orc.missed", "topic").empty());
  auto samples = by_publisher(original, "stop");
  REQUIRE(samples.size() == 2);
  check_numbered(samples["gate"], "gate ", count);
  check_numbered(samples["desk"], "desk ", 2 * count);
  std::set<std::string> publications;
  for (const auto& [name, type] : {std::pair("gate", "Gate"), std::pair("desk", "Desk")}) {
    const recording::channel& channel = original.channels.at(samples[name].front().channel);
    CHECK(channel.type == json_type(type));
    CHECK(channel.metadata.at("orc.shared") == "true");
    publications.insert(channel.metadata.at("orc.publication"));
  }
  CHECK(publications.size() == 2);

  const auto info = orc.run("$orc log info --json " + first);
  CHECK_THAT(info.out, contains("\"shared_by\":2"));
  CHECK_THAT(info.out, contains("\"lost\":0"));
  CHECK_THAT(orc.run("$orc log info " + first).out, contains("SHARED BY"));

  // The player is two publishers with these names and types.
  recorder_process again(orc, {"stop", "-o", second});
  child_process player = orc.start({"play", first, "--wait-for-subscribers"});
  CHECK(player.wait_for_end() == 0);
  REQUIRE(wait_until([&] { return samples_in(second) == 3 * count; }));
  CHECK(again.end() == 0);
  const recorded copy = read_recording(second);
  samples = by_publisher(copy, "stop");
  REQUIRE(samples.size() == 2);
  check_numbered(samples["gate"], "gate ", count);
  check_numbered(samples["desk"], "desk ", 2 * count);
  CHECK(copy.channels.at(samples["desk"].front().channel).type == json_type("Desk"));
}

TEST_CASE("orc record gives a publisher of a shared topic that is killed and comes back a new channel") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  panel gate(broker, "gate");
  recorder_process recorder(orc, {"-o", file});
  REQUIRE(gate.is_heard());
  for (const std::string& text : {std::string("before"), std::string("after")}) {
    test_node node;
    node.must("open " + broker.endpoint());
    node.must("share stop ipc");
    gate.send(text);
    node.must("send stop 1 100");
    REQUIRE(wait_until([&] { return samples_in(file) == (text == "before" ? 2u : 4u); }));
    node.process().send_signal(SIGKILL);
    CHECK(node.process().wait_for_end() != 0);
  }
  CHECK(recorder.end() == 0);
  const recorded found = read_recording(file);
  std::map<recording::channel_id, std::size_t> counts;
  for (const auto& each : found.of("stop")) ++counts[each.channel];
  CHECK(counts.size() == 3);
  std::vector<std::size_t> sizes;
  for (const auto& [channel, n] : counts) sizes.push_back(n);
  std::sort(sizes.begin(), sizes.end());
  CHECK(sizes == std::vector<std::size_t>{1, 1, 2});
  CHECK(found.entries("orc.missed", "topic").empty());
}

TEST_CASE("each split of orc record begins with the last sample of each publisher that shares a topic") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "splits");
  panel gate(broker, "gate");
  auto desk = std::make_unique<panel>(broker, "desk");
  source stream(broker, "stream");
  recorder_process recorder(orc, {"-o", directory + "/run.mcap", "--split", "100kB"});
  REQUIRE(gate.is_heard());
  REQUIRE(desk->is_heard());
  REQUIRE(stream.is_heard());
  gate.send("open");
  desk->send("free");
  const std::string text(1'000, 'x');
  const auto fill_until = [&](std::size_t files) {
    return wait_until([&] {
      for (int i = 0; i < 10; ++i) stream.send(text);
      return files_in(directory).size() >= files;
    });
  };
  REQUIRE(fill_until(3));
  desk.reset();
  // The recorder has heard of it when the broker has: both ask it.
  orc::directory asked({.broker = broker.endpoint()});
  REQUIRE(wait_until([&] {
    topic_state state;
    return asked.describe("stop", state) && state.publication && state.others.empty();
  }));
  const std::size_t then = files_in(directory).size();
  REQUIRE(fill_until(then + 30));
  CHECK(recorder.end() == 0);

  const auto files = files_in(directory);
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    INFO(files[i]);
    auto found = by_publisher(read_recording(files[i]), "stop");
    REQUIRE(found["gate"].size() == 1);
    REQUIRE(found["desk"].size() == 1);
    CHECK(found["gate"].front().data == "open");
    CHECK(found["desk"].front().data == "free");
  }
  auto last = by_publisher(read_recording(files.back()), "stop");
  CHECK(last["gate"].size() == 1);
  CHECK(last["desk"].empty());

  // Read as one, each comes once.
  std::string words;
  for (const std::string& each : files) words += " " + each;
  const auto merged = orc.run("$orc log merge" + words + " -o " + broker.directory().file("merged.mcap"));
  INFO(merged.err);
  REQUIRE(merged.exit_code == 0);
  CHECK(read_recording(broker.directory().file("merged.mcap")).of("stop").size() == 2);
}

TEST_CASE("the black box of orc record has the last sample of each publisher that shares a topic") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "box");
  panel gate(broker, "gate");
  panel desk(broker, "desk");
  source stream(broker, "stream");
  recorder_process recorder(orc, {"--last", "1s", "-o", directory + "/box.mcap"});
  REQUIRE(gate.is_heard());
  REQUIRE(desk.is_heard());
  REQUIRE(stream.is_heard());
  gate.send("open");
  desk.send("free");
  stream.send("first");
  // Until the first samples are older than a second.
  const bool expired = wait_until([&] {
    stream.send("next");
    if (orc.run("$orc record --trigger").exit_code != 0) return false;
    const recorded found = read_recording(files_in(directory).back());
    return found.of("stop").size() == 2 && !found.of("stream").empty() && found.of("stream").front().data == "next" &&
           found.of("stop").front().received_ns >= found.of("stream").front().received_ns - 1'500'000'000;
  });
  CHECK(expired);
  CHECK(recorder.end() == 0);
  auto last = by_publisher(read_recording(files_in(directory).back()), "stop");
  REQUIRE(last["gate"].size() == 1);
  REQUIRE(last["desk"].size() == 1);
  CHECK(last["gate"].front().data == "open");
  CHECK(last["desk"].front().data == "free");
}
