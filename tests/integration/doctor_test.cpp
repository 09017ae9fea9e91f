// `orc doctor` on machines that lack something: it says what, and the command that it prints mends it.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/doctor.h"

using namespace orc;
using namespace orc::test;

TEST_CASE("orc doctor: tells versions, and the broker that answers") {
  const broker_process broker;
  const patient robot(broker);
  const auto found = robot.examine();
  INFO(found.out);
  CHECK(found["versions"].level == "ok");
  CHECK_THAT(found["versions"].found, contains(std::string("orc ") + orc::version()));
  CHECK(found["broker"].level == "ok");
  CHECK_THAT(found["broker"].found, contains(broker.endpoint() + " answers in "));
  CHECK_THAT(found["broker"].found, contains(std::string("orc-broker ") + orc::version()));
  CHECK(found["run directory"].level == "ok");
  CHECK_THAT(found["run directory"].found, contains(broker.directory().path().string()));
  CHECK(found.checks.contains("clock"));
  CHECK(found["clock"].level != "FAIL");
}

TEST_CASE("orc doctor: no broker, and the command that starts one") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const auto before = robot.examine();
  INFO(before.out);
  CHECK(before.exit_code == 1);
  CHECK(before["broker"].level == "FAIL");
  CHECK_THAT(before["broker"].found, contains(broker.endpoint() + " (nothing there)"));
  REQUIRE(before["broker"].fixes.size() == 1);

  const std::string programs = std::filesystem::path(program("orc-broker")).parent_path().string();
  child_process started({"/bin/sh", "-c", "exec " + before["broker"].fixes.front()},
                        {"PATH=" + programs + ":" + std::getenv("PATH")});
  REQUIRE(wait_until([&] { return accepts_connections(broker.endpoint()); }));
  CHECK(robot.examine()["broker"].level == "ok");
}

TEST_CASE("orc doctor: programs that do without a broker miss none") {
  const broker_process broker(broker_process::at::nowhere);
  const auto found = patient(broker).examine("", "ORC_BROKER=none");
  INFO(found.out);
  CHECK(found["broker"].level == "ok");
  CHECK_THAT(found["broker"].found, contains("ORC_BROKER=none"));
}

TEST_CASE("orc doctor: who listens where the broker should be, and is none, is told") {
  const broker_process broker(broker_process::at::nowhere);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  broker.endpoint().copy(address.sun_path, sizeof address.sun_path - 1, 6);
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, 64) == 0);
  const auto found = patient(broker).examine();
  ::close(fd);
  INFO(found.out);
  CHECK(found["broker"].level == "FAIL");
  CHECK_THAT(found["broker"].found,
             contains(broker.endpoint() + " (a program listens there, but no ORC broker answers)"));
}

TEST_CASE("orc doctor: a run directory that cannot be used, and the command that mends it") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const orc::detail::temporary_directory place;
  const std::string run = place.file("run");
  const std::string directory = run + "/orc";
  const std::string own = directory + "/" + std::to_string(::geteuid());
  const std::string there = "ORC_BROKER=none XDG_RUNTIME_DIR=" + run;
  std::string expected;
  SECTION("its parent is missing") { expected = "there is no " + run; }
  SECTION("a file has its name") {
    std::filesystem::create_directory(run);
    std::ofstream(directory) << "x";
    expected = "is no directory";
  }
  SECTION("a file has the name of one's own directory in it") {
    std::filesystem::create_directories(directory);
    std::ofstream(own) << "x";
    expected = own + " is no directory";
  }
  SECTION("everybody may write to it") {
    std::filesystem::create_directories(directory);
    REQUIRE(::chmod(directory.c_str(), 0777) == 0);
    expected = "everybody";
  }
  SECTION("its group may write to it") {
    std::filesystem::create_directories(directory);
    REQUIRE(::chmod(directory.c_str(), 0770) == 0);
    expected = "its group";
  }
  SECTION("one's own directory in it belongs to somebody else") {
    if (::geteuid() != 0) return skip("only root can give a directory away");
    std::filesystem::create_directories(own);
    REQUIRE(::chown(own.c_str(), 65534, 65534) == 0);
    expected = "owned by nobody";
  }
  const auto before = robot.examine("", there);
  INFO(before.out);
  CHECK(before.exit_code == 1);
  CHECK(before["run directory"].level == "FAIL");
  CHECK_THAT(before["run directory"].found, contains(expected));
  REQUIRE(robot.mend(before, "run directory"));
  const auto after = robot.examine("", there);
  INFO(after.out);
  CHECK(after["run directory"].level == "ok");
}

TEST_CASE("orc doctor: a run directory whose name is too long for a socket") {
  const broker_process broker(broker_process::at::nowhere);
  const orc::detail::temporary_directory place;
  const std::string run = place.file(std::string(80, 'x'));
  std::filesystem::create_directories(run + "/orc");
  const auto found = patient(broker).examine("", "ORC_BROKER=none XDG_RUNTIME_DIR=" + run);
  INFO(found.out);
  CHECK(found["run directory"].level == "FAIL");
  CHECK_THAT(found["run directory"].found, contains("too long"));
}

TEST_CASE("orc doctor: low limits are told, and how to raise them") {
  const broker_process broker(broker_process::at::nowhere);
  const patient robot(broker);
  const auto few = robot.examine("", "ulimit -n 200; ORC_BROKER=none");
  INFO(few.out);
  CHECK(few["open files"].level == "note");
  CHECK_THAT(few["open files"].found, contains("200"));
  CHECK_FALSE(few["open files"].fixes.empty());
  const auto hardly_any = robot.examine("", "ulimit -n 30;");
  INFO(hardly_any.out);
  CHECK(hardly_any.exit_code == 1);
  CHECK(hardly_any["open files"].level == "FAIL");
  CHECK(hardly_any["broker"].level == "FAIL");

  const auto locked = robot.examine("", "ulimit -l 64; ORC_BROKER=none setpriv --bounding-set -ipc_lock");
  INFO(locked.out);
  if (locked.checks.empty()) return skip("setpriv may not take a capability away here");
  CHECK(locked["locked memory"].level == "note");
  CHECK_THAT(locked["locked memory"].found, contains("65.5 kB"));
  CHECK_FALSE(locked["locked memory"].fixes.empty());
}

TEST_CASE("orc doctor: JSON has the same findings") {
  const broker_process broker;
  const patient robot(broker);
  const auto done = robot.orc().run("$orc doctor --json -");
  CHECK(is_json(robot.orc(), done.out));
  CHECK_THAT(done.out, contains("{\"result\":\"ok\",\"name\":\"broker\",\"found\":\"" + broker.endpoint()));
  CHECK_THAT(done.err, contains("ok    broker: "));

  const orc::detail::temporary_directory scratch;
  const auto lines = robot.examine("--json " + scratch.file("json"));
  std::ostringstream text;
  text << std::ifstream(scratch.file("json")).rdbuf();
  CHECK(is_json(robot.orc(), text.str()));
  for (const auto& [name, check] : lines.checks)
    CHECK_THAT(text.str(), contains("{\"result\":\"" + check.level + "\",\"name\":\"" + name + "\""));
  CHECK_THAT(text.str(), contains(std::string("\"healthy\":") + (lines.exit_code == 0 ? "true" : "false")));

  const auto unwritable = robot.orc().run("$orc doctor --json /nonexistent/file");
  CHECK(unwritable.exit_code == 1);
  CHECK_THAT(unwritable.err, contains("/nonexistent/file"));
  CHECK(robot.orc().run("$orc doctor > /dev/full").exit_code == 1);
}
