// Services when one of the ends, or the broker, dies.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <string>

#include "orc/calls.h"
#include "orc/directory.h"
#include "support/call_peer.h"
#include "support/call_peers.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr const char* service_name = "arm/service";

// A server in this process, and what clients need.
struct call_server {
  explicit call_server(std::string over = "ipc", const orc::service_options& how = {}) : transport(std::move(over)) {
    service = server.serve(service_name, obeying(counts), how);
    REQUIRE(service.result());
  }
  broker_process address_broker;
  std::string transport;
  call_counts counts;
  orc::participant server{address_broker.options("server")};
  orc::service service;
};

// A client in this process of a server in another one.
struct call_client {
  explicit call_client(std::string over = "ipc") : transport(std::move(over)), peer(serve()) {}
  [[nodiscard]] child_process serve() const {
    return start_call_peer("serve", address_broker, service_name, transport);
  }
  [[nodiscard]] orc::participant_options options() const {
    auto options = address_broker.options("client");
    if (transport == "shm") options.transports = {orc::transport::shm};
    if (transport == "tcp") options.transports = {orc::transport::tcp};
    return options;
  }
  [[nodiscard]] auto call(call_order order) { return client.call(service_name, bytes_of({.order = order}), ample); }

  broker_process address_broker;
  std::string transport;
  child_process peer;
  orc::participant client{options()};
};

// Whether `body` returns true in a child of this process.
template <class Body>
[[nodiscard]] bool in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = -1;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("calls: a server that is killed ends its calls at once, and its successor serves", "[integration][threads]") {
  const std::string transport = GENERATE("ipc", "tcp", "shm");
  call_client side(transport);
  REQUIRE(side.call(call_order::echo).get());
  auto first = side.call(call_order::hold);
  auto second = side.call(call_order::hold);
  std::atomic<int> called = 0;
  second.then([&](const orc::call_result<std::vector<std::byte>>& got) {
    if (got.code() == orc::call_errc::server_died) ++called;
  });
  CHECK_FALSE(first.wait(20ms));
  side.peer.kill();
  const auto start = std::chrono::steady_clock::now();
  const auto died = first.get();
  CHECK(died.code() == orc::call_errc::server_died);
  CHECK(ms_since(start) < patience_ms / 2);
  CHECK(wait_until([&] { return called == 1; }));
  side.peer = side.serve();
  CHECK(side.call(call_order::echo).get());
}

TEST_CASE("calls: a handler that ends its process ends the call", "[integration][threads]") {
  const auto order = GENERATE(call_order::exit_at_once, call_order::exit_normally);
  call_client side;
  CHECK(side.call(order).get().code() == orc::call_errc::server_died);
  CHECK(side.peer.wait().has_value());
  side.peer = side.serve();
  CHECK(side.call(call_order::echo).get());
}

TEST_CASE("calls: a handler that forks serves on, and its child sends nothing", "[integration][threads]") {
  call_client side;
  for (int n = 0; n < 5; ++n) CHECK(side.call(call_order::fork_child).get());
  CHECK(side.call(call_order::echo).get());
}

TEST_CASE("calls: the handler hears that its client was killed", "[integration][threads]") {
  const std::string transport = GENERATE("ipc", "tcp", "shm");
  const std::size_t threads = GENERATE(0U, 1U);
  broker_process address_broker;
  call_counts counts;
  auto options = address_broker.options("server");
  if (transport == "shm") options.transports = {orc::transport::shm};
  if (transport == "tcp") options.transports = {orc::transport::tcp};
  orc::participant server(options);
  const auto service = server.serve(service_name, obeying(counts), {.threads = threads});
  auto running = start_call_peer("hold", address_broker, service_name, transport);
  REQUIRE(wait_until([&] { return counts.started == 1; }));
  running.kill();
  CHECK(wait_until([&] { return counts.cancelled == 1; }));
  CHECK(wait_until([&] { return service.figures().clients == 0; }));
}

TEST_CASE("calls: a broker that is killed and comes back disturbs no call", "[integration][threads]") {
  call_server side;
  orc::participant client(side.address_broker.options("client"));
  const auto echo = [&](orc::participant& by) { return by.call(service_name, bytes_of({}), ample).get(); };
  REQUIRE(echo(client));
  side.address_broker.kill();
  auto held = client.call(service_name, bytes_of({.order = call_order::hold_anyway}), ample);
  for (int n = 0; n < 5; ++n) CHECK_FALSE(held.wait(10ms));
  side.address_broker.start();
  orc::participant newcomer(side.address_broker.options("newcomer"));
  auto late = newcomer.call(service_name, bytes_of({}), ample);
  CHECK_FALSE(late.wait(10ms));  // the handler is busy
  side.counts.released = true;
  CHECK(held.get());
  CHECK(late.get());
  for (int n = 0; n < 50; ++n) CHECK(echo(client));
}

TEST_CASE("calls: a child of fork gets an error from everything that it inherits", "[integration][threads]") {
  call_server side;
  orc::participant client(side.address_broker.options("client"));
  auto open = client.call(service_name, bytes_of({.order = call_order::hold}), ample);
  CHECK_FALSE(open.wait(20ms));
  CHECK(in_child([&] {
    const bool refused = client.call(service_name, bytes_of({}), 1s).get().code() == orc::call_errc::forked &&
                         open.get().code() == orc::call_errc::forked &&
                         client.wait_for_service(service_name, 1s).code() == orc::errc::forked;
    side.service = {};
    return refused;
  }));
  open.cancel();
  CHECK(client.call(service_name, bytes_of({}), ample).get());
}

TEST_CASE("calls: many clients come and go and leave nothing", "[integration][threads]") {
  call_server side("ipc", {.max_clients = 4});
  const auto come_and_go = [&] {
    orc::participant client(side.address_broker.options("client"));
    return client.call(service_name, bytes_of({}), ample).get();
  };
  REQUIRE(come_and_go());
  orc::directory directory({.broker = side.address_broker.endpoint()});
  const auto topics = [&] {
    std::vector<orc::topic_state> found;
    REQUIRE(directory.topics("**", found));
    return found.size();
  };
  const auto settled = [&] { return side.service.figures().clients == 0 && topics() == 1; };
  REQUIRE(wait_until(settled));
  const auto before = stats_of();
  const std::size_t clients = rounds(100, 1'000);
  std::size_t served = 0;
  std::string problem;
  for (std::size_t n = 0; n < clients; ++n) {
    // the server may hear of a departure after the next client came
    REQUIRE(wait_until([&] { return side.service.figures().clients < 4; }));
    const auto got = come_and_go();
    served += got ? 1U : 0U;
    if (!got) problem = got.error().message();
  }
  INFO(problem);
  CHECK(served == clients);
  REQUIRE(wait_until(settled));
  CHECK(wait_until([&] {
    const auto now = stats_of();
    return now.threads <= before.threads && now.fds <= before.fds;
  }));
}

TEST_CASE("calls: a client too many is refused, and served when there is a place", "[integration][threads]") {
  call_server side("ipc", {.max_clients = 1});
  auto first = std::make_optional<orc::participant>(side.address_broker.options("first"));
  REQUIRE(first->call(service_name, bytes_of({}), ample).get());
  orc::participant second(side.address_broker.options("second"));
  const auto refused = second.call(service_name, bytes_of({}), ample).get();
  CHECK(refused.code() == orc::call_errc::refused);
  CHECK_THAT(refused.error().text, contains("1 clients already"));
  first.reset();
  CHECK(wait_until([&] { return static_cast<bool>(second.call(service_name, bytes_of({}), 1s).get()); }));
}

TEST_CASE("calls: a call ends at its deadline also while its participant waits for a broker",
          "[integration][threads]") {
  const broker_process nowhere(broker_process::at::nowhere);
  auto options = nowhere.options("client");
  options.broker_timeout = orc::forever;
  std::atomic<bool> ended{false};
  orc::call_errc code{};
  {
    orc::participant client(options);
    client.call(service_name, bytes_of({}), 20ms).then([&](const orc::call_result<std::vector<std::byte>>& got) {
      code = got.code();
      ended = true;
    });
    CHECK(wait_until([&] { return ended.load(); }));
    CHECK(code == orc::call_errc::no_service);
    CHECK(client.call(service_name, bytes_of({}), 20ms).get().code() == orc::call_errc::no_service);
  }
  CHECK(orc::participant(nowhere.options()).call("not a name", bytes_of({}), ample).get().code() ==
        orc::call_errc::bad_argument);
}

TEST_CASE("calls: the error says when a server can be reached and cannot reach back", "[integration][threads]") {
  const broker_process address_broker;
  auto over_tcp = address_broker.options("server");
  over_tcp.transports = {orc::transport::tcp};
  orc::participant server(over_tcp);
  const auto service = server.serve(
      service_name, [](std::span<const std::byte>, orc::call_context&) { return std::vector<std::byte>(); });
  orc::participant client(address_broker.options("client"));  // its topics are not offered over tcp
  std::string text;
  CHECK(wait_until([&] {
    text = client.wait_for_service(service_name, 200ms).error().message();
    return text.find("reached over tcp") != std::string::npos;
  }));
  CHECK_THAT(text, contains("no transport that this participant offers"));
}

TEST_CASE("calls: a participant waits for a handler that withdrew its own service", "[integration][threads]") {
  const auto threads = GENERATE(as<std::size_t>(), 0, 2);
  const broker_process address_broker;
  std::atomic<bool> withdrawn{false};
  std::atomic<bool> may_return{false};
  std::atomic<bool> returned{false};
  auto server = std::make_optional<orc::participant>(address_broker.options("server"));
  orc::service service;
  service = server->serve(service_name,
                          [&](std::span<const std::byte>, orc::call_context&) {
                            service = {};
                            withdrawn = true;
                            CHECK(wait_until([&] { return may_return.load(); }));
                            returned = true;
                            return std::vector<std::byte>();
                          },
                          {.threads = threads});
  orc::participant client(address_broker.options("client"));
  auto call = client.call(service_name, bytes_of({}), ample);
  CHECK(wait_until([&] { return withdrawn.load(); }));
  auto ended = std::async(std::launch::async, [&] { server.reset(); });
  CHECK(ended.wait_for(50ms) == std::future_status::timeout);
  may_return = true;
  ended.get();
  CHECK(returned);
}

TEST_CASE("calls: a participant lets go of a handler that runs longer than its patience", "[integration][threads]") {
  const auto threads = GENERATE(as<std::size_t>(), 0, 2);
  const auto withdraws = GENERATE(false, true);
  const broker_process address_broker;
  std::atomic<bool> started{false};
  std::atomic<bool> may_return{false};
  std::atomic<bool> returned{false};
  auto server = std::make_optional<orc::participant>(address_broker.options("server"));
  auto service = orc::detail::serve_raw(
      *server, service_name, {}, {},
      [&](std::span<const std::byte>, orc::call_context& call, orc::detail::reply_writer& reply) {
        started = true;
        CHECK(wait_until([&] { return may_return.load(); }));
        CHECK(call.cancelled());
        CHECK_FALSE(call.feedback({}));
        (void)reply.reserve(8);
        returned = true;
      },
      {.threads = threads, .recorded = true}, 50ms);
  orc::participant client(address_broker.options("client"));
  auto call = client.call(service_name, bytes_of({}), ample);
  CHECK(wait_until([&] { return started.load(); }));
  if (withdraws)
    CHECK_FALSE(orc::detail::withdraw(service, std::chrono::steady_clock::now() + 20ms));
  else
    orc::detail::leave_to_participant(std::move(service));
  server.reset();
  CHECK(call.get().code() == orc::call_errc::server_died);
  CHECK_FALSE(returned);
  may_return = true;
  CHECK(wait_until([&] { return returned.load(); }));
}

TEST_CASE("calls: a service is withdrawn when its handler has returned", "[integration][threads]") {
  call_server side;
  orc::participant client(side.address_broker.options("client"));
  auto held = client.call(service_name, bytes_of({.order = call_order::hold_anyway}), ample);
  CHECK(wait_until([&] { return side.counts.started == 1; }));
  for (int n = 0; n < 3; ++n) CHECK_FALSE(orc::detail::withdraw(side.service, std::chrono::steady_clock::now()));
  side.counts.released = true;
  CHECK(orc::detail::withdraw(side.service, std::chrono::steady_clock::now() + ample));
  CHECK(held.get());
  CHECK(orc::detail::withdraw(side.service, std::chrono::steady_clock::now()));
}

TEST_CASE("calls: a participant that waits for a broker ends while its channel is being set up",
          "[integration][threads]") {
  const broker_process nowhere(broker_process::at::nowhere);
  auto options = nowhere.options("client");
  options.broker_timeout = orc::forever;
  for (std::size_t round = 0; round < rounds(20, 200); ++round) {
    auto client = std::make_optional<orc::participant>(options);
    auto call = client->call(service_name, bytes_of({}), ample);
    auto ended = std::async(std::launch::async, [&] { client.reset(); });
    REQUIRE(ended.wait_for(ample) == std::future_status::ready);
  }
}

TEST_CASE("calls: a result that is taken after the deadline does not count", "[integration][threads]") {
  call_server side;
  orc::participant client(side.address_broker.options("client"));
  REQUIRE(client.wait_for_service(service_name, 20s));
  std::promise<void> go_on;
  std::promise<orc::call_errc> late;
  client.call(service_name, bytes_of({.order = call_order::hold_anyway}), ample).then([&](const auto&) {
    go_on.get_future().wait();
  });
  client.call(service_name, bytes_of({}), 200ms).then([&](const auto& got) { late.set_value(got.code()); });
  side.counts.released = true;  // now, because a callback for a call that has ended runs here
  auto ended = late.get_future();
  CHECK(ended.wait_for(400ms) == std::future_status::timeout);  // the first callback holds ORC's thread
  go_on.set_value();
  CHECK(ended.get() == orc::call_errc::deadline_exceeded);
}

TEST_CASE("calls: the longest times wait", "[integration][threads]") {
  call_server side;
  orc::participant client(side.address_broker.options("client"));
  CHECK(client.wait_for_service(service_name, orc::forever));
  auto call = client.call(service_name, bytes_of({}), ample);
  CHECK(call.wait(std::chrono::nanoseconds::max()));
  CHECK(call.get());
}

TEST_CASE("calls: services are found by their interfaces", "[integration][threads]") {
  broker_process address_broker;
  orc::participant server(address_broker.options("server"));
  const auto echo = [](std::span<const std::byte> request, orc::call_context&) {
    return std::vector<std::byte>(request.begin(), request.end());
  };
  const auto left = server.serve("left/gripper", echo, {.interfaces = {"gripper", "tool"}});
  const auto right = server.serve("right/gripper", echo, {.interfaces = {"gripper"}});
  const auto other = server.serve("camera", echo);
  orc::directory directory({.broker = address_broker.endpoint()});
  const auto names = [&](const std::string& interface) {
    std::vector<orc::service_description> found;
    REQUIRE(orc::find_services(directory, interface, found));
    std::vector<std::string> all;
    for (const auto& each : found) all.push_back(each.name);
    return all;
  };
  CHECK(wait_until([&] { return names("").size() == 3; }));
  CHECK(names("gripper") == std::vector<std::string>{"left/gripper", "right/gripper"});
  CHECK(names("tool") == std::vector<std::string>{"left/gripper"});
  CHECK(names("arm").empty());
}
