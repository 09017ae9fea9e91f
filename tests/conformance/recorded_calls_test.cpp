// What a recorded service publishes of its calls, over every transport of calls.
#include <algorithm>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "conformance/link.h"
#include "support/call_peers.h"
#include "support/call_records.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

#define ORC_TEST_CALL_TRANSPORTS inproc, shm, ipc, tcp

namespace recorded_calls_test {

struct position {
  double x, y;
};
ORC_DESCRIBE(position, x, y)

struct distance {
  double meters;
};
ORC_DESCRIBE(distance, meters)

}  // namespace recorded_calls_test

namespace {

using recorded_calls_test::distance;
using recorded_calls_test::position;

constexpr const char* service_name = "conformance/service";

[[nodiscard]] std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A server, a client, and a reader of the server's records once it serves.
template <class Transport>
struct recorded_pair {
  [[nodiscard]] orc::participant_options options(const char* name) const {
    auto options = address_broker.options(name);
    options.transports = {Transport::kind};
    return options;
  }
  void serve(orc::service_options how = {}) {
    how.recorded = true;
    service = server.serve(service_name, obeying(counts), how);
    REQUIRE(service.result());
    read_from(service_name);
  }
  void read_from(const char* name) {
    reader.emplace(options("reader"), name);
    REQUIRE(server.publisher(orc::call_record_topic(name)).wait_readers(1, patience_ms));
  }
  [[nodiscard]] auto call(call_order order, std::uint32_t argument = 0, std::chrono::nanoseconds deadline = ample) {
    return client.call(service_name, bytes_of({.order = order, .argument = argument}), deadline);
  }
  void wait_for_start(int count) {
    REQUIRE(wait_until([&] { return counts.started >= count; }));
  }

  broker_process address_broker;
  call_counts counts;
  orc::participant server{options("server")};
  orc::participant client{options("client")};
  orc::service service;
  std::optional<call_reader> reader;
};

}  // namespace

TEMPLATE_TEST_CASE("recorded calls: a record says who called, when, and what came of it", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t threads = GENERATE(0U, 2U);
  recorded_pair<TestType> pair;
  pair.serve({.threads = threads});
  const call_request request{.argument = 7, .number = 8};
  REQUIRE(pair.client.call(service_name, bytes_of(request), ample).get());
  const orc::call_record ok = pair.reader->next();
  CHECK(ok.client.name == "client");
  CHECK(ok.client.pid == static_cast<std::uint32_t>(::getpid()));
  CHECK_FALSE(ok.client.host.empty());
  CHECK(ok.connection != 0);
  CHECK(ok.id == 1);
  CHECK(ok.error.code == orc::call_errc::ok);
  CHECK_FALSE(ok.cancelled);
  CHECK(ok.received_ns > 1'700'000'000'000'000'000);
  CHECK(ok.started_ns != 0);
  CHECK(ok.finished_ns != 0);
  CHECK(ok.deadline_ns > ok.finished_ns);
  CHECK(ok.request.bytes == text_of(bytes_of(request)));
  CHECK(ok.request.size == sizeof request);
  CHECK_FALSE(ok.request.is_json);
  REQUIRE(ok.reply);
  CHECK(ok.reply->bytes == text_of(bytes_of(request)));

  CHECK_FALSE(pair.call(call_order::throw_error).get());
  const orc::call_record thrown = pair.reader->next();
  CHECK(thrown.id == 2);
  CHECK(thrown.connection == ok.connection);
  CHECK(thrown.error.code == orc::call_errc::exception);
  CHECK(thrown.error.exception_type == "std::out_of_range");
  CHECK(thrown.error.text == "as ordered");
  CHECK_FALSE(thrown.reply);

  CHECK_FALSE(pair.call(call_order::fail, 42).get());
  const orc::call_record failed = pair.reader->next();
  CHECK(failed.error.code == orc::call_errc::failed);
  CHECK(failed.error.number == 42);
  CHECK(failed.error.text == "as ordered");
  CHECK_FALSE(failed.reply);
}

TEMPLATE_TEST_CASE("recorded calls: large requests and replies are cut, and their sizes are known",
                   "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  recorded_pair<TestType> pair;
  pair.serve();
  for (const std::size_t size : {std::size_t{0}, std::size_t{17}, orc::max_recorded_bytes, std::size_t{3'000'000}}) {
    std::vector<std::byte> request(size, std::byte{'x'});
    if (size >= sizeof(call_request)) std::memset(request.data(), 0, sizeof(call_request));
    REQUIRE(pair.client.call(service_name, request, ample).get());
    const orc::call_record record = pair.reader->next();
    CHECK(record.request.size == size);
    CHECK(record.request.bytes == text_of(request).substr(0, orc::max_recorded_bytes));
    CHECK(record.request.is_cut == (size > orc::max_recorded_bytes));
    REQUIRE(record.reply);
    CHECK(record.reply->size == size);
    CHECK(record.reply->bytes == record.request.bytes);
  }
}

TEMPLATE_TEST_CASE("recorded calls: typed values are recorded as bytes, and JSON as text", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  recorded_pair<TestType> pair;
  auto typed = pair.server.template serve<position, distance>(
      "norm", [](const position& from, orc::call_context&) { return distance{from.x + from.y}; }, {.recorded = true});
  REQUIRE(typed.result());
  pair.read_from("norm");
  REQUIRE(pair.client.template call<distance>("norm", position{3, 4}, ample).get());
  const orc::call_record norm = pair.reader->next();
  CHECK(norm.request.bytes == text_of(to_bytes(position{3, 4})));
  REQUIRE(norm.reply);
  CHECK(norm.reply->bytes == text_of(to_bytes(distance{7})));

  const orc::type_description any_json{.message_encoding = "json"};
  auto json =
      orc::detail::serve_raw(pair.server, "json", any_json, any_json,
                             [](std::span<const std::byte> request, orc::call_context&, orc::detail::reply_writer& to) {
                               std::ranges::copy(request, to.reserve(request.size()));
                             },
                             {.recorded = true});
  REQUIRE(json.result());
  pair.read_from("json");
  const std::string text = R"({"force": 20, "note": "Grüße"})";
  REQUIRE(pair.client.call("json", std::as_bytes(std::span(text)), ample).get());
  const orc::call_record record = pair.reader->next();
  CHECK(record.request.is_json);
  CHECK(record.request.bytes == text);
  REQUIRE(record.reply);
  CHECK(record.reply->is_json);
  CHECK(record.reply->bytes == text);
}

TEMPLATE_TEST_CASE("recorded calls: cancelled calls, whether they ran or waited", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t threads = GENERATE(0U, 1U);
  recorded_pair<TestType> pair;
  pair.serve({.threads = threads});
  auto running = pair.call(call_order::hold);
  pair.wait_for_start(1);
  auto waiting = pair.call(call_order::echo);
  waiting.cancel();
  running.cancel();
  std::map<std::uint64_t, orc::call_record> records;
  for (int n = 0; n < 2; ++n) {
    orc::call_record each = pair.reader->next();
    const std::uint64_t id = each.id;
    records.emplace(id, std::move(each));
  }
  REQUIRE(records.contains(1));
  CHECK(records[1].error.code == orc::call_errc::failed);
  CHECK(records[1].error.text == "held");
  CHECK(records[1].cancelled);
  CHECK(records[1].started_ns != 0);
  REQUIRE(records.contains(2));
  CHECK(records[2].error.code == orc::call_errc::cancelled);
  CHECK(records[2].cancelled);
  CHECK(records[2].started_ns == 0);
  CHECK(records[2].request.size == sizeof(call_request));
  CHECK_FALSE(records[2].reply);
  CHECK(pair.counts.started == 1);
}

TEMPLATE_TEST_CASE("recorded calls: calls that find no place, and those of a service that is withdrawn",
                   "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  recorded_pair<TestType> pair;
  pair.serve({.threads = 1, .queue = 1});
  auto running = pair.call(call_order::hold);
  pair.wait_for_start(1);
  auto waiting = pair.call(call_order::echo);
  CHECK(pair.call(call_order::echo).get().code() == orc::call_errc::busy);
  const orc::call_record busy = pair.reader->next();
  CHECK(busy.error.code == orc::call_errc::busy);
  CHECK(busy.id == 3);
  CHECK(busy.started_ns == 0);
  pair.service = {};
  std::map<std::uint64_t, orc::call_errc> ends;
  for (int n = 0; n < 2; ++n) {
    const orc::call_record each = pair.reader->next();
    ends[each.id] = each.error.code;
  }
  CHECK(ends == std::map<std::uint64_t, orc::call_errc>{{1, orc::call_errc::failed}, {2, orc::call_errc::server_died}});
}

TEMPLATE_TEST_CASE("recorded calls: every call of many clients is recorded once, in the order of its client",
                   "[conformance][threads]", ORC_TEST_CALL_TRANSPORTS) {
  const std::size_t pool = GENERATE(0U, 3U);
  recorded_pair<TestType> pair;
  pair.serve({.threads = pool});
  constexpr std::uint64_t each = 100;
  std::vector<std::jthread> clients;
  for (int n = 0; n < 3; ++n) {
    clients.emplace_back([&] {
      orc::participant client(pair.options("client"));
      for (std::uint64_t call = 0; call < each; ++call)
        (void)client.call(service_name, bytes_of({.number = call}), ample).get();
    });
  }
  std::map<std::uint64_t, std::uint64_t> last_id;  // of each connection
  for (std::uint64_t n = 0; n < 3 * each; ++n) {
    const orc::message sample = pair.reader->next_sample();
    REQUIRE(sample);
    CHECK(sample.missed() == 0);
    orc::call_record record;
    REQUIRE(orc::read_call_record(sample.bytes(), record));
    CHECK(record.id == ++last_id[record.connection]);
  }
  CHECK(last_id.size() == 3);
}

TEMPLATE_TEST_CASE("recorded calls: a reader that does not read does not delay the service", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  recorded_pair<TestType> pair;
  pair.serve();
  // More than the reader's queue, which it leaves alone meanwhile.
  constexpr int count = 1'500;
  for (int n = 0; n < count; ++n) REQUIRE(pair.call(call_order::echo).get());
  std::uint64_t seen = 0;
  while (seen < count) {
    const orc::message sample = pair.reader->next_sample();
    REQUIRE(sample);
    seen += 1 + sample.missed();
  }
  CHECK(seen == count);
}

TEMPLATE_TEST_CASE("recorded calls: a service that is not recorded has no such topic", "[conformance][threads]",
                   ORC_TEST_CALL_TRANSPORTS) {
  recorded_pair<TestType> pair;
  auto plain = pair.server.serve("plain", obeying(pair.counts));
  REQUIRE(plain.result());
  CHECK_FALSE(pair.server.publisher(orc::call_record_topic("plain")));
  pair.serve();
  pair.service = {};
  orc::participant other(pair.options("other"));
  CHECK(other.register_topic(orc::call_record_topic(service_name)));  // withdrawn with its service
  auto refused = pair.server.serve(service_name, obeying(pair.counts), {.recorded = true});
  CHECK(refused.result().code() == orc::errc::name_taken);
  REQUIRE(other.unregister_topic(orc::call_record_topic(service_name)));
  auto again = pair.server.serve(service_name, obeying(pair.counts), {.recorded = true});
  CHECK(again.result());
}
