// `orc record`: what is in the file, and how it ends.
#include <algorithm>
#include <filesystem>
#include <set>

#include "orc/typed.h"
#include "support/recorded.h"
#include "support/recorder_process.h"
#include "support/test_group.h"

namespace robot {

struct pose {
  double x;
  double y;
};
ORC_DESCRIBE(pose, x, y)

}  // namespace robot

using namespace orc;
using namespace orc::test;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

topic_options over(orc::transport way) {
  topic_options options;
  options.transports = {way};
  return options;
}

std::vector<std::string> numbered(int count, const std::string& prefix = "sample ") {
  std::vector<std::string> all;
  for (int i = 1; i <= count; ++i) all.push_back(prefix + std::to_string(i));
  return all;
}

std::vector<std::string> data_of(const std::vector<recorded_sample>& samples) {
  std::vector<std::string> all;
  all.reserve(samples.size());
  for (const auto& each : samples) all.push_back(each.data);
  return all;
}

}  // namespace

TEST_CASE("orc record writes every sample in order, over each transport") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  constexpr int count = 500;
  source by_ipc(broker, "by/ipc", over(transport::ipc));
  source by_tcp(broker, "by/tcp", over(transport::tcp));
  source by_shm(broker, "by/shm", over(transport::shm));
  topic_options group = over(transport::multicast);
  group.multicast = test_group();
  source by_multicast(broker, "by/multicast", group);
  recorder_process recorder(orc, {"-o", file});
  for (source* each : {&by_ipc, &by_tcp, &by_shm, &by_multicast}) REQUIRE(each->is_heard());
  const std::int64_t before = std::chrono::system_clock::now().time_since_epoch().count();
  for (source* each : {&by_ipc, &by_tcp, &by_shm, &by_multicast}) each->send_many(count);
  CHECK(wait_until([&] { return samples_in(file) == 4 * count; }));
  CHECK(recorder.end() == 0);

  const recorded found = read_recording(file);
  CHECK(found.summary.closed);
  CHECK(found.problems.empty());
  for (const std::string topic : {"by/ipc", "by/tcp", "by/shm", "by/multicast"}) {
    INFO(topic);
    const auto samples = found.of(topic);
    CHECK(data_of(samples) == numbered(count));
    for (std::size_t i = 1; i < samples.size(); ++i) {
      REQUIRE(samples[i].sequence == samples[i - 1].sequence + 1);
      REQUIRE(samples[i].stamp_ns >= samples[i - 1].stamp_ns);
      REQUIRE(samples[i].received_ns >= samples[i - 1].received_ns);
    }
    REQUIRE_FALSE(samples.empty());
    CHECK(samples.front().stamp_ns >= before);
    CHECK(samples.front().received_ns >= samples.front().stamp_ns);
  }
}

TEST_CASE("orc record writes the types of the topics, and the publisher") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  orc::participant node(broker.options("arm"));
  auto typed = node.register_topic<robot::pose>("arm/pose");
  REQUIRE(typed);
  REQUIRE(typed.send({1, 2}));
  source untyped(broker, "arm/text");
  untyped.send("hello");
  recorder_process recorder(orc, {"-o", file});
  REQUIRE(wait_until([&] { return node.publisher("arm/pose").readers() == 1; }));
  REQUIRE(untyped.is_heard());
  REQUIRE(typed.send({3, 4}));
  CHECK(recorder.end() == 0);

  const recorded found = read_recording(file);
  const auto poses = found.of("arm/pose");
  REQUIRE(poses.size() == 2);  // also the last one from before the recorder came
  const recording::channel& channel = found.channels.at(poses.front().channel);
  CHECK(channel.type == type_traits<robot::pose>::describe());
  CHECK(channel.metadata.at("orc.publisher") == "arm");
  const auto texts = found.of("arm/text");
  REQUIRE(texts.size() == 1);
  CHECK(found.channels.at(texts.front().channel).type.empty());
}

TEST_CASE("orc record records what its patterns name, also what appears later") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  recorder_process recorder(orc, {"arm/*", "camera", "-o", file});
  source left(broker, "arm/left");
  source deep(broker, "arm/left/joint");
  source camera(broker, "camera");
  for (source* each : {&left, &camera}) {
    REQUIRE(each->is_heard());
    each->send("seen");
  }
  deep.send("unseen");
  CHECK(recorder.end() == 0);
  const recorded found = read_recording(file);
  CHECK(data_of(found.of("arm/left")) == std::vector<std::string>{"seen"});
  CHECK(data_of(found.of("camera")) == std::vector<std::string>{"seen"});
  CHECK(found.of("arm/left/joint").empty());
}

TEST_CASE("orc record gives a publisher that restarts with another type a new channel") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  recorder_process recorder(orc, {"-o", file});
  {
    source first(broker, "arm");
    REQUIRE(first.is_heard());
    first.send_many(3, "first ");
  }
  type_description json;
  json.name = "Arm";
  json.schema_encoding = "jsonschema";
  json.message_encoding = "json";
  json.schema = R"({"type":"object"})";
  topic_options typed;
  typed.type = json;
  {
    source second(broker, "arm", typed);
    REQUIRE(second.is_heard());
    second.send_many(5, "second ");
    // The broker forgets the type with the publisher.
    CHECK(wait_until([&] { return samples_in(file) == 8; }));
  }
  CHECK(recorder.end() == 0);

  const recorded found = read_recording(file);
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (const auto& each : found.of("arm")) {
    const auto& type = found.channels.at(each.channel).type;
    CHECK((type == json) == has(each.data, "second"));
    CHECK((type.empty()) == has(each.data, "first"));
    (has(each.data, "first") ? first : second).push_back(each.data);
  }
  CHECK(first == numbered(3, "first "));
  CHECK(second == numbered(5, "second "));
}

TEST_CASE("orc record finds the types of samples that were sent right before it ends") {
  const broker_process broker;
  const tool orc(broker);
  type_description json;
  json.name = "Arm";
  json.schema_encoding = "jsonschema";
  json.message_encoding = "json";
  json.schema = R"({"type":"object"})";
  topic_options typed;
  typed.type = json;
  for (int i = 0; i < 5; ++i) {
    const std::string file = broker.directory().file("run" + std::to_string(i) + ".mcap");
    recorder_process recorder(orc, {"-o", file});
    source arm(broker, "arm" + std::to_string(i), typed);
    REQUIRE(arm.is_heard());
    arm.send("{}");
    CHECK(recorder.end() == 0);
    const recorded found = read_recording(file);
    const auto samples = found.of("arm" + std::to_string(i));
    REQUIRE(samples.size() == 1);
    CHECK(found.channels.at(samples.front().channel).type == json);
  }
}

TEST_CASE("orc record goes on while the broker restarts") {
  broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  source old(broker, "old");
  recorder_process recorder(orc, {"-o", file});
  REQUIRE(old.is_heard());
  old.send("one");
  broker.kill();
  old.send("two");
  broker.start();
  old.send("three");
  source late(broker, "late");
  REQUIRE(late.is_heard());
  late.send("four");
  old.send("five");
  CHECK(recorder.end() == 0);
  const recorded found = read_recording(file);
  CHECK(data_of(found.of("old")) == std::vector<std::string>{"one", "two", "three", "five"});
  CHECK(data_of(found.of("late")) == std::vector<std::string>{"four"});
  std::set<recording::channel_id> channels;
  for (const auto& each : found.of("old")) channels.insert(each.channel);
  CHECK(channels.size() == 1);
}

TEST_CASE("orc record closes its file on each signal that ends programs") {
  const broker_process broker;
  const tool orc(broker);
  source sender(broker, "topic");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    INFO(signal);
    const std::string file = broker.directory().file("run" + std::to_string(signal) + ".mcap");
    recorder_process recorder(orc, {"-o", file});
    REQUIRE(sender.is_heard());
    sender.send_many(10);
    CHECK(recorder.end(signal) == 0);
    const recorded found = read_recording(file);
    CHECK(found.summary.closed);
    CHECK(found.of("topic").size() >= 10);
    REQUIRE(wait_until([&] { return sender.node().publisher("topic").readers() == 0; }));
  }
}

TEST_CASE("orc record closes its file while signals keep coming") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  source sender(broker, "topic");
  recorder_process recorder(orc, {"-o", file});
  REQUIRE(sender.is_heard());
  sender.send_many(10);
  CHECK(recorder.process().end_by({SIGTERM, SIGHUP, SIGCONT}) == 0);
  const recorded found = read_recording(file);
  CHECK(found.summary.closed);
  CHECK(found.of("topic").size() >= 10);
}

TEST_CASE("orc record ends by itself after --duration, and says what it has") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  source sender(broker, "topic");
  sender.send("text");
  const auto done = orc.run("$orc record --duration 1s -o " + file);
  CHECK(done.exit_code == 0);
  CHECK(done.out.empty());
  CHECK(has(done.err, "1 samples of 1 topic, lost 0: " + file));
  CHECK(read_recording(file).samples.size() == 1);
}

TEST_CASE("orc record does not overwrite a file unless it is told to") {
  const broker_process broker;
  const tool orc(broker);
  const std::string file = broker.directory().file("run.mcap");
  std::ofstream(file) << "precious";
  const auto refused = orc.run("$orc record --duration 1s -o " + file);
  CHECK(refused.exit_code == 2);
  CHECK(has(refused.err, file));
  CHECK(has(refused.err, "--force"));
  CHECK(std::filesystem::file_size(file) == 8);
  CHECK(orc.run("$orc record --duration 100ms --force -o " + file).exit_code == 0);
  CHECK(read_recording(file).summary.closed);
}

TEST_CASE("orc record --force replaces a symbolic link, and writes nothing through it") {
  const broker_process broker;
  const tool orc(broker);
  const std::string target = broker.directory().file("target");
  const std::string link = broker.directory().file("run.mcap");
  std::ofstream(target) << "precious";
  std::filesystem::create_symlink(target, link);
  CHECK(orc.run("$orc record --duration 100ms -o " + link).exit_code == 2);
  CHECK(std::filesystem::is_symlink(link));
  CHECK(orc.run("$orc record --duration 100ms --force -o " + link).exit_code == 0);
  CHECK(std::filesystem::file_size(target) == 8);
  CHECK_FALSE(std::filesystem::is_symlink(link));
  CHECK(read_recording(link).summary.closed);
  const std::string directory = broker.directory().file("directory.mcap");
  std::filesystem::create_directory(directory);
  CHECK(orc.run("$orc record --duration 100ms --force -o " + directory).exit_code == 2);
}

TEST_CASE("orc record takes durations in one notation") {
  const broker_process broker;
  const tool orc(broker);
  for (const char* duration : {"0.1", "0.1s", "100ms"}) {
    INFO(duration);
    const std::string file = broker.directory().file(std::string(duration) + ".mcap");
    const auto done = orc.run("$orc record --duration " + std::string(duration) + " --split 10,1MB -o " + file);
    CHECK(done.exit_code == 0);
  }
  CHECK(orc.run("$orc record --last 10 --duration 1 -o " + broker.directory().file("box.mcap")).exit_code == 0);
  CHECK(orc.run("$orc record --split 10,20 -o " + broker.directory().file("x.mcap")).exit_code == 2);
}

TEST_CASE("orc record refuses wrong words") {
  const broker_process broker;
  const tool orc(broker);
  for (const char* words :
       {"--split 1XB", "--split 1GB,2GB", "--split 0", "--buffer -1", "--last never", "'a b'", "--last 10s --split 1GB",
        "--max-size 1GB", "--split 1GB --max-size 1500MB", "--compression bzip2", "--name x"}) {
    INFO(words);
    const auto refused = orc.run(std::string("$orc record -o /nowhere/x ") + words);
    CHECK(refused.exit_code == 2);
    CHECK_FALSE(refused.err.empty());
  }
}

TEST_CASE("PyPI mcap reads what orc record writes, by index and in order") {
  const broker_process broker;
  const tool orc(broker);
  const std::string python = "$ORC_SOURCE_DIR/build/lcm-venv/bin/python";
  if (orc.run(python + " -c 'import mcap'").exit_code != 0) return skip("no mcap of PyPI here: tools/dev setup");
  orc::participant node(broker.options("arm"));
  auto typed = node.register_topic<robot::pose>("arm/pose");
  REQUIRE(typed);
  for (const std::string compression : {"none", "lz4", "zstd"}) {
    INFO(compression);
    const std::string file = broker.directory().file(compression + ".mcap");
    recorder_process recorder(orc, {"arm/*", "-o", file, "--compression", compression});
    REQUIRE(wait_until([&] { return node.publisher("arm/pose").readers() == 1; }));
    for (int i = 0; i < 1'000; ++i) REQUIRE(typed.send({double(i), 0}));
    CHECK(wait_until([&] { return samples_in(file) >= 1'000; }));
    CHECK(recorder.end() == 0);
    const std::string script = broker.directory().file("read.py");
    std::ofstream(script)
        << "import struct, sys\n"
           "from mcap.reader import make_reader\n"
           "with open(sys.argv[1], 'rb') as file:\n"
           "    reader = make_reader(file, validate_crcs=True)\n"
           "    all = list(reader.iter_messages(topics=['arm/pose']))[-1000:]\n"
           "    assert [struct.unpack('<dd', m.data)[0] for s, c, m in all] == list(range(1000))\n"
           "    assert all[0][0].name == 'robot::pose' or all[0][0].name == 'robot.pose', all[0][0].name\n"
           "    assert all[0][0].encoding == 'struct'\n"
           "    assert reader.get_summary().statistics.message_count >= 1000\n"
           "    print([m.name for m in reader.iter_metadata()])\n";
    const auto read = orc.run(python + " " + script + " " + file);
    INFO(read.err);
    CHECK(read.exit_code == 0);
    CHECK(has(read.out, "orc.recording"));
    REQUIRE(wait_until([&] { return node.publisher("arm/pose").readers() == 0; }));
  }
}
