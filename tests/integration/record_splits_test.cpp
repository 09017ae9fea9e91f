// `orc record --split`, and the black box.
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/files/unique_fd.h"
#include "support/pseudo_terminal.h"
#include "support/recorded.h"
#include "support/recorder_process.h"

using namespace orc;
using namespace orc::test;

namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<std::string> files_in(const fs::path& directory) {
  std::vector<std::string> found;
  for (const auto& each : fs::directory_iterator(directory))
    if (each.path().extension() == ".mcap") found.push_back(each.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

// A directory for the files of one recording.
std::string new_directory(const broker_process& broker, const std::string& name) {
  fs::create_directory(broker.directory().path() / name);
  return broker.directory().file(name);
}

}  // namespace

TEST_CASE("each split of orc record stands alone: types and last samples are in it") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "splits");
  type_description json;
  json.name = "Map";
  json.schema_encoding = "jsonschema";
  json.message_encoding = "json";
  json.schema = R"({"type":"object"})";
  topic_options typed;
  typed.type = json;
  source map(broker, "map", typed);
  topic_options dangerous;
  dangerous.keep_last = false;
  source command(broker, "command", dangerous);
  source stream(broker, "stream");
  recorder_process recorder(orc, {"-o", directory + "/run.mcap", "--split", "100kB"});
  for (source* each : {&map, &command, &stream}) REQUIRE(each->is_heard());
  map.send("{}");
  command.send("go");
  const std::string text(1'000, 'x');
  for (int i = 0; i < 1'000; ++i) {
    stream.send(std::to_string(i) + " " + text);
    if (i % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(wait_until([&] {
    const auto so_far = files_in(directory);
    std::uint64_t samples = 0;
    for (const auto& each : so_far) samples += samples_in(each);
    return samples >= 1'002 + 2 * (so_far.size() - 1);  // each further file begins with the last ones of two topics
  }));
  CHECK(recorder.end() == 0);

  const auto files = files_in(directory);
  REQUIRE(files.size() >= 8);
  CHECK(files.front() == directory + "/run_0000.mcap");
  CHECK(files[1] == directory + "/run_0001.mcap");
  int next = 0;
  std::size_t commands = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    INFO(files[i]);
    const recorded found = read_recording(files[i]);
    CHECK(found.problems.empty());
    const auto maps = found.of("map");
    REQUIRE(maps.size() == 1);
    CHECK(maps.front().data == "{}");
    CHECK(found.channels.at(maps.front().channel).type == json);
    // In the first file both come over connections of their own.
    if (i > 0) CHECK(maps.front().received_ns <= found.of("stream").front().received_ns);
    commands += found.of("command").size();
    auto samples = found.of("stream");
    // The first is the last one of the file before.
    if (i > 0) {
      REQUIRE(samples.size() >= 2);
      CHECK(std::stoi(samples.front().data) == next - 1);
      samples.erase(samples.begin());
    }
    for (const auto& each : samples) REQUIRE(std::stoi(each.data) == next++);
  }
  CHECK(next == 1'000);
  CHECK(commands == 1);  // an old command is dangerous: no later file starts with it
}

TEST_CASE("orc record splits by time, also while nothing comes, and --max-size deletes the oldest") {
  const broker_process broker;
  const tool orc(broker);
  const std::string by_time = new_directory(broker, "time");
  source topic(broker, "topic");
  {
    recorder_process recorder(orc, {"-o", by_time + "/run.mcap", "--split", "500ms"});
    REQUIRE(topic.is_heard());
    topic.send("one");
    CHECK(wait_until([&] { return files_in(by_time).size() >= 3; }));
    CHECK(recorder.end() == 0);
    for (const auto& each : files_in(by_time)) CHECK(read_recording(each).of("topic").size() == 1);
  }
  const std::string bounded = new_directory(broker, "bounded");
  recorder_process recorder(orc, {"-o", bounded + "/run.mcap", "--split", "50kB", "--max-size", "200kB"});
  REQUIRE(wait_until([&] { return topic.node().publisher("topic").readers() == 1; }));
  for (int i = 0; i < 1'000; ++i) {
    topic.send(std::string(1'000, 'x'));
    if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(recorder.end() == 0);
  const auto files = files_in(bounded);
  REQUIRE(files.size() >= 2);
  CHECK(files.front() != bounded + "/run_0000.mcap");
  std::uintmax_t bytes = 0;
  for (const auto& each : files) bytes += fs::file_size(each);
  CHECK(bytes <= 200'000);
}

TEST_CASE("the black box of orc record writes the last seconds on a signal and on --trigger, and goes on") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "box");
  source latched(broker, "latched");
  source stream(broker, "stream");
  recorder_process recorder(orc, {"--last", "1s", "-o", directory + "/box.mcap"});
  REQUIRE(latched.is_heard());
  REQUIRE(stream.is_heard());
  latched.send("map");
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; ms_since(begun) < 2'500; ++i) {
    stream.send(std::to_string(i));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  CHECK(files_in(directory).empty());
  recorder.process().send_signal(SIGUSR1);
  REQUIRE(recorder.process().wait_for_output("wrote " + directory + "/box.mcap"));
  stream.send("after");
  const auto triggered = orc.run("$orc record --trigger");
  CHECK(triggered.exit_code == 0);
  CHECK(has(triggered.out, "wrote " + directory + "/box_0001.mcap"));
  CHECK(orc.run("$orc record --trigger nothing").exit_code == 1);
  CHECK(orc.run("$orc record --trigger box").exit_code == 0);
  CHECK(orc.run("$orc record --trigger box.mcap").exit_code == 0);
  CHECK(recorder.end() == 0);
  CHECK(orc.run("$orc record --trigger").exit_code == 1);

  const auto files = files_in(directory);
  REQUIRE(files.size() == 4);
  for (const auto& each : files) {
    const recorded found = read_recording(each);
    CHECK(found.summary.closed);
    CHECK(found.problems.empty());
    // From before the last second, but still the last one of its topic.
    REQUIRE(found.of("latched").size() == 1);
    CHECK(found.of("latched").front().data == "map");
    const auto samples = found.of("stream");
    REQUIRE(samples.size() > 10);
    CHECK(samples.back().received_ns - samples.front().received_ns < 1'500'000'000);
    CHECK(std::stoi(samples.front().data) > 0);
  }
  CHECK(read_recording(files[1]).of("stream").back().data == "after");
}

TEST_CASE("a black box that is too busy to be asked is not taken for a dead one") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "box");
  recorder_process busy(orc, {"--last", "1s", "-o", directory + "/busy.mcap"});
  busy.process().send_signal(SIGSTOP);
  std::string socket;
  for (const auto& each : std::filesystem::recursive_directory_iterator(broker.directory().path()))
    if (each.path().extension() == ".trigger") socket = each.path().string();
  REQUIRE_FALSE(socket.empty());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  REQUIRE(socket.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, socket.data(), socket.size());
  std::vector<detail::unique_fd> callers;  // until no further one is let in
  do {
    callers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  } while (::connect(callers.back().get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(errno == EAGAIN);
  recorder_process other(orc, {"--last", "1s", "-o", directory + "/other.mcap"});
  CHECK(std::filesystem::exists(socket));
  CHECK(files_in(directory).empty());
  callers.clear();
  busy.process().send_signal(SIGCONT);
  CHECK(wait_until([&] { return orc.run("$orc record --trigger busy").exit_code == 0; }));
  CHECK(files_in(directory) ==
        std::vector<std::string>{directory + "/busy.mcap"});  // callers that ask nothing get none
}

TEST_CASE("the status line makes room for notes, and the sum of a black box counts all its files") {
  const broker_process broker;
  const std::string directory = new_directory(broker, "box");
  source stream(broker, "stream");
  pseudo_terminal recorder({program("orc"), "record", "--last", "60", "-o", directory + "/box.mcap"},
                           {"ORC_BROKER=" + broker.endpoint()}, 200);
  REQUIRE(recorder.wait_for("orc: recording the last"));
  REQUIRE(stream.is_heard());
  stream.send(std::string(10'000, 'x'));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(recorder.wait_for("1 topic  lost 0"));
    ::kill(recorder.pid(), SIGUSR1);
    REQUIRE(recorder.wait_for("\r\x1b[Korc: wrote "));
  }
  recorder.press("\x03");
  CHECK(recorder.wait_for_end() == 0);
  std::uintmax_t bytes = 0;
  for (const auto& each : files_in(directory)) bytes += fs::file_size(each);
  char size[32];
  std::snprintf(size, sizeof size, "%.1f kB", static_cast<double>(bytes) / 1e3);
  INFO(recorder.shown());
  CHECK(has(recorder.shown(), "kept 1 topic, wrote 2 files: " + std::string(size) + ", 2 samples, lost 0"));
}

TEST_CASE("the black box of orc record says when its buffer is too small") {
  const broker_process broker;
  const tool orc(broker);
  const std::string directory = new_directory(broker, "box");
  source stream(broker, "stream");
  recorder_process recorder(orc, {"--last", "60s", "--buffer", "1MB", "-o", directory + "/box.mcap"});
  REQUIRE(stream.is_heard());
  for (int i = 0; i < 400; ++i) stream.send(std::to_string(i) + std::string(10'000, 'x'));
  recorder.process().send_signal(SIGUSR1);
  REQUIRE(recorder.process().wait_for_output("the buffer is too small"));
  CHECK(recorder.end() == 0);
  const auto samples = read_recording(directory + "/box.mcap").of("stream");
  CHECK(samples.size() > 10);
  CHECK(samples.size() < 200);
  CHECK(std::stoi(samples.back().data) == 399);
}
