// What the machine may do to a participant: no broker, no permission, paths too long, no descriptors, nonsense in the
// settings. Every call returns an error that says what was tried, found and is to be done.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/no_descriptors.h"
#include "support/payload.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("no broker: set-up calls return in time and say what was tried and what to do", "[fault][threads]") {
  const orc::detail::temporary_directory directory;
  orc::participant_options options;
  options.broker = "ipc://" + directory.file("broker");
  options.broker_timeout = std::chrono::milliseconds(200);
  orc::participant alone(options);
  const auto start = std::chrono::steady_clock::now();
  const auto registered = alone.register_topic("t").result();
  CHECK(ms_since(start) >= 150);
  CHECK(registered.code() == orc::errc::no_broker);
  const std::string text = registered.error().message();
  INFO(text);
  CHECK(text.find(options.broker) != std::string::npos);
  CHECK(text.find("orc-broker") != std::string::npos);
  CHECK(text.find("ORC_BROKER") != std::string::npos);
  CHECK(alone.request_topic("u").result().code() == orc::errc::no_broker);
  CHECK(alone.broker_endpoint().empty());
  // What needs no broker works.
  CHECK(alone.send_msg("t", "x", 1));
  CHECK(alone.recv_msg("u", 0).status() == orc::errc::nothing_new);
  CHECK(alone.unregister_topic("t"));
  CHECK(alone.release_topic("u"));
}

TEST_CASE("no broker: broker_timeout 0 does not wait", "[fault][threads]") {
  const orc::detail::temporary_directory directory;
  orc::participant_options options;
  options.broker = "ipc://" + directory.file("broker");
  options.broker_timeout = std::chrono::milliseconds(0);
  orc::participant alone(options);
  CHECK(alone.register_topic("t").result().code() == orc::errc::no_broker);
  CHECK(alone.request_topic("t").result().code() == orc::errc::no_broker);
  CHECK(alone.unregister_topic("t"));
}

TEST_CASE("no broker: ORC_BROKER says where it is", "[fault][threads]") {
  broker_process address_broker;
  ::setenv("ORC_BROKER", address_broker.endpoint().c_str(), 1);
  {
    orc::participant found;
    CHECK(found.register_topic("t").result());
    CHECK(found.broker_endpoint() == address_broker.endpoint());
  }
  ::unsetenv("ORC_BROKER");
}

TEST_CASE("settings: broker endpoints that are none are refused with a sentence", "[fault][threads]") {
  for (const std::string& endpoint :
       {std::string("nonsense"), std::string("ipc://"), std::string("tcp://"), std::string("tcp://127.0.0.1"),
        std::string("tcp://127.0.0.1:99999"), std::string("tcp://127.0.0.1:-1"), std::string("inproc://x"),
        std::string("udp://127.0.0.1:5570"), std::string("pgm://eth0;239.1.1.1:5555"), std::string("://"),
        std::string("ipc://") + std::string(300, 'a'), std::string("tcp://") + std::string(100'000, '1'),
        std::string("ipc:///tmp/\0/x", 14), std::string("tcp://127.0.0.1:1\n"), std::string(" "),
        std::string("http://127.0.0.1:80")}) {
    INFO(endpoint.substr(0, 100));
    orc::participant_options options;
    options.broker = endpoint;
    options.broker_timeout = std::chrono::milliseconds(50);
    orc::participant alone(options);
    const auto registered = alone.register_topic("t").result();
    CHECK(!registered);
    CHECK(!registered.error().message().empty());
    CHECK(!alone.request_topic("t").result());
    CHECK(alone.broker_endpoint().empty());
  }
}

TEST_CASE("settings: a broker without scheme or port is refused at once, with what to write", "[fault][threads]") {
  const std::pair<const char*, const char*> meant[] = {{"10.0.0.2:5570", "write tcp://10.0.0.2:5570"},
                                                       {"robot", "write tcp://robot:5570"},
                                                       {"tcp://robot", "write tcp://robot:5570"},
                                                       {"tcp://a:5570, b:5570", "write tcp://b:5570"},
                                                       {"/run/orc/broker", "write ipc:///run/orc/broker"}};
  for (const auto& [wrong, advice] : meant) {
    INFO(wrong);
    ::setenv("ORC_BROKER", wrong, 1);
    orc::participant alone(orc::participant_options{.broker_timeout = orc::forever});  // at once
    const auto registered = alone.register_topic("t").result();
    CHECK(registered.code() == orc::errc::bad_argument);
    CHECK(registered.error().message().find(advice) != std::string::npos);
    CHECK(alone.request_topic("t").result().code() == orc::errc::bad_argument);
  }
  ::unsetenv("ORC_BROKER");
}

TEST_CASE("no broker: the error names each place with its state", "[fault][threads]") {
  const orc::detail::temporary_directory directory;
  orc::participant_options options;
  options.broker = "tcp://no-such-host.invalid:5570,tcp://127.0.0.1:1,ipc://" + directory.file("broker");
  options.broker_timeout = std::chrono::milliseconds(300);
  orc::participant alone(options);
  REQUIRE(alone.register_topic("t").result().code() == orc::errc::no_broker);
  // The resolver may take longer than a call waits.
  std::string text;
  CHECK(wait_until([&] {
    text = alone.register_topic("t").error().message();
    return text.find("the host name no-such-host.invalid is not known here") != std::string::npos;
  }));
  INFO(text);
  CHECK(text.find("tcp://127.0.0.1:1 (connection refused: ") != std::string::npos);
  CHECK(text.find(directory.file("broker") + " (nothing there)") != std::string::npos);
}

TEST_CASE("settings: nonsense in ORC_TRANSPORTS and ORC_ADVERTISE does no harm", "[fault][threads]") {
  broker_process address_broker;
  for (const char* text : {"nonsense", ",,,", "ipc,nonsense", "ipc,,tcp", " "}) {
    ::setenv("ORC_TRANSPORTS", text, 1);
    ::setenv("ORC_ADVERTISE", text, 1);
    INFO(text);
    orc::participant both(address_broker.options());
    static_cast<void>(both.register_topic("t"));
    static_cast<void>(both.request_topic("t"));
    static_cast<void>(both.send_msg("t", "x", 1));
    static_cast<void>(both.recv_msg("t", 10));
  }
  ::unsetenv("ORC_TRANSPORTS");
  ::unsetenv("ORC_ADVERTISE");
}

TEST_CASE("names: 1 to 255 bytes of [A-Za-z0-9_./-], everything else is bad_name", "[fault][threads]") {
  broker_process address_broker;
  orc::participant both(address_broker.options());
  for (const std::string& name : {std::string("a"), std::string("A-b_c.d/e"), std::string("..").append("/x"),
                                  std::string(255, 'n'), std::string("/a"), std::string("-")}) {
    INFO(name);
    CHECK(both.register_topic(name).result());
    CHECK(both.request_topic(name).result());
  }
  using namespace std::string_literals;
  for (const std::string& name : {""s, "/"s, "a b"s, "a\0b"s, "ü"s, "a\n"s, std::string(256, 'n'),
                                  std::string(1'000'000, 'n'), "a*"s, "\xff\xfe"s, "topic?"s}) {
    INFO(name.substr(0, 50));
    const auto registered = both.register_topic(name).result();
    CHECK(registered.code() == orc::errc::bad_name);
    CHECK(!registered.error().message().empty());
    CHECK(both.request_topic(name).result().code() == orc::errc::bad_name);
    CHECK(!both.send_msg(name, "x", 1));
    CHECK(!both.recv_msg(name, 0));
  }
}

TEST_CASE("permissions: someone who may not use the broker's directory is told so", "[fault][threads]") {
  if (::geteuid() != 0) return skip("needs root, to become somebody else");
  broker_process address_broker;
  ::chmod(address_broker.directory().path().c_str(), 0700);
  test_node stranger;
  stranger.must("become_nobody");
  stranger.must("open " + address_broker.endpoint() + " 200");
  const std::string answer = stranger.ask("register t any");
  INFO(answer);
  CHECK(answer.starts_with("error"));
  CHECK(answer.find(address_broker.directory().path().string()) != std::string::npos);
  CHECK(stranger.ask("request t any 1 64 0").starts_with("error"));
  CHECK(stranger.ask("close") == "ok");
}

TEST_CASE("permissions: a run directory that cannot be written is named, and other transports go on",
          "[fault][threads]") {
  if (::geteuid() != 0) return skip("needs root, to become somebody else");
  broker_process address_broker(broker_process::at::tcp);
  const orc::detail::temporary_directory run;
  ::chmod(run.path().c_str(), 0700);
  test_node stranger({}, {"XDG_RUNTIME_DIR=" + run.path().string()});
  stranger.must("become_nobody");
  stranger.must("open " + address_broker.endpoint() + " 2000");
  const std::string answer = stranger.ask("register t ipc");
  INFO(answer);
  CHECK((answer == "ok" || answer.starts_with("error")));
  CHECK(stranger.ask("register u tcp") == "ok");
  CHECK(stranger.ask("request u tcp 1 64 " + std::to_string(patience_ms)) == "ok");
  CHECK(stranger.ask("send u 5 8") == "ok");
  CHECK(stranger.ask("recv u " + std::to_string(patience_ms)).starts_with("sample 1 5 "));
}

TEST_CASE("paths: a broker whose directory leaves no room for socket names", "[fault][threads]") {
  const orc::detail::temporary_directory base;
  // 107 bytes is what a socket path may have: the broker's just fits, a participant's does not.
  const std::string directory = base.file(std::string(100 - base.path().string().size(), 'd'));
  std::filesystem::create_directory(directory);
  const std::string endpoint = "ipc://" + directory + "/b";
  child_process broker({program("orc-broker"), "--listen", endpoint, "--log-level", "error"});
  REQUIRE(wait_until([&] { return accepts_connections(endpoint) || !broker.running(); }));
  if (!broker.running()) return skip("this broker wants more room itself");
  orc::participant_options options;
  options.broker = endpoint;
  options.broker_timeout = patience;
  orc::participant both(options);
  const auto registered = both.register_topic("t", {.transports = {orc::transport::ipc}}).result();
  INFO(registered.error().message());
  if (!registered) CHECK(registered.error().message().size() > 20);
  // inproc and tcp need no path.
  REQUIRE(both.register_topic("u", {.transports = {orc::transport::tcp}}).result());
  REQUIRE(both.request_topic("u", {.connected_within = patience}).result());
  REQUIRE(both.send_msg("u", "x", 1));
  CHECK(both.recv_msg("u", patience_ms));
}

TEST_CASE("descriptors: without any left every call returns, and all is well when there are some again",
          "[fault][threads]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  const std::string kind = GENERATE(as<std::string>(), "shm", "ipc", "tcp");
  INFO(kind);
  broker_process address_broker;
  test_node peer;
  peer.must("open " + address_broker.endpoint());
  peer.must("register far ipc");
  peer.must("send far 1 8");
  test_node starved;
  starved.must("limit_fds 256");
  starved.must("open " + address_broker.endpoint());
  starved.must("register own " + kind);
  starved.must("request far ipc 1 64 " + std::to_string(patience_ms));
  CHECK(starved.ask("recv far " + std::to_string(patience_ms)).starts_with("sample 1 1 "));

  starved.must("eat_fds");
  // New topics cannot be had, and the calls say so…
  for (int n = 0; n < 5; ++n) {
    const std::string topic = std::to_string(n);
    const std::string registered = starved.ask("register more" + topic + " ipc");
    INFO(registered);
    CHECK(registered.starts_with("error"));
    static_cast<void>(starved.ask("request other" + topic + " any 1 64 50"));
  }
  // …while what exists goes on.
  CHECK(starved.ask("send own 7 8") == "ok");
  for (int value = 2; value < 10; ++value) {
    peer.must("send far " + std::to_string(value) + " 8");
    CHECK(starved.ask("recv far " + std::to_string(patience_ms)).starts_with("sample " + std::to_string(value)));
  }
  // A peer that wants to join cannot, yet. It must not bring the starved one down.
  peer.must("request own " + kind + " 1 64 0");
  CHECK(starved.ask("send own 8 8") == "ok");

  starved.must("free_fds");
  CHECK(peer.ask("recv own " + std::to_string(patience_ms)).find(" 8 8 0") != std::string::npos);
  starved.must("register again ipc");
  starved.must("request far2 ipc 1 64 0");
  peer.must("request again ipc 1 64 " + std::to_string(patience_ms));
  starved.must("send again 3 8");
  CHECK(peer.ask("recv again " + std::to_string(patience_ms)).starts_with("sample 1 3 "));
}

TEST_CASE("descriptors: a participant that is made without any left says so and does not abort", "[fault][threads]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  broker_process address_broker;
  test_node starved;
  starved.must("limit_fds 64");
  starved.must("eat_fds");
  starved.must("open " + address_broker.endpoint() + " 100");
  for (const std::string command : {"register t any", "register u inproc", "request t any 1 64 50"}) {
    const std::string answer = starved.ask(command);
    INFO(command << ": " << answer);
    CHECK(answer.starts_with("error"));
  }
  static_cast<void>(starved.ask("send t 1 8"));
  static_cast<void>(starved.ask("recv t 10"));
  CHECK(starved.ask("close") == "ok");
  starved.must("free_fds");
  starved.must("open " + address_broker.endpoint());
  CHECK(starved.ask("register t any") == "ok");
}

TEST_CASE("descriptors: at every number of them that may be left, nothing aborts", "[fault][threads]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  broker_process address_broker;
  for (int limit = 8; limit < 60; limit += under_sanitizer ? 6 : 2) {
    INFO("RLIMIT_NOFILE " << limit);
    test_node starved;
    starved.must("limit_fds " + std::to_string(limit));
    starved.must("open " + address_broker.endpoint() + " 100");
    static_cast<void>(starved.ask("register t" + std::to_string(limit) + " any"));
    static_cast<void>(starved.ask("request t" + std::to_string(limit) + " any 1 64 50"));
    static_cast<void>(starved.ask("register u" + std::to_string(limit) + " tcp"));
    static_cast<void>(starved.ask("request u" + std::to_string(limit) + " tcp 1 64 50"));
    static_cast<void>(starved.ask("send t" + std::to_string(limit) + " 1 8"));
    static_cast<void>(starved.ask("recv t" + std::to_string(limit) + " 20"));
    CHECK(starved.ask("close") == "ok");
    CHECK(starved.process().running());
  }
}
