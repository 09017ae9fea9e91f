// The messages of Foxglove clients, and what strangers send instead.
#include "tools/web/foxglove/foxglove_message.h"

#include <cstring>
#include <string>
#include <vector>

#include "json/base64.h"
#include "support/catch.h"

namespace {

using orc::web::foxglove_message;
using orc::web::foxglove_op;
using orc::web::foxglove_outcome;

struct read_foxglove {
  foxglove_outcome outcome;
  foxglove_message message;
  std::string problem;
};

read_foxglove text(std::string_view from) {
  read_foxglove found{};
  found.outcome = orc::web::read_foxglove_text(from, found.message, found.problem);
  return found;
}

read_foxglove binary(std::string_view from) {
  read_foxglove found{};
  found.outcome = orc::web::read_foxglove_binary(from, found.message, found.problem);
  return found;
}

template <class Number>
std::string little(Number number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

std::string playback(std::uint8_t command, float rate, std::uint8_t seeks, std::uint64_t time, const std::string& id) {
  return '\3' + little(command) + little(rate) + little(seeks) + little(time) +
         little(static_cast<std::uint32_t>(id.size())) + id;
}

}  // namespace

TEST_CASE("foxglove messages: subscriptions", "[web]") {
  const auto found =
      text(R"({"op":"subscribe","subscriptions":[{"id":0,"channelId":3},{"id":4294967295,"channelId":5}]})");
  REQUIRE(found.outcome == foxglove_outcome::ok);
  CHECK(found.message.op == foxglove_op::subscribe);
  REQUIRE(found.message.subscriptions.size() == 2);
  CHECK(found.message.subscriptions[0].channel == 3);
  CHECK(found.message.subscriptions[1].id == 4294967295);
  const auto ended = text(R"({"op":"unsubscribe","subscriptionIds":[1,2]})");
  REQUIRE(ended.outcome == foxglove_outcome::ok);
  CHECK(ended.message.ids == std::vector<std::uint32_t>{1, 2});
  CHECK(text(R"({"op":"subscribeConnectionGraph"})").message.op == foxglove_op::subscribe_graph);
}

TEST_CASE("foxglove messages: what clients publish", "[web]") {
  const auto found = text(R"({"op":"advertise","channels":[
    {"id":1,"topic":"a","encoding":"protobuf","schemaName":"A","schema":"AQID"},
    {"id":2,"topic":"b","encoding":"cdr","schemaName":"b/msg/B","schema":"int8 x","schemaEncoding":"ros2idl"},
    {"id":3,"topic":"c","encoding":"json","schemaName":"","schema":null}]})");
  REQUIRE(found.outcome == foxglove_outcome::ok);
  REQUIRE(found.message.channels.size() == 3);
  CHECK(found.message.channels[0].type == orc::type_description{"A", "protobuf", "protobuf", "\1\2\3"});
  CHECK(found.message.channels[1].type == orc::type_description{"b/msg/B", "ros2idl", "cdr", "int8 x"});
  CHECK(found.message.channels[2].type == orc::type_description{"", "", "json", ""});
  const auto sample = binary(std::string("\1\7\0\0\0abc", 8));
  REQUIRE(sample.outcome == foxglove_outcome::ok);
  CHECK(sample.message.op == foxglove_op::message);
  CHECK(sample.message.channel == 7);
  CHECK(sample.message.data.size() == 3);
}

TEST_CASE("foxglove messages: playback requests", "[web]") {
  const auto found = binary(playback(0, 2.5F, 1, 12345, "some-id"));
  REQUIRE(found.outcome == foxglove_outcome::ok);
  CHECK(found.message.playback.play);
  CHECK(found.message.playback.rate == 2.5F);
  CHECK(found.message.playback.seek_ns == 12345);
  CHECK(found.message.playback.id == "some-id");
  CHECK_FALSE(binary(playback(1, 1, 0, 12345, "")).message.playback.seek_ns);
  CHECK(binary(playback(2, 1, 0, 0, "")).outcome == foxglove_outcome::refused);
  CHECK(binary(playback(0, 1e9F, 0, 0, "")).outcome == foxglove_outcome::refused);
  CHECK(binary(playback(0, 1, 1, ~std::uint64_t{0}, "")).outcome == foxglove_outcome::refused);
  CHECK(binary(playback(0, 1, 0, 0, std::string(300, 'x'))).outcome == foxglove_outcome::refused);
  const std::string whole = playback(0, 1, 0, 0, "id");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    INFO(size);
    CHECK(binary(whole.substr(0, size)).outcome == foxglove_outcome::broken);
  }
}

TEST_CASE("foxglove messages: parameters", "[web]") {
  const auto get = text(R"({"op":"getParameters","parameterNames":["a","b/c"],"id":"x"})");
  REQUIRE(get.outcome == foxglove_outcome::ok);
  CHECK(get.message.op == foxglove_op::get_parameters);
  CHECK(get.message.names == std::vector<std::string>{"a", "b/c"});
  CHECK(get.message.request == "x");
  CHECK_FALSE(text(R"({"op":"getParameters","parameterNames":[]})").message.request);
  const auto set = text(R"({"op":"setParameters","parameters":[{"name":"a","value":2,"type":"float64"},
    {"name":"b","value":[1.5,2]},{"name":"c","value":"x"}]})");
  REQUIRE(set.outcome == foxglove_outcome::ok);
  REQUIRE(set.message.sets.size() == 3);
  CHECK(set.message.sets[0].name == "a");
  CHECK(set.message.sets[0].value == "2");
  CHECK(set.message.sets[1].value == "[1.5,2]");
  CHECK(set.message.sets[2].value == R"("x")");
  CHECK(text(R"({"op":"subscribeParameterUpdates","parameterNames":["a"]})").message.op ==
        foxglove_op::subscribe_parameters);
  CHECK(text(R"({"op":"unsubscribeParameterUpdates","parameterNames":["a"]})").message.op ==
        foxglove_op::unsubscribe_parameters);
  for (const char* const bad :
       {R"({"op":"getParameters"})", R"({"op":"getParameters","parameterNames":[1]})",
        R"({"op":"getParameters","parameterNames":[],"id":1})", R"({"op":"setParameters","parameters":[1]})",
        R"({"op":"setParameters","parameters":[{"name":"a"}]})", R"({"op":"setParameters","parameters":[{"value":1}]})",
        R"({"op":"setParameters","parameters":[{"name":"a","value":"AA==","type":"byte_array"}]})",
        R"({"op":"subscribeParameterUpdates"})"}) {
    INFO(bad);
    CHECK(text(bad).outcome == foxglove_outcome::refused);
  }
}

TEST_CASE("foxglove messages: service calls", "[web]") {
  const auto call = [](std::uint32_t size, const std::string& rest) {
    return '\2' + little(std::uint32_t{7}) + little(std::uint32_t{9}) + little(size) + rest;
  };
  const std::string whole = call(4, "json{}");
  const auto found = binary(whole);
  REQUIRE(found.outcome == foxglove_outcome::ok);
  CHECK(found.message.op == foxglove_op::call_service);
  CHECK(found.message.call.service == 7);
  CHECK(found.message.call.id == 9);
  CHECK(found.message.call.encoding == "json");
  CHECK(found.message.data.size() == 2);
  CHECK(binary(call(0, "")).outcome == foxglove_outcome::ok);
  CHECK(binary(call(65, std::string(65, 'x'))).outcome == foxglove_outcome::refused);
  CHECK(binary(call(0xffffffff, "json{}")).outcome == foxglove_outcome::broken);
  for (std::size_t size = 1; size < whole.size() - 2; ++size) {
    INFO(size);
    CHECK(binary(whole.substr(0, size)).outcome == foxglove_outcome::broken);
  }
}

TEST_CASE("foxglove messages: operations that cannot be", "[web]") {
  for (
      const char* const bad :
      {R"({})", R"({"op":5})", R"({"op":"fly"})", R"({"op":"subscribe"})", R"({"op":"subscribe","subscriptions":{}})",
       R"({"op":"subscribe","subscriptions":[7]})", R"({"op":"subscribe","subscriptions":[{"id":1}]})",
       R"({"op":"subscribe","subscriptions":[{"id":-1,"channelId":1}]})",
       R"({"op":"subscribe","subscriptions":[{"id":1,"channelId":4294967296}]})",
       R"({"op":"unadvertise","channelIds":["1"]})", R"({"op":"advertise","channels":[{"id":1}]})",
       R"({"op":"advertise","channels":[{"id":1,"topic":"a","encoding":"ros1","schemaName":""}]})",
       R"({"op":"advertise","channels":[{"id":1,"topic":"a","encoding":"protobuf","schemaName":"A","schema":"%"}]})"}) {
    INFO(bad);
    const auto found = text(bad);
    CHECK(found.outcome == foxglove_outcome::refused);
    CHECK_FALSE(found.problem.empty());
  }
  std::string many = R"({"op":"unsubscribe","subscriptionIds":[0)";
  for (int i = 0; i < 1024; ++i) many += ",1";
  CHECK(text(many + "]}").outcome == foxglove_outcome::refused);
  CHECK(binary("\xff").outcome == foxglove_outcome::refused);
}

TEST_CASE("foxglove messages: no messages at all", "[web]") {
  for (const std::string& bad : {std::string(), std::string("nothing"), std::string("[]"), std::string(60'000, '['),
                                 std::string("{\"op\":\"\xff\"}"), "{\"a\":" + std::string(100, '[')}) {
    INFO(bad.substr(0, 20));
    CHECK(text(bad).outcome == foxglove_outcome::broken);
  }
  CHECK(binary("").outcome == foxglove_outcome::broken);
  CHECK(binary(std::string("\1\0\0\0", 4)).outcome == foxglove_outcome::broken);
}

TEST_CASE("base64: bytes there and back", "[web]") {
  std::string bytes;
  for (int i = 0; i < 300; ++i) {
    std::string encoded = orc::detail::base64(bytes);
    CHECK(encoded.size() % 4 == 0);
    CHECK(orc::detail::from_base64(encoded) == bytes);
    while (encoded.ends_with('=')) encoded.pop_back();
    CHECK(orc::detail::from_base64(encoded) == bytes);
    bytes += static_cast<char>(i * 7);
  }
  CHECK(orc::detail::base64("any carnal pleas") == "YW55IGNhcm5hbCBwbGVhcw==");
  for (const char* const bad : {"A", "AAAAA", "AA A", "A===", "AAA\n", "=AAA"}) {
    INFO(bad);
    CHECK_FALSE(orc::detail::from_base64(bad));
  }
}
