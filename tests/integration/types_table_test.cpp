// Every case of schemas/golden/type_checks.json between two programs, whichever declares its end first.
#include <unistd.h>

#include <string>

#include "orc.h"
#include "orc/schema.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/type_check_cases.h"
#include "support/wait_until.h"

using namespace orc::test;
using orc::errc;

namespace {

const std::string in_table = "arm (4711)";
const std::string in_test = "arm (" + std::to_string(::getpid()) + ")";

std::string with_our_name(std::string text) {
  for (std::size_t at = text.find(in_table); at != std::string::npos; at = text.find(in_table, at + in_test.size()))
    text.replace(at, in_table.size(), in_test);
  return text;
}

struct outcome {
  errc code;
  std::string message;
};

outcome of(const orc::result& r) { return {r.code(), r ? std::string() : r.error().message()}; }

}  // namespace

TEST_CASE("types: every case of the table, with the publisher first and with the subscriber first",
          "[integration][threads]") {
  broker_process address_broker;
  orc::participant arm(address_broker.options("arm"));
  orc::participant viewer(address_broker.options("viewer"));
  const auto cases = type_check_cases();
  REQUIRE(cases.size() > 50);
  std::size_t checked = 0;
  for (const auto& each : cases) {
    if (each.publisher != in_table || !orc::check_schema(each.published) || !orc::check_schema(each.expected)) continue;
    INFO(each.name);
    ++checked;
    const std::string topic = "t" + std::to_string(checked);
    orc::topic_options offered;
    offered.type = each.published;
    orc::request_options wanted;
    wanted.type = each.expected;
    wanted.connected_within = patience;
    const bool matches = each.result == "ok";
    const auto is_right = [&](const outcome& got) {
      INFO(got.message);
      CHECK(got.code == (matches ? errc::ok : errc::type_mismatch));
      CHECK(got.message == (matches ? "" : "topic " + topic + ": " + with_our_name(each.message)));
    };

    REQUIRE(arm.register_topic(topic, offered));
    is_right(of(viewer.request_topic(topic, wanted).result()));
    REQUIRE(arm.unregister_topic(topic));
    REQUIRE(viewer.release_topic(topic));

    wanted.connected_within = std::chrono::milliseconds(0);
    REQUIRE(viewer.request_topic(topic, wanted).result());
    REQUIRE(arm.register_topic(topic, offered));
    is_right(of(viewer.subscriber(topic).wait_connected(patience_ms)));
    REQUIRE(arm.unregister_topic(topic));
    REQUIRE(viewer.release_topic(topic));
  }
  CHECK(checked > 50);
}
