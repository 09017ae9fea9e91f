// What services do over every transport.
#include <algorithm>
#include <thread>

#include "conformance/link.h"
#include "support/call_peers.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

// A reply has one reader, so multicast takes no part.
#define ORC_TEST_CALL_TRANSPORTS inproc, shm, ipc, tcp

namespace calls_test {

struct position {
  double x, y;
};
ORC_DESCRIBE(position, x, y)

struct distance {
  double meters;
};
ORC_DESCRIBE(distance, meters)

}  // namespace calls_test

namespace {

using calls_test::distance;
using calls_test::position;

constexpr const char* service_name = "conformance/service";

// A server and a client in participants of their own.
template <class Transport>
struct call_pair {
  [[nodiscard]] orc::participant_options options(const char* name) const {
    auto options = address_broker.options(name);
    options.transports = {Transport::kind};
    return options;
  }
  void serve(const orc::service_options& how = {}) {
    service = server.serve(service_name, obeying(counts), how);
    REQUIRE(service.result());
  }
  [[nodiscard]] auto call(call_order order, std::uint32_t argument = 0, std::chrono::nanoseconds deadline = ample) {
    return client.call(service_name, bytes_of({.order = order, .argument = argument}), deadline);
  }

  broker_process address_broker;
  call_counts counts;
  orc::participant server{options("server")};
  orc::participant client{options("client")};
  orc::service service;
};

}  // namespace

TEMPLATE_TEST_CASE("calls: values and bytes of any size go and come", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  auto typed = pair.server.template serve<position, distance>(
      "norm", [](const position& from, orc::call_context&) { return distance{from.x + from.y}; });
  REQUIRE(typed.result());
  for (int n = 0; n < 50; ++n) {
    const auto got = pair.client.template call<distance>("norm", position{double(n), 1}, ample).get();
    INFO(got.error().message());
    REQUIRE(got);
    CHECK(got->meters == n + 1);
  }
  pair.serve();
  for (const std::size_t size : {std::size_t{0}, std::size_t{17}, std::size_t{5'000}, std::size_t{3'000'000}}) {
    std::vector<std::byte> request(size, std::byte{7});
    if (size >= sizeof(call_request)) std::memset(request.data(), 0, sizeof(call_request));
    const auto got = pair.client.call(service_name, request, ample).get();
    INFO(got.error().message());
    REQUIRE(got);
    CHECK(std::ranges::equal(*got, request));
  }
}

TEMPLATE_TEST_CASE("calls: what the handler throws or reports arrives", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  pair.serve();
  const auto thrown = pair.call(call_order::throw_error).get();
  CHECK(thrown.code() == orc::call_errc::exception);
  CHECK(thrown.error().exception_type == "std::out_of_range");
  CHECK(thrown.error().text == "as ordered");
  const auto failed = pair.call(call_order::fail, 42).get();
  CHECK(failed.code() == orc::call_errc::failed);
  CHECK(failed.error().number == 42);
  CHECK(failed.error().text == "as ordered");
  CHECK(pair.service.figures().failed == 2);
}

TEMPLATE_TEST_CASE("calls: other types are refused with the difference", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  auto typed = pair.server.template serve<position, distance>(
      "norm", [](const position&, orc::call_context&) { return distance{0}; });
  const auto reply = pair.client.template call<position>("norm", position{}, ample).get();
  CHECK(reply.code() == orc::call_errc::type_mismatch);
  CHECK_THAT(reply.error().text, contains("calls_test.distance at publisher `norm`, calls_test.position here"));
  const auto request = pair.client.template call<distance>("norm", distance{}, ample).get();
  CHECK(request.code() == orc::call_errc::type_mismatch);
  CHECK_THAT(request.error().text, contains("calls_test.distance at publisher `client"));
  CHECK(pair.client.template call<distance>("norm", position{}, ample).get());
  CHECK(typed.figures().calls == 1);
}

TEMPLATE_TEST_CASE("calls: the last feedback comes before the reply, however many there are", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  pair.serve();
  const std::uint32_t count = static_cast<std::uint32_t>(rounds(5'000, 100'000));
  auto call = pair.call(call_order::count_up, count);
  std::int64_t last = -1;
  const auto look = [&] {
    const auto got = call.feedback();
    if (!got) return;
    const auto number = from_bytes<std::uint32_t>(*got->get());
    CHECK(static_cast<std::int64_t>(number) > last);
    last = number;
  };
  while (!call.wait(1ms)) look();
  look();
  CHECK(last == count - 1);
  CHECK(call.get());
}

TEMPLATE_TEST_CASE("calls: a cancelled call ends at once, and its handler hears of it", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t threads = GENERATE(0U, 1U);
  call_pair<TestType> pair;
  pair.serve({.threads = threads});
  auto running = pair.call(call_order::hold);
  CHECK_FALSE(running.wait(0ns));
  REQUIRE(wait_until([&] {
    (void)running.ready();
    return pair.counts.started == 1;
  }));
  auto waiting = pair.call(call_order::echo);
  auto dropped = pair.call(call_order::echo);
  waiting.cancel();
  CHECK(waiting.get().code() == orc::call_errc::cancelled);
  dropped = {};
  running.cancel();
  CHECK(running.get().code() == orc::call_errc::cancelled);
  CHECK(wait_until([&] { return pair.counts.cancelled == 1; }));
  CHECK(pair.call(call_order::echo).get());
  CHECK(pair.counts.started == 2);
}

TEMPLATE_TEST_CASE("calls: a call ends at its deadline, and its late reply is dropped", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t threads = GENERATE(0U, 1U);
  call_pair<TestType> pair;
  pair.serve({.threads = threads});
  REQUIRE(pair.call(call_order::echo).get());
  auto late = pair.call(call_order::hold_anyway, 0, 50ms);
  auto never = pair.call(call_order::echo, 0, 50ms);
  CHECK(late.get().code() == orc::call_errc::deadline_exceeded);
  CHECK(never.get().code() == orc::call_errc::deadline_exceeded);
  pair.counts.released = true;
  CHECK(pair.call(call_order::echo).get());
  CHECK(pair.counts.started == 3);
}

TEMPLATE_TEST_CASE("calls: a full queue is busy, and a newer call replaces a waiting one if that is chosen",
                   "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  const bool replace = GENERATE(false, true);
  call_pair<TestType> pair;
  pair.serve({.threads = 1, .queue = 1, .replace_waiting = replace});
  auto running = pair.call(call_order::hold_anyway);
  REQUIRE(wait_until([&] {
    (void)running.ready();
    return pair.counts.started == 1;
  }));
  auto older = pair.call(call_order::echo);
  auto newer = pair.call(call_order::echo);
  auto& ends_early = replace ? older : newer;
  CHECK(ends_early.get().code() == (replace ? orc::call_errc::replaced : orc::call_errc::busy));
  pair.counts.released = true;
  CHECK(running.get());
  CHECK((replace ? newer : older).get());
}

TEMPLATE_TEST_CASE("calls: many threads share a client, each gets its own reply", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t pool = GENERATE(0U, 3U);
  call_pair<TestType> pair;
  pair.serve({.threads = pool, .queue = 1000});
  std::atomic<int> right{0};
  const int each = static_cast<int>(rounds(200, 5'000));
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      for (int n = 0; n < each; ++n) {
        const call_request request{.argument = t, .number = static_cast<std::uint64_t>(n)};
        const auto got = pair.client.call(service_name, bytes_of(request), ample).get();
        if (got && std::ranges::equal(*got, bytes_of(request))) ++right;
      }
    });
  }
  std::atomic<int> called{0};
  for (int n = 0; n < each; ++n) {
    pair.call(call_order::echo).then([&](const orc::call_result<std::vector<std::byte>>& got) {
      called += got ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(right == 6 * each);
  CHECK(wait_until([&] { return called == each; }));
}

TEMPLATE_TEST_CASE("calls: an event loop waits for feedback and reply", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  pair.serve();
  auto call = pair.call(call_order::count_up, 3);
  REQUIRE(call.fd() >= 0);
  REQUIRE(readable(call.fd(), patience_ms));
  while (!call.ready()) {
    (void)call.feedback();
    REQUIRE(readable(call.fd(), patience_ms));
  }
  CHECK(readable(call.fd(), 0));
  CHECK(call.get());
}

TEMPLATE_TEST_CASE("calls: a handler calls another service, also through its own participant", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  pair.serve();
  auto outer = pair.server.serve("outer", [&](std::span<const std::byte> request, orc::call_context&) {
    const auto got = pair.server.call(service_name, request, ample).get();
    return got ? std::vector<std::byte>(got->begin(), got->end()) : std::vector<std::byte>();
  });
  const call_request request{.number = 5};
  const auto got = pair.client.call("outer", bytes_of(request), ample).get();
  REQUIRE(got);
  CHECK(std::ranges::equal(*got, bytes_of(request)));
}

TEMPLATE_TEST_CASE("calls: a service that is withdrawn ends its calls; another one takes its name",
                   "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  CHECK(pair.client.wait_for_service(service_name, 0ms).code() == orc::errc::timed_out);
  pair.serve();
  REQUIRE(pair.client.wait_for_service(service_name, patience));
  auto open = pair.call(call_order::hold);
  REQUIRE(wait_until([&] {
    (void)open.ready();
    return pair.counts.started == 1;
  }));
  pair.service = {};
  const auto code = open.get().code();
  CHECK((code == orc::call_errc::server_died || code == orc::call_errc::failed));
  CHECK(pair.client.wait_for_service(service_name, 0ms).code() == orc::errc::timed_out);
  pair.serve();
  REQUIRE(pair.client.wait_for_service(service_name, patience));
  pair.service = {};
  // Without a call that tells the client: the service has said bye. The client's own thread may be the one to read it.
  CHECK(wait_until([&] { return pair.client.wait_for_service(service_name, 0ms).code() == orc::errc::timed_out; }));
  pair.serve();
  CHECK(pair.call(call_order::echo).get());
  auto second = pair.client.serve(service_name, obeying(pair.counts));
  CHECK(second.result().code() == orc::errc::name_taken);
}

TEMPLATE_TEST_CASE("calls: the number of open calls is bounded", "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  call_pair<TestType> pair;
  pair.serve({.threads = 1, .queue = 65'536});
  std::vector<decltype(pair.call(call_order::echo))> open;
  open.push_back(pair.call(call_order::hold_anyway));
  for (std::size_t n = 1; n < orc::max_open_calls; ++n) open.push_back(pair.call(call_order::echo));
  CHECK(pair.call(call_order::echo).get().code() == orc::call_errc::too_many_calls);
  pair.counts.released = true;
  std::size_t replies = 0;
  for (auto& each : open) replies += each.get() ? 1U : 0U;
  CHECK(replies == orc::max_open_calls);
}
