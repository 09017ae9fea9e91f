// `orc play`: what subscribers receive of a recording.
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "base/files/temporary_directory.h"
#include "orc/directory.h"
#include "support/orc_tool.h"
#include "support/payload.h"
#include "support/recording_file.h"
#include "support/struct_types.h"

using namespace orc;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

// Receives everything of one topic, in order, over these transports.
class listener {
 public:
  listener(const broker_process& broker, std::string topic, transport_set transports = {},
           const type_description& type = {})
      : topic_(std::move(topic)), node_(broker.options("listener")) {
    request_options all;
    all.conflate = 0;
    all.depth = 10'000;
    all.transports = transports;
    all.type = type;
    REQUIRE(node_.request_topic(topic_, all).result());
  }
  std::string next() {
    const message sample = node_.recv_msg(topic_, patience_ms);
    REQUIRE(sample);
    stamps_.push_back(sample.stamp_ns());
    sequences_.push_back(sample.sequence());
    return {static_cast<const char*>(sample.data()), sample.size()};
  }
  [[nodiscard]] bool is_silent() { return node_.recv_msg(topic_, 0).status() == errc::nothing_new; }
  [[nodiscard]] const std::vector<std::int64_t>& stamps() const { return stamps_; }
  [[nodiscard]] const std::vector<std::uint64_t>& sequences() const { return sequences_; }

 private:
  std::string topic_;
  orc::participant node_;
  std::vector<std::int64_t> stamps_;
  std::vector<std::uint64_t> sequences_;
};

std::string text_of(const bytes& data) { return {reinterpret_cast<const char*>(data.data()), data.size()}; }

// The number that a line of JSON has for this name.
long json_number(const std::string& line, const std::string& name) {
  const std::size_t at = line.find('"' + name + "\":");
  REQUIRE(at != std::string::npos);
  return std::stol(line.substr(at + name.size() + 3));
}

std::string numbered(int i) { return "sample " + std::to_string(i); }

// "numbers": sample i at 10 ms * i.
void write_numbers(const std::string& path, int count, const std::string& topic = "numbers", double from_ms = 0) {
  recording_file file(path);
  for (int i = 0; i < count; ++i) file.sample(topic, from_ms + 10.0 * i, numbered(i));
  file.close();
}

}  // namespace

TEST_CASE("orc play: every sample arrives, in order, equal and with its type, over each transport") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  const type_description type = struct_type("float64");
  std::vector<std::string> sent;
  recording_file file(scratch.file("run.mcap"));
  file.channel("arm/state", type);
  for (const std::size_t size : {10u, 1000u, 100'000u, 1'000'000u, 10'000'000u}) {
    for (std::uint64_t i = 0; i < 3; ++i) {
      sent.push_back(text_of(patterned(size, i)));
      file.sample("arm/state", static_cast<double>(10 * sent.size()), sent.back());
    }
  }
  file.close();
  for (const auto which : {transport::shm, transport::ipc, transport::tcp}) {
    INFO(to_string(which));
    listener heard(broker, "arm/state", {which}, type);
    child_process play = orc.start(
        {"play", scratch.file("run.mcap"), "--wait-for-subscribers", "--transports", std::string(to_string(which))});
    for (const std::string& each : sent) {
      const std::string got = heard.next();  // not in CHECK: 10 MB are no message
      CHECK((got == each));
    }
    CHECK(exit_code_of(play) == 0);
    CHECK(heard.is_silent());
    CHECK(heard.sequences().front() == 1);
    CHECK(heard.sequences().back() == sent.size());
    // A sample is never early. (How late it may be is no matter of tests.)
    const std::int64_t due = static_cast<std::int64_t>(10 * (sent.size() - 1)) * ms_ns;
    CHECK(heard.stamps().back() - heard.stamps().front() > due - 9 * ms_ns);
  }
}

TEST_CASE("orc play: topics have their recorded types before the first sample, and a late joiner gets the last one") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  const type_description type = struct_type("float32");
  recording_file file(scratch.file("run.mcap"));
  file.channel("typed", type).channel("silent", type);
  file.sample("typed", 0, "first").sample("end", 600'000, "never played");
  file.close();
  child_process play = orc.start({"play", scratch.file("run.mcap")});
  listener late(broker, "typed");
  CHECK(late.next() == "first");
  orc::directory directory({.broker = broker.endpoint()});
  for (const char* topic : {"typed", "silent", "end"}) {
    INFO(topic);
    topic_state state;
    REQUIRE(directory.describe(topic, state));
    REQUIRE(state.publication);
    CHECK(state.publication->participant.name == "orc play");
    CHECK(state.publication->type.has_value() == (std::string(topic) != "end"));
    if (state.publication->type) CHECK(state.publication->type->hash == hash_of(type));
  }
  listener later(broker, "typed");
  CHECK(later.next() == "first");
  play.send_signal(SIGINT);
  CHECK(exit_code_of(play) == 130);
}

TEST_CASE("orc play: names are chosen, changed and prefixed") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file file(scratch.file("run.mcap"));
  file.sample("arm/left", 0, "left")
      .sample("arm/right", 0, "right")
      .sample("camera", 0, "image")
      .sample("no name", 0, "x");
  file.close();
  const std::string run = "$orc play " + scratch.file("run.mcap") + " --linger 0 --json";
  const auto topics = [&](const std::string& options) {
    const auto done = orc.run(run + options);
    INFO(done.err);
    CHECK(done.exit_code == 0);
    return json_number(done.out, "topics");
  };
  CHECK(topics("") == 3);
  CHECK(orc.run(run).err.find("orc: leaves out channel 'no name', which is no topic name: rename it with --remap\n") !=
        std::string::npos);
  CHECK(topics(" --remap 'no name:name'") == 4);
  CHECK(topics(" --topics 'arm/*'") == 2);
  CHECK(topics(" --topics 'arm/*,camera' --exclude arm/left") == 2);
  // Options with several values do not take the file that follows.
  CHECK(orc.run("$orc play --linger 0 --topics camera --exclude x --transports ipc --remap a:b " +
                scratch.file("run.mcap"))
            .exit_code == 0);
  const auto none = orc.run(run + " --topics nothing");
  CHECK(none.exit_code == 3);
  CHECK(none.err.find("orc: nothing to play: no topic of the recording is left") == 0);

  listener renamed(broker, "robot2/hand");
  listener prefixed(broker, "robot2/arm/right");
  child_process play = orc.start({"play", scratch.file("run.mcap"), "--topics", "arm/*", "--remap", "arm/left:hand",
                                  "--prefix", "robot2/", "--wait-for-subscribers"});
  CHECK(renamed.next() == "left");
  CHECK(prefixed.next() == "right");
  CHECK(exit_code_of(play) == 0);
}

TEST_CASE("orc play: a name that is taken is an error that names the publisher") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  write_numbers(scratch.file("run.mcap"), 1);
  orc::participant owner(broker.options("owner"));
  REQUIRE(owner.register_topic("numbers"));
  const auto done = orc.run("$orc play " + scratch.file("run.mcap"));
  CHECK(done.exit_code == 1);
  CHECK(done.err == "orc: cannot publish 'numbers': topic \"numbers\" is published by owner (pid " +
                        std::to_string(::getpid()) + ")\n");
}

TEST_CASE("orc play: several files are merged by time, and what a split repeats comes once") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file first(scratch.file("a.mcap"));
  first.sample("numbers", 0, numbered(0)).sample("numbers", 20, numbered(2)).sample("numbers", 30, numbered(3), 3);
  first.close();
  recording_file second(scratch.file("b.mcap"));
  second.sample("other", 10, "other");
  second.close();
  // As a recorder begins a split: the last sample again, with its number and stamp, received when the split begins.
  std::unique_ptr<recording::writer> writer;
  REQUIRE(recording::create_mcap(scratch.file("c.mcap"), {}, writer));
  recording::channel_id id = 0;
  recording::channel numbers;
  numbers.topic = "numbers";
  REQUIRE(writer->add_channel(numbers, id));
  const std::string repeated = numbered(3);
  recording::sample again;
  again.channel = id;
  again.sequence = 3;
  again.received_ns = recorded_at_ns + 35 * ms_ns;
  again.stamp_ns = recorded_at_ns + 29 * ms_ns;
  again.data = std::as_bytes(std::span(repeated));
  REQUIRE(writer->write(again));
  const std::string last = numbered(4);
  again = {id, 4, recorded_at_ns + 40 * ms_ns, recorded_at_ns + 39 * ms_ns, std::as_bytes(std::span(last))};
  REQUIRE(writer->write(again));
  REQUIRE(writer->close());

  listener heard(broker, "numbers");
  listener other(broker, "other");
  child_process play = orc.start(
      {"play", scratch.file("c.mcap"), scratch.file("b.mcap"), scratch.file("a.mcap"), "--wait-for-subscribers"});
  for (const int i : {0, 2, 3, 4}) CHECK(heard.next() == numbered(i));
  CHECK(other.next() == "other");
  CHECK(exit_code_of(play) == 0);
  CHECK(heard.is_silent());
  CHECK(other.stamps()[0] > heard.stamps()[0]);
  CHECK(other.stamps()[0] < heard.stamps()[1]);
}

TEST_CASE("orc play: a part begins with the last sample of each topic before it") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file file(scratch.file("run.mcap"));
  file.sample("map", 0, "old map").sample("map", 5, "map").sample("later", 500, "later");
  for (int i = 0; i < 100; ++i) file.sample("numbers", 10.0 * i, numbered(i));
  file.close();
  listener numbers(broker, "numbers");
  listener map(broker, "map");
  child_process play = orc.start({"play", scratch.file("run.mcap"), "--start", "0.105", "--end",
                                  "2026-01-02T03:04:05.125Z", "--wait-for-subscribers", "--exclude", "later"});
  CHECK(map.next() == "map");
  for (const int i : {10, 11, 12}) CHECK(numbers.next() == numbered(i));
  CHECK(exit_code_of(play) == 0);
  CHECK(map.is_silent());
  CHECK(numbers.is_silent());

  const std::string run = "$orc play " + scratch.file("run.mcap");
  const auto behind = orc.run(run + " --start 10");
  CHECK(behind.exit_code == 2);
  CHECK(behind.err ==
        "orc: nothing to play: it would start behind the end; the recording lasts from 2026-01-02T03:04:05.000Z to "
        "2026-01-02T03:04:05.990Z, 990.0 ms\n");
  CHECK(orc.run(run + " --start 0.5 --end 0.2").exit_code == 2);
  CHECK(orc.run(run + " --start soon").exit_code == 2);
}

TEST_CASE("orc play: a rate stretches the time, and a loop repeats") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  write_numbers(scratch.file("run.mcap"), 21);
  const auto played_ms = [&](const std::string& options) {
    const auto start = std::chrono::steady_clock::now();
    const auto done = orc.run("$orc play " + scratch.file("run.mcap") + " --linger 0" + options);
    CHECK(done.exit_code == 0);
    return ms_since(start);
  };
  CHECK(played_ms(" --rate 0.2") >= 1000);
  CHECK(played_ms("") >= 200);
  CHECK(orc.run("$orc play " + scratch.file("run.mcap") + " --rate 0.01").exit_code == 2);

  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"play", scratch.file("run.mcap"), "--loop", "0.05..0.08"},
        std::vector<std::string>{"play", "--start", "0.05", "--end", "0.08", "--loop", scratch.file("run.mcap")}}) {
    listener heard(broker, "numbers");
    std::vector<std::string> all = words;
    all.emplace_back("--wait-for-subscribers");
    child_process play = orc.start(all);
    CHECK(heard.next() == numbered(4));  // what was before
    for (int round = 0; round < 3; ++round) {
      for (const int i : {5, 6, 7, 8}) CHECK(heard.next() == numbered(i));
      CHECK(heard.next() == numbered(4));
    }
    // Four rounds of 30 ms have begun, three have ended.
    CHECK(heard.stamps().back() - heard.stamps().front() >= 88 * ms_ns);
    play.send_signal(SIGTERM);
    CHECK(exit_code_of(play) == 0);
  }
  const auto short_loop = orc.run("$orc play " + scratch.file("run.mcap") + " --loop 0.05..0.05");
  CHECK(short_loop.exit_code == 2);
}

TEST_CASE("orc play: a torn file plays up to its last whole chunk") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording::mcap_options options;
  options.chunk_bytes = 1000;
  recording_file file(scratch.file("run.mcap"), options);
  for (int i = 0; i < 200; ++i) file.sample("numbers", i, numbered(i));
  const auto whole_bytes = file_bytes(scratch.file("run.mcap")).size();  // without the chunk that is open
  file.close();
  write_file(scratch.file("torn.mcap"), file_bytes(scratch.file("run.mcap")).substr(0, whole_bytes + 5));
  const std::size_t readable = samples_of(scratch.file("torn.mcap")).size();
  REQUIRE(readable > 100);
  REQUIRE(readable < 200);
  listener heard(broker, "numbers");
  child_process play = orc.start({"play", scratch.file("torn.mcap"), "--wait-for-subscribers"});
  const auto note = play.read_line();
  REQUIRE(note);
  CHECK(note->find("torn.mcap ends within a record: playing the ") != std::string::npos);
  for (std::size_t i = 0; i < readable; ++i) CHECK(heard.next() == numbered(static_cast<int>(i)));
  CHECK(exit_code_of(play) == 0);
  CHECK(heard.is_silent());
}

TEST_CASE("orc play: files that cannot be played are errors that say why") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  const auto error_of = [&](const std::string& words) {
    const auto done = orc.run("$orc play " + words);
    CHECK(done.exit_code == 1);
    CHECK(done.out.empty());
    return done.err;
  };
  CHECK(error_of(scratch.file("missing.mcap")).find("missing.mcap") != std::string::npos);
  write_file(scratch.file("text"), "hello, this is no recording\n");
  CHECK(error_of(scratch.file("text")).find("text") != std::string::npos);
  recording_file(scratch.file("empty.mcap")).close();
  CHECK(error_of(scratch.file("empty.mcap")) ==
        "orc: nothing to play: " + scratch.file("empty.mcap") + " has no samples\n");
  CHECK(orc.run("$orc play").exit_code == 2);
  CHECK(orc.run("$orc play --loop").exit_code == 2);
  write_numbers(scratch.file("run.mcap"), 2);
  CHECK(orc.run("$orc play --paused " + scratch.file("run.mcap") + " < /dev/null").exit_code == 2);
  CHECK(orc.run("$orc play --remap nothing " + scratch.file("run.mcap")).exit_code == 2);
  CHECK(orc.run("$orc play --transports pigeon " + scratch.file("run.mcap")).exit_code == 2);
}

TEST_CASE("orc play: samples of another type are left out, with a remark") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file file(scratch.file("run.mcap"));
  file.channel("state", struct_type("float32", "old.State")).sample("state", 0, "old");
  file.channel("state", struct_type("float64", "new.State")).sample("state", 10, "new");
  file.close();
  const auto done = orc.run("$orc play " + scratch.file("run.mcap"));
  CHECK(done.exit_code == 0);
  CHECK(done.err ==
        "orc: leaves out samples of 'state' with type new.State: the topic is published with type old.State\n");
}

TEST_CASE("orc play: a topic whose type cannot be published stops no other") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  recording_file file(scratch.file("run.mcap"));
  file.channel("incomplete", {"a/msg/B", "ros2msg", "cdr", "NotThere x"}).sample("incomplete", 0, "1");
  file.channel("unnamed", {std::string("a\0b", 3), "struct", "struct", "{}"}).sample("unnamed", 1, "2");
  file.channel("good", struct_type("float64")).sample("good", 2, "3");
  file.sample("end", 600'000, "never played");
  file.close();
  child_process play = orc.start({"play", scratch.file("run.mcap"), "--wait-for-subscribers", "--topic", "incomplete",
                                  "--topic", "unnamed", "--topic", "good"});
  listener incomplete(broker, "incomplete");
  listener unnamed(broker, "unnamed");
  listener good(broker, "good", {}, struct_type("float64"));
  CHECK(good.next() == "3");
  CHECK(incomplete.next() == "1");
  CHECK(unnamed.next() == "2");
  CHECK(exit_code_of(play) == 0);
  const auto again = orc.run("$orc play " + scratch.file("run.mcap") + " --topic incomplete --topic unnamed");
  CHECK(again.exit_code == 0);
  CHECK(again.err ==
        "orc: publishes 'incomplete' without its schema: schema of a/msg/B: line 1: message a/msg/NotThere is not "
        "defined\norc: publishes 'unnamed' without its type, whose name is none that a topic can have\n");
}

TEST_CASE("orc play: --clock publishes the time that plays") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory scratch;
  write_numbers(scratch.file("run.mcap"), 21);
  listener clock(broker, "time");
  child_process play = orc.start({"play", scratch.file("run.mcap"), "--clock", "time", "--rate", "0.5", "--loop"});
  std::int64_t last = 0;
  int jumps = 0;
  while (jumps < 2) {
    const std::string sample = clock.next();
    REQUIRE(sample.size() == 24);
    std::int64_t time_ns = 0;
    double rate = 0;
    std::memcpy(&time_ns, sample.data(), 8);
    std::memcpy(&rate, sample.data() + 8, 8);
    CHECK(rate == 0.5);
    CHECK(sample[16] == 0);  // not paused
    CHECK(time_ns >= recorded_at_ns);
    CHECK(time_ns <= recorded_at_ns + 200 * ms_ns);
    if (time_ns < last) ++jumps;
    last = time_ns;
  }
  const auto decoded = orc.run("$orc topic echo time --once --field rate");
  CHECK(decoded.out == "0.5\n");
  play.send_signal(SIGINT);
  CHECK(exit_code_of(play) == 0);
  const auto taken = orc.run("$orc play " + scratch.file("run.mcap") + " --clock numbers");
  CHECK(taken.exit_code == 1);
  CHECK(taken.err == "orc: the recording has a topic 'numbers' already\n");
}
