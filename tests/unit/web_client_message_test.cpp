// The messages of the page, and what strangers send instead.
#include "tools/web/page_protocol/client_message.h"

#include <string>

#include "support/catch.h"

namespace {

using orc::web::client_message;
using orc::web::client_op;
using orc::web::parse_outcome;

struct read_message {
  parse_outcome outcome;
  client_message message;
  std::string problem;
};

read_message read(std::string_view text) {
  read_message found{};
  found.outcome = orc::web::parse(text, found.message, found.problem);
  return found;
}

}  // namespace

TEST_CASE("web messages: what the page sends", "[web]") {
  const auto plot = read(R"({"op":"plot","id":7,"topic":"arm/state","field":"q[0]","per_second":60.5})");
  REQUIRE(plot.outcome == parse_outcome::ok);
  CHECK(plot.message.op == client_op::plot);
  CHECK(plot.message.id == 7);
  CHECK(plot.message.topic == "arm/state");
  CHECK(plot.message.field == "q[0]");
  CHECK(plot.message.number == 60.5);
  const auto seek = read(R"({"op":"seek","time":"1767323045000000001"})");
  REQUIRE(seek.outcome == parse_outcome::ok);
  CHECK(seek.message.time_ns == 1767323045000000001);
  const auto publish = read(R"({"op":"publish","topic":"a","value":{"big":18446744073709551615,"x":[1,2.5]}})");
  REQUIRE(publish.outcome == parse_outcome::ok);
  CHECK(publish.message.value == R"({"big":18446744073709551615,"x":[1,2.5]})");
  CHECK(read(R"({"op":"image","id":1,"topic":"c","width":640,"height":480,"encoding":"bgr8"})").outcome ==
        parse_outcome::ok);
  const auto call = read(R"({"op":"call","id":3,"name":"gripper/close","value":{"force":20},"deadline":0.5})");
  REQUIRE(call.outcome == parse_outcome::ok);
  CHECK(call.message.op == client_op::call);
  CHECK(call.message.id == 3);
  CHECK(call.message.name == "gripper/close");
  CHECK(call.message.value == R"({"force":20})");
  CHECK(call.message.number == 0.5);
  const auto set = read(R"({"op":"set","id":4,"name":"pid/gain","value":2.5})");
  REQUIRE(set.outcome == parse_outcome::ok);
  CHECK(set.message.name == "pid/gain");
  CHECK(set.message.value == "2.5");
  CHECK(read(R"({"op":"cancel","id":4})").message.op == client_op::cancel);
  CHECK(read(R"({"op":"parameters","on":true})").message.on);
  CHECK(read(R"({"op":"services","on":true})").message.on);
  CHECK(read(R"({"op":"system","on":true})").message.on);
  CHECK(read(R"({"op":"ping"})").message.op == client_op::ping);
}

TEST_CASE("web messages: wrong fields are named", "[web]") {
  const auto missing = read(R"({"op":"open","id":3})");
  CHECK(missing.outcome == parse_outcome::bad_field);
  CHECK(missing.message.id == 3);
  CHECK(missing.message.op_name == "open");
  CHECK(missing.problem == "\"topic\" is missing");
  CHECK(read(R"({"op":"fly"})").problem == "there is no such \"op\"");
  CHECK(read(R"({})").problem == "\"op\" is missing");
  for (const char* bad : {R"({"op":"call","id":1,"name":"a","value":1})",
                          R"({"op":"call","id":1,"name":"a","value":1,"deadline":3601})",
                          R"({"op":"call","id":1,"name":7,"value":1,"deadline":1})",
                          R"({"op":"set","id":1,"name":"a"})",
                          R"({"op":"set","name":"a","value":1})",
                          R"({"op":"cancel"})",
                          R"({"op":"services"})",
                          R"({"op":"open","id":-1,"topic":"a"})",
                          R"({"op":"open","id":4294967296,"topic":"a"})",
                          R"({"op":"open","id":1.5,"topic":"a"})",
                          R"({"op":"open","id":"1","topic":"a"})",
                          R"({"op":"open","id":1,"topic":7})",
                          R"({"op":"plot","id":1,"topic":"a","field":"b","per_second":0})",
                          R"({"op":"plot","id":1,"topic":"a","field":"b","per_second":1e400})",
                          R"({"op":"seek","time":"12x"})",
                          R"({"op":"seek","time":12})",
                          R"({"op":"seek","time":"99999999999999999999"})",
                          R"({"op":"image","id":1,"topic":"a","width":0})",
                          R"({"op":"image","id":1,"topic":"a","encoding":"gif"})",
                          R"({"op":"system","on":1})",
                          R"({"op":7})"}) {
    INFO(bad);
    CHECK(read(bad).outcome != parse_outcome::ok);
  }
}

TEST_CASE("web messages: what is no message", "[web]") {
  for (const char* bad : {"", "x", "[]", "7", "null", "\"op\"", "{\"op\":\"ping\"", "{\"op\":\"ping\"}}", "{'op':1}"}) {
    INFO(bad);
    CHECK(read(bad).outcome == parse_outcome::not_json);
  }
  CHECK(read(std::string(30'000, '[')).outcome == parse_outcome::not_json);
  CHECK(read("{\"op\":\"publish\",\"topic\":\"a\",\"value\":" + std::string(100, '[') + std::string(100, ']') + "}")
            .outcome == parse_outcome::not_json);
  CHECK(read("{\"op\":\"ping\"" + std::string(orc::web::max_message_bytes, ' ') + "}").outcome ==
        parse_outcome::not_json);
}
