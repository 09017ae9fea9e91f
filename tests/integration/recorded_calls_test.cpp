// Recorded calls as programs see them: orc record, orc log, orc play, orc service echo; and strangers.
#include <algorithm>
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "calls/call_message.h"
#include "support/call_peers.h"
#include "support/call_records.h"
#include "support/catch.h"
#include "support/orc_tool.h"
#include "support/recorded.h"
#include "support/recorder_process.h"
#include "support/recording_file.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::detail::call_kind;

namespace recorded_gripper {

struct close_request {
  double force;
};
ORC_DESCRIBE(close_request, force)

struct close_reply {
  double width;
};
ORC_DESCRIBE(close_reply, width)

}  // namespace recorded_gripper

namespace {

constexpr const char* name = "gripper/close";

// A broker, a typed service whose calls are recorded, and a client.
struct recorded_service {
  explicit recorded_service(bool recorded = true) {
    service = server.serve<recorded_gripper::close_request, recorded_gripper::close_reply>(
        name,
        [this](const recorded_gripper::close_request& request,
               orc::call_context& context) -> recorded_gripper::close_reply {
          ++ran;
          if (request.force < 0) throw std::out_of_range("force is below 0\x1b[2J\nok");
          if (request.force > 100) context.fail(7, "it slipped");
          return {.width = request.force / 2};
        },
        {.recorded = recorded});
    REQUIRE(service.result());
  }
  bool call(double force) {
    return static_cast<bool>(
        client.call<recorded_gripper::close_reply>(name, recorded_gripper::close_request{force}, ample).get());
  }
  [[nodiscard]] bool is_heard() {
    return server.publisher(orc::call_record_topic(name)).wait_readers(1, patience_ms).code() == orc::errc::ok;
  }
  [[nodiscard]] bool is_left() {
    return wait_until([&] { return server.publisher(orc::call_record_topic(name)).readers() == 0; });
  }

  broker_process broker;
  tool orc{broker};
  orc::participant server{broker.options("gripper")};
  orc::participant client{broker.options("arm")};
  std::atomic<int> ran{0};
  orc::service service;
};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("recorded calls: orc record takes them, and no other topic of a service's own", "[integration]") {
  recorded_service side;
  const orc::detail::temporary_directory scratch;
  const std::string file = scratch.file("run.mcap");
  {
    recorder_process recorder(side.orc, {"-o", file});
    REQUIRE(side.is_heard());
    CHECK(side.call(20));
    CHECK_FALSE(side.call(-1));
    CHECK_FALSE(side.call(101));
    CHECK(side.call(1));  // the records of the calls before have been sent
    CHECK(recorder.end() == 0);
  }
  const auto info = side.orc.run("$orc log info " + file);
  CHECK(has(info.out, "gripper/close/.calls"));
  CHECK(has(info.out, "orc.Call"));
  CHECK_FALSE(has(info.out, "/.call/"));
  CHECK_FALSE(has(info.out, "/.reply/"));
  std::vector<orc::call_record> records;
  for (const file_sample& each : samples_of(file)) {
    if (each.topic != orc::call_record_topic(name)) continue;
    orc::call_record record;
    REQUIRE(orc::read_call_record(std::as_bytes(std::span(each.data)), record));
    records.push_back(std::move(record));
  }
  REQUIRE(records.size() >= 3);
  CHECK(records[0].client.name == "arm");
  CHECK(records[0].error.code == orc::call_errc::ok);
  CHECK(from_bytes<double>(std::as_bytes(std::span(records[0].request.bytes))) == 20);
  CHECK(from_bytes<double>(std::as_bytes(std::span(records[0].reply->bytes))) == 10);
  CHECK(records[1].error.code == orc::call_errc::exception);
  CHECK(records[2].error.number == 7);
}

TEST_CASE("recorded calls: orc record takes topics that carry calls if they are named", "[integration]") {
  recorded_service side(false);
  const orc::detail::temporary_directory scratch;
  const std::string file = scratch.file("run.mcap");
  CHECK(side.call(20));
  {
    recorder_process recorder(side.orc, {"-o", file, "gripper/close/.call/*", "gripper/**"});
    REQUIRE(wait_until([&] {
      if (!side.call(20) || samples_in(file) == 0) return false;
      return std::ranges::any_of(samples_of(file), [](const auto& each) { return has(each.topic, "/.call/"); });
    }));
    CHECK(recorder.end() == 0);
  }
  const auto info = side.orc.run("$orc log info " + file);
  CHECK(has(info.out, "gripper/close/.call/"));
  CHECK_FALSE(has(info.out, "/.reply/"));
}

TEST_CASE("recorded calls: orc play publishes them, and never calls", "[integration]") {
  const orc::detail::temporary_directory scratch;
  const std::string file = scratch.file("run.mcap");
  std::string record;
  {
    recorded_service side;
    call_reader reader(side.broker.options("reader"), name);
    REQUIRE(side.is_heard());
    CHECK(side.call(20));
    const orc::message sample = reader.next_sample();
    REQUIRE(sample);
    record.assign(static_cast<const char*>(sample.data()), sample.size());
  }
  // A recording of all that a client sent, as older recorders made them.
  const std::uint64_t id = 0x1234;
  const auto text = [](const std::vector<std::byte>& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  };
  const orc::detail::call_types types{orc::detail::call_type<recorded_gripper::close_request>::get().type.type,
                                      orc::detail::call_type<recorded_gripper::close_reply>::get().type.type};
  const std::string requests = orc::detail::call_topic(name, id);
  {
    recording_file made(file);
    made.sample(requests, 0,
                text(orc::detail::encode({.kind = call_kind::hello, .id = 1}, orc::detail::encode(types))));
    for (std::uint64_t call = 1; call <= 20; ++call) {
      made.sample(requests, 10.0 * static_cast<double>(call),
                  text(orc::detail::encode({.kind = call_kind::request,
                                            .id = call,
                                            .remaining_ns = 60'000'000'000,
                                            .type = orc::hash_of(types.request)},
                                           to_bytes(recorded_gripper::close_request{20}))));
    }
    made.sample("replayed/.calls", 250, record);
    made.close();
  }
  recorded_service side;
  orc::participant listener(side.broker.options("listener"));
  REQUIRE(listener.request_topic("replayed/.calls", {.conflate = 0}).result());
  const auto played = side.orc.run("$orc play --wait-for-subscribers " + file);
  INFO(played.err);
  CHECK(played.exit_code == 0);
  CHECK(has(played.err, "playing those of calls would call services again"));
  const orc::message again = listener.recv_msg("replayed/.calls", patience_ms);
  REQUIRE(again);
  CHECK(std::string(static_cast<const char*>(again.data()), again.size()) == record);
  // The server would have served these clients before this one.
  CHECK(side.call(20));
  CHECK(side.ran == 1);
}

TEST_CASE("recorded calls: orc service echo shows each call on a line", "[integration]") {
  recorded_service side;
  auto echo = side.orc.start({"service", "echo", name, "-n", "3"});
  REQUIRE(side.is_heard());
  CHECK(side.call(20));
  CHECK_FALSE(side.call(-1));
  CHECK_FALSE(side.call(101));
  const std::string out = echo.read_all();
  CHECK(exit_code_of(echo) == 0);
  INFO(out);
  CHECK(has(out, "arm ("));
  CHECK(has(out, R"({"force":20.0} -> {"width":10.0})"));
  CHECK(has(out, R"({"force":-1.0} -> exception std::out_of_range: force is below 0)"));
  CHECK(has(out, R"({"force":101.0} -> failed 7: it slipped)"));
  CHECK(std::ranges::count(out, '\n') == 3);
  CHECK_FALSE(has(out, "\x1b"));

  REQUIRE(side.is_left());
  auto json = side.orc.start({"service", "echo", name, "--json", "-n", "1"});
  REQUIRE(side.is_heard());
  CHECK(side.call(20));
  const std::string line = json.read_all();
  CHECK(exit_code_of(json) == 0);
  CHECK(is_json(side.orc, line));
  CHECK(has(line, R"("outcome":"ok")"));
  CHECK(has(line, R"("request":{"size":8,"cut":false,"value":{"force":20.0)"));
}

TEST_CASE("recorded calls: Ctrl-C ends orc service echo as orc topic echo", "[integration]") {
  recorded_service side;
  auto echo = side.orc.start({"service", "echo", name});
  REQUIRE(side.is_heard());
  echo.send_signal(SIGINT);
  CHECK(exit_code_of(echo) == 0);
  REQUIRE(side.is_left());
  auto some = side.orc.start({"service", "echo", name, "-n", "1"});
  REQUIRE(side.is_heard());
  some.send_signal(SIGINT);
  CHECK(exit_code_of(some) == 130);
}

TEST_CASE("recorded calls: orc service echo says how to switch them on", "[integration]") {
  recorded_service side(false);
  const auto off = side.orc.run("$orc service echo gripper/close");
  CHECK(off.exit_code == 1);
  CHECK(has(off.err, "service_options::recorded = true, in Python recorded=True"));
  const auto wrong = side.orc.run("$orc service echo gripper/clos");
  CHECK(wrong.exit_code == 3);
  CHECK(has(wrong.err, "did you mean gripper/close?"));
}

TEST_CASE("recorded calls: orc service echo does not believe a stranger", "[integration]") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant stranger(broker.options("stranger"));
  REQUIRE(stranger.register_topic(orc::call_record_topic(name)).result());  // while no program serves
  orc::participant server(broker.options("gripper"));
  call_counts counts;
  const auto service = server.serve(name, obeying(counts));
  REQUIRE(service.result());
  const auto echo = orc.run("$orc service echo gripper/close");
  CHECK(echo.exit_code == 1);
  CHECK(has(echo.err, "stranger ("));
  CHECK(has(echo.err, "not by the server, gripper ("));
  REQUIRE(stranger.unregister_topic(orc::call_record_topic(name)));
  CHECK(stranger.register_topic(orc::call_record_topic(name)).result().code() == orc::errc::name_taken);
}

TEST_CASE("recorded calls: orc service echo survives what a lying server publishes", "[integration]") {
  const broker_process broker;
  const tool orc(broker);
  orc::participant stranger(broker.options("stranger"));
  const std::string schema = R"({"x-orc-service":{"request":null,"reply":null,"interfaces":[]}})";
  REQUIRE(
      stranger.register_topic("bomb", {.type = {std::string(orc::service_type_name), "jsonschema", "json", schema}}));
  REQUIRE(stranger.register_topic("bomb/.calls"));
  auto echo = orc.start({"service", "echo", "bomb", "-n", "1"});
  REQUIRE(stranger.publisher("bomb/.calls").wait_readers(1, patience_ms));
  const std::string deep(500'000, '[');
  for (const std::string& bad : {std::string(), deep, R"({"client":)" + deep, std::string(2'000'000, ' '),
                                 std::string("{}"), std::string("\xff\xfe\x1b[2J")})
    REQUIRE(stranger.send_msg("bomb/.calls", bad.data(), bad.size()));
  const std::string good =
      R"({"client":{"name":"\u001b[2J\n","host":"h","pid":1},"connection":"0000000000000001","id":1,)"
      R"("received_ns":-9223372036854775808,"started_ns":1,"finished_ns":9223372036854775807,"deadline_ns":null,)"
      R"("code":200,"number":-5,"text":"\u0007","exception":"\n","cancelled":false,)"
      R"("request":{"size":18446744073709551615,"cut":true,"text":"\u001b]0;x\u0007"},"reply":null})";
  REQUIRE(stranger.send_msg("bomb/.calls", good.data(), good.size()));
  const std::string out = echo.read_all();
  CHECK(exit_code_of(echo) == 0);
  CHECK(std::ranges::count(out, '\n') == 7);  // a remark on each, and the call
  CHECK_FALSE(has(out, "\x1b"));
  CHECK_FALSE(has(out, "\x07"));
}

TEST_CASE("recorded calls: a call whose deadline passed before it began", "[integration]") {
  const broker_process broker;
  call_counts counts;
  orc::participant server(broker.options("server"));
  auto service = server.serve("late", obeying(counts), {.threads = 1, .recorded = true});
  REQUIRE(service.result());
  call_reader reader(broker.options("reader"), "late");
  REQUIRE(server.publisher("late/.calls").wait_readers(1, patience_ms));
  // A client that does not cancel.
  orc::participant client(broker.options("client"));
  const std::string to = orc::detail::call_topic("late", 0x1234);
  const std::string from = orc::detail::reply_topic("late", 0x1234);
  REQUIRE(client.request_topic(from, {.conflate = 0, .depth = 100}).result());
  REQUIRE(client.register_topic(to, {.keep_last = false}));
  REQUIRE(client.publisher(to).wait_readers(1, patience_ms));
  const auto wait_for = [&](call_kind kind) {
    for (;;) {
      const orc::message got = client.recv_msg(from, patience_ms);
      REQUIRE(got);
      if (const auto read = orc::detail::read_message(got.bytes()); read && read->header.kind == kind) return;
    }
  };
  const auto send = [&](const orc::detail::call_header& header, std::span<const std::byte> payload) {
    const auto bytes = orc::detail::encode(header, payload);
    REQUIRE(client.send_msg(to, bytes.data(), bytes.size()));
  };
  wait_for(call_kind::welcome);
  send({.kind = call_kind::hello, .id = 1}, orc::detail::encode(orc::detail::call_types{}));
  wait_for(call_kind::accepted);
  send({.kind = call_kind::request, .id = 1, .remaining_ns = 1, .type = orc::hash_of({})}, bytes_of({}));
  const orc::call_record late = reader.next();
  CHECK(late.error.code == orc::call_errc::deadline_exceeded);
  CHECK(late.cancelled);
  CHECK(late.started_ns == 0);
  CHECK(late.connection == 0x1234);
  send({.kind = call_kind::request, .id = 2, .remaining_ns = 1'000'000'000, .type = 5}, bytes_of({}));
  CHECK(reader.next().error.code == orc::call_errc::lost);  // its type was never accepted
  CHECK(counts.started == 0);
}
