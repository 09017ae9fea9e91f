// orc-broker as a process: command line, exit codes, signals, what it leaves behind.
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "support/catch.h"
#include "support/child_process.h"
#include "support/golden_files.h"
#include "support/private_endpoint.h"
#include "support/raw_client.h"

using namespace orc;
using orc::test::contains;
using test::child_process;
using test::private_endpoint;
using test::raw_client;

namespace {

const auto broker_program = test::program("orc-broker");

std::vector<std::string> command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), broker_program);
  return arguments;
}

// Runs it to its end.
struct outcome {
  explicit outcome(std::vector<std::string> arguments, std::vector<std::string> environment = {}) {
    child_process child(command(std::move(arguments)), std::move(environment));
    code = child.wait_for_end();
    output = child.output();
  }
  int code = 0;
  std::string output;
};

bool answers(const std::string& endpoint) {
  raw_client client(endpoint);
  return std::holds_alternative<wire::topic_list>(client.ask(wire::list_topics{}));
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("orc-broker: help and version") {
  const outcome help({"--help"});
  CHECK(help.code == 0);
  for (const char* part : {"--listen", "--config", "--log-level", "--print-config", "--version", "Exit codes"}) {
    CHECK_THAT(help.output, contains(part));
  }
  const outcome version({"--version"});
  CHECK(version.code == 0);
  CHECK_THAT(version.output, Catch::Matchers::StartsWith("orc-broker "));
}

TEST_CASE("orc-broker: a bad command line is told in one line, with exit code 2") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--no-such-option"},
                                                    {"--log-level", "chatty"},
                                                    {"--listen"},
                                                    {"stray"},
                                                    {"--max-topics", "0"},
                                                    {"--config", "/nowhere/orc.toml"}}) {
    const outcome run(arguments);
    INFO(run.output);
    CHECK(run.code == 2);
    CHECK(lines(run.output) == 1);
    CHECK_THAT(run.output, Catch::Matchers::StartsWith("orc-broker: ") && contains("--help"));
  }
}

TEST_CASE("orc-broker: the configuration is printed as it can be read again") {
  const private_endpoint place;
  const auto file = place.directory() + "/orc.toml";
  const outcome first({"--listen", "ipc:///a b/\"x", "--listen", "tcp://127.0.0.1:1", "--log-level", "debug",
                       "--max-topics", "7", "--print-config"});
  CHECK(first.code == 0);
  CHECK_THAT(first.output, contains("log-level = \"debug\"") && contains("max-topics = 7"));

  const outcome plain(
      {"--listen", "ipc:///a/b", "--listen", "tcp://127.0.0.1:1", "--max-topics", "7", "--print-config"});
  std::ofstream(file) << plain.output;
  CHECK(outcome({"--config", file, "--print-config"}).output == plain.output);
  CHECK_THAT(outcome({"--config", file, "--max-topics", "8", "--print-config"}).output, contains("max-topics = 8"));
}

TEST_CASE("orc-broker: the example configuration is accepted") {
  const auto example = test::source_dir() / "broker" / "orc-broker.toml";
  CHECK(outcome({"--config", example.string(), "--print-config"}).code == 0);
}

TEST_CASE("orc-broker: a bad configuration is refused with exit code 2") {
  const private_endpoint place;
  const auto file = place.directory() + "/orc.toml";
  for (const char* text : {"no-such-key = 1\n", "log-level = \"chatty\"\n", "max-topics = \"many\"\n", "[[[\n"}) {
    std::ofstream(file) << text;
    const outcome run({"--config", file, "--print-config"});
    INFO(text << run.output);
    CHECK(run.code == 2);
    CHECK(lines(run.output) == 1);
  }
}

TEST_CASE("orc-broker: where it listens by default") {
  CHECK_THAT(outcome({"--print-config"}, {"XDG_RUNTIME_DIR=/somewhere"}).output,
             contains("[\"ipc:///somewhere/orc/broker\", \"tcp://127.0.0.1:5570\"]"));
  CHECK_THAT(outcome({"--print-config"}, {"XDG_RUNTIME_DIR="}).output,
             contains("ipc:///run/orc/broker") || contains("ipc:///tmp/orc-" + std::to_string(geteuid()) + "/broker"));
}

TEST_CASE("orc-broker: signals end it within a second, with exit code 0 and nothing left behind") {
  const int number = GENERATE(SIGTERM, SIGINT, SIGHUP);
  const private_endpoint place;
  child_process broker(command({"--listen", place.endpoint(), "--listen", "tcp://127.0.0.1:*"}));
  REQUIRE(broker.wait_for_output("serves tcp://127.0.0.1:"));
  raw_client client(place.endpoint());
  CHECK(std::holds_alternative<wire::welcome>(client.ask(test::hello_of_this_process())));
  CHECK(exists(place.directory() + "/broker"));
  const auto before = std::chrono::steady_clock::now();
  broker.send_signal(number);
  CHECK(broker.wait_for_end() == 0);
  CHECK(std::chrono::steady_clock::now() - before <
        std::chrono::seconds(1));  // the contract of the issue, typically 3 ms
  CHECK_FALSE(exists(place.directory() + "/broker"));
  CHECK_FALSE(exists(place.directory() + "/broker.lock"));
}

TEST_CASE("orc-broker: signals that keep coming change nothing, and under nohup a hang-up is none") {
  const private_endpoint place;
  child_process broker({"/bin/sh", "-c", "trap '' HUP; exec \"$0\" --listen \"$1\"", broker_program, place.endpoint()});
  REQUIRE(broker.wait_for_output("serves "));
  broker.send_signal(SIGHUP);
  for (int i = 0; i < 50; ++i) REQUIRE(answers(place.endpoint()));
  CHECK(broker.end_by({SIGTERM, SIGINT, SIGCONT}) == 0);
  CHECK_FALSE(exists(place.directory() + "/broker.lock"));
}

TEST_CASE("orc-broker: a second one is refused by path and by port, in one line, with exit code 1") {
  const private_endpoint place;
  child_process broker(command({"--listen", place.endpoint(), "--listen", "tcp://127.0.0.1:*"}));
  REQUIRE(broker.wait_for_output("serves tcp://127.0.0.1:"));
  const outcome by_path({"--listen", place.endpoint()});
  CHECK(by_path.code == 1);
  CHECK(lines(by_path.output) == 1);
  CHECK_THAT(by_path.output, contains("(pid " + std::to_string(broker.pid()) + ") already serves " + place.endpoint()));

  const auto start = broker.output().find("tcp://127.0.0.1:");
  auto port = broker.output().substr(start);
  port = port.substr(0, port.find('\n'));
  const outcome by_port({"--listen", port});
  CHECK(by_port.code == 1);
  CHECK(lines(by_port.output) == 1);
  CHECK_THAT(by_port.output, contains("cannot listen at " + port) && contains("another program"));
  CHECK(answers(place.endpoint()));
}

TEST_CASE("orc-broker: what a killed one left behind is in nobody's way") {
  const private_endpoint place;
  {
    child_process broker(command({"--listen", place.endpoint()}));
    REQUIRE(broker.wait_for_output("serves "));
    broker.send_signal(SIGKILL);
    CHECK(broker.wait_for_end() == -SIGKILL);
  }
  CHECK(exists(place.directory() + "/broker"));
  child_process next(command({"--listen", place.endpoint()}));
  REQUIRE(next.wait_for_output("serves "));
  CHECK(answers(place.endpoint()));
}

TEST_CASE("orc-broker: what it may not write it does not serve") {
  // Root may write everywhere, so it runs as nobody.
  std::vector<std::string> arguments;
  if (geteuid() == 0) arguments = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  for (const auto& one : command({"--listen", "ipc:///usr/orc-broker"})) arguments.push_back(one);
  if (access(arguments[0].c_str(), X_OK) != 0) return test::skip("no setpriv to become nobody with");
  child_process broker(arguments);
  const int code = broker.wait_for_end();
  if (code == 126 || code == 127) return test::skip("nobody may not read the build directory");
  if (broker.output().find("failed to read suppressions") != std::string::npos)
    return test::skip("nobody may not read the sanitizer's suppressions");
  CHECK(code == 1);
  CHECK_THAT(broker.output(), contains("cannot listen at ipc:///usr/orc-broker") && contains("Permission denied"));
}

TEST_CASE("orc-broker: it tells the service manager when it is ready, alive and stopping") {
  const private_endpoint place;
  const auto path = place.directory() + "/notify";
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(path.begin(), path.end(), address.sun_path);
  REQUIRE(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  std::string told;
  const auto wait_until_told = [&](const std::string& text) {
    while (told.find(text) == std::string::npos) {
      pollfd item{fd, POLLIN, 0};
      if (poll(&item, 1, 20'000) != 1) return false;
      char buffer[256];
      const auto size = recv(fd, buffer, sizeof buffer, 0);
      told.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))).append("\n");
    }
    return true;
  };
  child_process broker(command({"--listen", place.endpoint()}),
                       {"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=2400000", "JOURNAL_STREAM=1:1"});
  const bool supported = broker.wait_for_output("<6>serves") && wait_until_told("READY=1");
  CHECK(supported);
  CHECK(wait_until_told("WATCHDOG=1"));
  broker.send_signal(SIGTERM);
  CHECK(wait_until_told("STOPPING=1"));
  CHECK(broker.wait_for_end() == 0);
  close(fd);
}
