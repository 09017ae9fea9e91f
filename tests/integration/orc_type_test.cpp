// `orc type`, and typed samples in `orc topic echo` and `orc topic pub`.
#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>

#include "orc/typed.h"
#include "support/orc_tool.h"

namespace robot {

enum class mode : std::uint8_t { idle, moving };

struct state {
  double q[3];
  std::uint16_t pixels[40];
  enum mode mode;
  char name[8];
};
ORC_DESCRIBE_ENUM(mode, idle, moving)
ORC_DESCRIBE(state, q, pixels, mode, name)

struct command {
  float q[3];
};
ORC_DESCRIBE(command, q)

}  // namespace robot

using namespace orc;
using namespace orc::test;

namespace {

robot::state moving() {
  robot::state state{{0.5, -1, 2}, {}, robot::mode::moving, "left"};
  for (std::uint16_t i = 0; i < 40; ++i) state.pixels[i] = i;
  return state;
}

// A typed topic with one sample.
struct published {
  explicit published(const broker_process& broker) : node(broker.options()) {
    auto to = node.register_topic<robot::state>("arm/state");
    REQUIRE(to);
    REQUIRE(to.send(moving()));
  }
  orc::participant node;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("orc topic echo shows the fields of a typed topic, and folds long arrays") {
  const broker_process broker;
  const tool orc(broker);
  const published arm(broker);
  const auto shown = orc.run("$orc topic echo arm/state --once");
  INFO(shown.out << shown.err);
  CHECK(shown.exit_code == 0);
  CHECK(std::regex_search(shown.out, std::regex("^seq=1 age_us=[0-9.]+ size=[0-9]+ missed=0\n")));
  CHECK(has(shown.out, "q: [0.5, -1, 2]\n"));
  CHECK(has(shown.out, "13, 14, 15, … 24 more]\n"));
  CHECK(has(shown.out, "mode: moving (1)\n"));
  CHECK(has(shown.out, "name: \"left\"\n"));
  CHECK(has(orc.run("$orc topic echo arm/state --once --full").out, "38, 39]\n"));
  CHECK(has(orc.run("$orc topic echo arm/state --once --hex").out, " hex=000000000000e03f"));

  const auto json = orc.run("$orc topic echo arm/state --once --json");
  INFO(json.out << json.err);
  CHECK(is_json(orc, json.out));
  CHECK(has(json.out, R"("type":"robot.state")"));
  CHECK(has(json.out, R"("value":{"q":[0.5,-1.0,2.0],"pixels":[0,1,2,)"));
  CHECK(has(json.out, R"("mode":"moving","name":"left"}})"));
}

TEST_CASE("orc topic echo --field shows values alone, and refuses a field that there is not") {
  const broker_process broker;
  const tool orc(broker);
  const published arm(broker);
  CHECK(orc.run("$orc topic echo arm/state --once --field q[2]").out == "2.0\n");
  CHECK(orc.run("$orc topic echo arm/state --once --field mode --field q[1]").out == "mode=\"moving\" q[1]=-1.0\n");
  const auto json = orc.run("$orc topic echo arm/state --once --field q[0] --json");
  CHECK(is_json(orc, json.out));
  CHECK(has(json.out, R"("fields":{"q[0]":0.5})"));
  const auto wrong = orc.run("$orc topic echo arm/state --once --field speed");
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "speed"));
  CHECK(has(wrong.err, "pixels"));
}

TEST_CASE("orc topic echo follows a publisher that restarts with another type") {
  const broker_process broker;
  const tool orc(broker);
  auto first = std::make_unique<published>(broker);
  child_process echo = orc.start({"topic", "echo", "arm/state", "--field", "q[0]", "-n", "2"});
  CHECK(echo.read_line() == "0.5");
  first.reset();
  orc::participant node(broker.options());
  auto to = node.register_topic<robot::command>("arm/state");
  REQUIRE(to);
  REQUIRE(to.send(robot::command{{7.5F, 0, 0}}));
  CHECK(echo.read_line() == "7.5");
  CHECK(exit_code_of(echo) == 0);
}

TEST_CASE("orc topic pub makes samples of another topic's type from JSON") {
  const broker_process broker;
  const tool orc(broker);
  const published arm(broker);
  orc::participant node(broker.options());
  auto from = node.request_topic<robot::state>("arm/cmd");
  REQUIRE(from);
  const auto sent = orc.run(R"($orc topic pub arm/cmd --like arm/state '{"q":[1,2,3],"mode":"moving"}')");
  INFO(sent.out << sent.err);
  CHECK(sent.exit_code == 0);
  const auto got = from.recv(5'000);
  REQUIRE(got);
  CHECK(got->q[2] == 3);
  CHECK(got->mode == robot::mode::moving);
  CHECK(got->pixels[1] == 0);

  const auto wrong = orc.run(R"($orc topic pub arm/cmd --like arm/state '{"q":[1,2]}')");
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "q"));
  CHECK(orc.run("$orc topic pub arm/cmd --like arm/absent '{}'").exit_code == 3);
}

TEST_CASE("orc type lists, shows and compares the types of topics and files") {
  const broker_process broker;
  const tool orc(broker);
  const published arm(broker);
  orc::participant node(broker.options());
  REQUIRE(node.register_topic<robot::command>("arm/cmd"));
  const auto list = orc.run("$orc type list");
  INFO(list.out << list.err);
  CHECK(std::regex_search(list.out, std::regex("robot.state +struct +[0-9]+ B +0x[0-9a-f]{16} +arm/state\n")));
  CHECK(has(list.out, "robot.command"));
  CHECK(is_json(orc, orc.run("$orc type list --json").out));

  const auto show = orc.run("$orc type show arm/state");
  INFO(show.out << show.err);
  CHECK(has(show.out, "robot.state"));
  CHECK(has(show.out, "float64[3]"));
  CHECK(has(orc.run("$orc type show arm/state --schema").out, R"({"byte_order":"little",)"));
  CHECK(orc.run("$orc type show arm/absent").exit_code == 3);

  CHECK(orc.run("$orc type diff arm/state arm/state").exit_code == 0);
  const auto diff = orc.run("$orc type diff arm/state arm/cmd");
  CHECK(diff.exit_code == 1);
  CHECK(has(diff.out, "robot.state"));
  CHECK(has(diff.out, "robot.command"));
  const auto info = orc.run("$orc topic info arm/state");
  CHECK(std::regex_search(info.out, std::regex("type +robot.state \\(struct, hash 0x[0-9a-f]{16}\\)\n")));
}

TEST_CASE("orc type reads files of types") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory place;
  std::ofstream(place.file("types.lcm")) << "package demo; struct pose_t { double x; } struct path_t { int32_t n; "
                                            "pose_t poses[n]; }\n";
  std::ofstream(place.file("state.fbs")) << "namespace demo; table State { x:double; } root_type State;\n";
  std::ofstream(place.file("state.proto")) << "syntax = \"proto3\"; package demo; message State { double x = 1; }\n";
  std::ofstream(place.file("Pose.msg")) << "float64 x  # metres\n";
  const auto in = [&](const std::string& file) { return place.file(file); };

  const auto hash = orc.run("$orc type hash " + in("types.lcm:path_t"));
  INFO(hash.out << hash.err);
  CHECK(std::regex_match(hash.out, std::regex("0x[0-9a-f]{16}  demo.path_t  fingerprint 0x[0-9a-f]{16}\n")));
  const auto several = orc.run("$orc type hash " + in("types.lcm"));
  CHECK(several.exit_code == 2);
  CHECK(has(several.err, "demo.pose_t, demo.path_t"));
  for (const std::string& each : {in("state.fbs"), in("state.proto"), in("Pose.msg:demo/msg/Pose")}) {
    const auto shown = orc.run("$orc type show " + each);
    INFO(each << "\n" << shown.out << shown.err);
    CHECK(shown.exit_code == 0);
    CHECK(has(shown.out, "x"));
    const auto sent = orc.run("$orc topic pub typed --wait 0 --type " + each + R"( '{"x": 1.5}')");
    INFO(sent.err);
    CHECK(sent.exit_code == 0);
  }
  CHECK(orc.run("$orc type hash " + in("absent.lcm:x")).exit_code == 2);
}

TEST_CASE("orc topic echo decodes what publishers declared in each encoding") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory place;
  std::ofstream(place.file("types.lcm")) << "package demo; struct pose_t { double x; string name; }\n";
  std::ofstream(place.file("state.fbs"))
      << "namespace demo; table pose_t { x:double; name:string; } root_type pose_t;\n";
  std::ofstream(place.file("state.proto"))
      << "syntax = \"proto3\"; package demo; message pose_t { double x = 1; string name = 2; }\n";
  std::ofstream(place.file("Pose.msg")) << "float64 x\nstring name\n";
  for (const std::string file : {"types.lcm", "state.fbs", "state.proto", "Pose.msg:demo/msg/Pose"}) {
    child_process pub = orc.start({"topic", "pub", "typed", "--type", place.file(file), "-r", "20", "--wait", "0",
                                   R"({"x": 1.5, "name": "left"})"});
    const auto shown = orc.run("$orc topic echo typed --once --json --timeout 20");
    INFO(file << "\n" << shown.out << shown.err);
    CHECK(has(shown.out, R"("value":{"x":1.5,"name":"left"}})"));
    pub.send_signal(SIGINT);
    CHECK(exit_code_of(pub) == 0);
  }
}

TEST_CASE("orc type: LCM types find what they use in other files, and short names must be clear") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory place;
  std::ofstream(place.file("a.lcm")) << "package p; struct line_t { q.mark_t mark; }\n";
  std::ofstream(place.file("common.lcm")) << "struct point_t { double x, y; }\n";  // in no package
  std::ofstream(place.file("q.lcm")) << "package q; struct mark_t { int32_t id; }\n";
  std::ofstream(place.file("twice.lcm")) << "package q; struct mark_t { int64_t other; }\n";
  std::ofstream(place.file("broken.lcm")) << "package b; struct broken_t { nothing";
  std::ofstream(place.file("two.proto")) << "syntax = \"proto3\"; package d; message A { message S {} } "
                                            "message B { message S {} }\n";
  const auto shown = orc.run("$orc type show " + place.file("a.lcm"));
  INFO(shown.out << shown.err);
  CHECK(shown.exit_code == 0);
  CHECK(has(shown.out, "id"));
  const auto unclear = orc.run("$orc type show " + place.file("two.proto:S"));
  CHECK(unclear.exit_code == 2);
  CHECK(has(unclear.err, "d.A.S, d.B.S"));
  CHECK(orc.run("$orc type show " + place.file("two.proto:A.S")).exit_code == 0);
  const auto echoed = orc.run("$orc topic echo CHANNEL --timeout 0.1 --lcm-types " + place.path().string());
  CHECK(echoed.exit_code == 3);
}

TEST_CASE("orc type show finds what a file of types imports, as the tools of its encoding do") {
  const broker_process broker;
  const tool orc(broker);
  const detail::temporary_directory place;
  const std::string in_place = "dir=" + place.path().string() + "; ";
  const auto write = [&](const std::string& name, const std::string& content) {
    const auto file = place.path() / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  };
  const auto shown = [&](const std::string& command) {
    const auto outcome = orc.run(in_place + command);
    INFO(command << "\n" << outcome.out << outcome.err);
    CHECK(outcome.exit_code == 0);
    return outcome.out;
  };
  // ROS 2: the package's own messages, packages beside it, and installed ones; Time and Duration are not there.
  write("ws/share/arm/msg/Wrist.msg", "std_msgs/Header header\nJoint[3] joints # one/Each\n# none/Such x\n");
  write("ws/share/arm/msg/Joint.msg",
        "\xef\xbb\xbf"
        "units/msg/Angle q\nstring<=5 name\nuint8 IDLE=0\n");
  write("ws/share/units/msg/Angle.msg", "float64 rad\n");
  write("prefix/share/std_msgs/msg/Header.msg", "builtin_interfaces/Time stamp\nstring frame_id\n");
  const std::string ament = "AMENT_PREFIX_PATH=/none:$dir/prefix ";
  auto text = shown(ament + "$orc type show $dir/ws/share/arm/msg/Wrist.msg");
  CHECK(has(text, "arm/msg/Wrist (ros2msg)"));
  CHECK(has(text, "std_msgs/msg/Header\n  builtin_interfaces/msg/Time stamp\n  string frame_id\n"));
  CHECK(has(text, "arm/msg/Joint\n  const uint8 IDLE = 0\n  units/msg/Angle q\n"));
  CHECK(has(text, "units/msg/Angle\n  float64 rad\n"));
  CHECK(text == shown(ament + "$orc type show $dir/ws/share/arm/msg/Wrist.msg:arm/msg/Wrist"));
  CHECK(shown("cd $dir/ws/share/arm/msg && " + ament + "$orc type show Wrist.msg") == text);
  write("ws/share/arm/package.xml", "<package format=\"3\">\n  <name>arm_msgs</name>\n</package>\n");
  CHECK(has(shown(ament + "$orc type show $dir/ws/share/arm/msg/Wrist.msg"), "arm_msgs/msg/Joint[3] joints"));
  const auto missing = orc.run(in_place + "$orc type show $dir/ws/share/arm/msg/Wrist.msg");
  CHECK(missing.exit_code == 2);
  CHECK(has(missing.err, "message std_msgs/msg/Header is not defined"));

  // Protobuf and FlatBuffers: names below a directory above the file, or below the current one; well-known types.
  write("ws/robot/arm/state.proto",
        "syntax = \"proto3\";\nimport \"robot/pose.proto\";\nimport \"google/protobuf/timestamp.proto\";\n"
        "message State { Pose p = 1; google.protobuf.Timestamp t = 2; }\n");
  write("ws/robot/pose.proto", "syntax = \"proto3\";\nmessage Pose { double x = 1; }\n");
  CHECK(has(shown("$orc type show $dir/ws/robot/arm/state.proto:State"), "google.protobuf.Timestamp t = 2"));
  write("ws/robot/arm/state.fbs",
        "include \"robot/pose.fbs\";\nstruct P { x:float; }\nunion U { P, text:string, Pose }\n"
        "table State { u:U; }\nroot_type State;\n");
  write("ws/robot/pose.fbs", "table Pose { x:double; }\n");
  text = shown("$orc type show $dir/ws/robot/arm/state.fbs");
  CHECK(has(text, "struct P\n  float x\n"));
  CHECK(has(text, "union U\n  NONE = 0\n  P = 1 (P)\n  text = 2\n  Pose = 3 (Pose)\n"));
  write("elsewhere/state.fbs", "include \"robot/pose.fbs\";\ntable State { p:Pose; }\nroot_type State;\n");
  CHECK(has(shown("cd $dir/ws && $orc type show ../elsewhere/state.fbs"), "Pose p\n"));
}
