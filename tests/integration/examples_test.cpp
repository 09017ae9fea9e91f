// The examples of liborc/examples, as the processes that they are: samples flow, and Ctrl-C ends each with 0.
#include <signal.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "base/files/temporary_directory.h"
#include "liborc/examples/image.h"
#include "liborc/examples/joint.h"
#include "orc.h"
#include "orc/parameters.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

child_process example(const broker_process& broker, const std::string& name, std::vector<std::string> words = {}) {
  words.insert(words.begin(), program("orc_example_" + name));
  return child_process(std::move(words),
                       {"ORC_BROKER=" + broker.endpoint(), "XDG_RUNTIME_DIR=" + broker.directory().path().string()});
}

int interrupted(child_process& running) {
  running.send_signal(SIGINT);
  return running.wait_for_end();
}

// From the next line that matches: its first group, or what matched. Lines before it are dropped.
std::optional<std::string> find_line(child_process& running, const char* wanted) {
  const std::regex pattern(wanted);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    const auto line = running.read_line();
    if (!line) break;
    if (std::smatch match; std::regex_search(*line, match, pattern)) return match.str(match.size() > 1 ? 1 : 0);
  }
  return {};
}

template <class Sample>
[[nodiscard]] bool send(orc::publisher& topic, const Sample& sample) {
  return static_cast<bool>(topic.send(&sample, sizeof sample));
}

}  // namespace

TEST_CASE("examples: the subscriber shows the newest state of the publisher") {
  const broker_process broker;
  child_process publisher = example(broker, "publisher");
  child_process subscriber = example(broker, "subscriber");
  // Ten lines a second of a thousand samples: a line that skipped none would be a queue.
  REQUIRE(find_line(subscriber, R"(^[+-]\d\.\d{3} rad +[+-]\d\.\d{3} rad/s +\d+ us old +skipped [1-9])"));

  child_process second = example(broker, "publisher");
  CHECK(second.wait_for_end() == EXIT_FAILURE);
  CHECK_THAT(second.output(), contains("robot/state: "));

  CHECK(interrupted(subscriber) == 0);
  CHECK(interrupted(publisher) == 0);
}

TEST_CASE("examples: the gain of the tuned controller is set from outside") {
  const broker_process broker;
  child_process controller = example(broker, "tuned_controller");
  REQUIRE(find_line(controller, "^force 0.1 N"));
  orc::participant remote(broker.options("operator"));
  orc::directory directory({.broker = broker.endpoint()});
  orc::parameter_value value = 2.5;
  CHECK(orc::set_parameter(remote, directory, "controller/gain", patience, value));
  CHECK(find_line(controller, "^force 0.25 N"));
  value = "follow";
  CHECK(orc::set_parameter(remote, directory, "controller/mode", patience, value));
  CHECK(find_line(controller, "^mode follow"));
  child_process second = example(broker, "tuned_controller");
  CHECK(second.wait_for_end() == EXIT_FAILURE);
  CHECK_THAT(second.output(), contains("tuned_controller: "));
  CHECK(interrupted(controller) == 0);
}

TEST_CASE("examples: publisher and subscriber may start before the broker") {
  broker_process broker(broker_process::at::nowhere);
  child_process publisher = example(broker, "publisher");
  child_process subscriber = example(broker, "subscriber");
  REQUIRE(find_line(publisher, "^robot/state: .*broker"));
  REQUIRE(find_line(subscriber, "^robot/state: .*broker"));
  broker.start();
  CHECK(find_line(subscriber, " rad/s "));
  CHECK(interrupted(subscriber) == 0);
  CHECK(interrupted(publisher) == 0);
}

TEST_CASE("examples: the controller controls while there is a state, and is safe without one") {
  const broker_process broker;
  orc::participant robot(broker.options("robot"));
  REQUIRE(robot.register_topic("robot/state"));
  REQUIRE(robot.request_topic("robot/command"));
  orc::publisher state = robot.publisher("robot/state");
  orc::subscriber command = robot.subscriber("robot/command");
  child_process controller = example(broker, "controller");

  joint_command torque{.torque_nm = 99};
  const auto newest_is = [&](double expected) {
    const orc::message sample = command.recv(10);
    if (sample.size() == sizeof torque) sample.copy_to(&torque, sizeof torque);
    return std::abs(torque.torque_nm - expected) < 1e-9;
  };
  CHECK(wait_until([&] { return newest_is(0); }));
  // It holds the position where it found the joint: what is left is the damping, 2 Nm s/rad against 1.5 rad/s.
  CHECK(wait_until(
      [&] { return send(state, joint_state{.position_rad = 0.5, .velocity_rad_s = 1.5}) && newest_is(-3); }));
  CHECK(controller.wait_for_output("control begins"));
  // The robot falls silent.
  CHECK(wait_until([&] { return newest_is(0); }));
  CHECK(controller.wait_for_output("no state: "));
  // What is no state is no basis for control.
  CHECK(wait_until([&] { return send(state, joint_state{.velocity_rad_s = 1.5}) && newest_is(-3); }));
  CHECK(wait_until([&] { return send(state, 'x') && newest_is(0); }));

  CHECK(interrupted(controller) == 0);
  CHECK(newest_is(0));
}

TEST_CASE("examples: the viewer reads the images of the camera over shm") {
  const broker_process broker;
  child_process camera = example(broker, "camera");
  child_process viewer = example(broker, "camera_viewer");
  const char* const image = R"(^1920x1080  bar at (\d+)  .* over shm$)";
  const auto first = find_line(viewer, image);
  const auto later = find_line(viewer, image);
  REQUIRE(first);
  REQUIRE(later);
  CHECK(*first != *later);
  CHECK(interrupted(viewer) == 0);
  CHECK(interrupted(camera) == 0);
}

TEST_CASE("examples: the viewer survives what is no image") {
  const broker_process broker;
  orc::participant liar(broker.options("liar"));
  REQUIRE(liar.register_topic("camera"));
  orc::publisher camera = liar.publisher("camera");
  child_process viewer = example(broker, "camera_viewer");
  REQUIRE(wait_until([&] { return camera.readers() == 1; }));
  REQUIRE(send(camera, 'x'));
  CHECK(find_line(viewer, "^camera: 1 bytes are no image$"));
  for (const image_header& lie : {image_header{.width = 65'535, .height = 65'535}, image_header{.width = 9}}) {
    REQUIRE(send(camera, lie));
    CHECK(find_line(viewer, "^camera: 4 bytes are no image$"));
  }
  const std::array<unsigned char, image_size({.width = 1, .height = 1})> pixel{1, 0, 1, 0, 255, 255, 255};
  REQUIRE(send(camera, pixel));
  CHECK(find_line(viewer, "^1x1  bar at 0 "));
  CHECK(interrupted(viewer) == 0);
}

TEST_CASE("examples: the recorder writes every sample in order and counts those that it missed") {
  const broker_process broker;
  const orc::detail::temporary_directory directory;
  const std::string path = directory.file("numbers.rec");
  orc::participant node(broker.options());
  REQUIRE(node.register_topic("numbers"));
  orc::publisher numbers = node.publisher("numbers");
  child_process recorder = example(broker, "recorder", {"numbers", path});
  REQUIRE(wait_until([&] { return numbers.readers() == 1; }));
  std::uint64_t sent = 0;
  // It writes through a buffer: what is in the file has been received.
  REQUIRE(wait_until([&] { return send(numbers, ++sent) && std::filesystem::file_size(path) > 10'000; }));
  recorder.send_signal(SIGINT);
  const std::string said = recorder.read_all();
  CHECK(recorder.wait_for_end() == 0);

  std::ifstream file(path, std::ios::binary);
  struct {
    std::int64_t stamp_ns = 0;
    std::uint64_t size = 0;
    std::uint64_t number = 0;
  } record;
  std::uint64_t recorded = 0;
  std::uint64_t missed = 0;
  for (std::uint64_t last = 0; file.read(reinterpret_cast<char*>(&record), sizeof record); last = record.number) {
    REQUIRE(record.size == sizeof record.number);
    REQUIRE(record.stamp_ns > 0);
    REQUIRE(record.number > last);
    if (last != 0) missed += record.number - last - 1;
    ++recorded;
  }
  CHECK(file.gcount() == 0);
  CHECK(said == "recorded " + std::to_string(recorded) + ", missed " + std::to_string(missed) + "\n");
}

TEST_CASE("examples: the recorder says what it cannot write") {
  const broker_process broker;
  child_process nowhere = example(broker, "recorder", {"numbers", "/nonexistent/file"});
  CHECK(nowhere.wait_for_end() == EXIT_FAILURE);
  CHECK_THAT(nowhere.output(), contains("/nonexistent/file: No such file"));

  orc::participant node(broker.options());
  REQUIRE(node.register_topic("numbers"));
  child_process full = example(broker, "recorder", {"numbers", "/dev/full"});
  REQUIRE(wait_until([&] { return node.publisher("numbers").readers() == 1; }));
  REQUIRE(node.send_msg("numbers", "1", 1));
  REQUIRE(wait_until([&] {
    static_cast<void>(node.send_msg("numbers", "1", 1));
    return !full.running();
  }));
  CHECK(full.wait_for_end() == EXIT_FAILURE);
  CHECK_THAT(full.output(), contains("/dev/full: No space left"));
}

TEST_CASE("examples: the event loop counts samples between its timer's ticks") {
  const broker_process broker;
  child_process publisher = example(broker, "publisher");
  child_process loop = example(broker, "event_loop");
  CHECK(find_line(loop, R"(^[1-9]\d* samples, \d+ skipped$)"));
  CHECK(find_line(loop, R"(^[1-9]\d* samples, \d+ skipped$)"));
  CHECK(interrupted(loop) == 0);
  CHECK(interrupted(publisher) == 0);
}
