// contract.md 7: the link comes up when both ends exist, over the best transport that both allow, and nobody is deaf.
#include <string>

#include "orc.h"
#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

TEST_CASE("join: without a wish the best transport is taken: inproc in one process, ipc between two",
          "[integration][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  test_node far;
  far.must("open " + address_broker.endpoint());
  REQUIRE(sender.register_topic("t"));
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  CHECK(receiver.subscriber("t").link().transport == orc::transport::inproc);
  far.must("request t any 1 64 " + std::to_string(patience_ms));
  CHECK(far.ask("link t").starts_with("ipc "));
  REQUIRE(sender.send_msg("t", "x", 1));
  CHECK(receiver.recv_msg("t", patience_ms));
  CHECK(far.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 "));
}

TEST_CASE("join: one topic, readers on every transport at once", "[integration][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  REQUIRE(
      sender.register_topic("t", {.transports = {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp}}));
  std::vector<std::unique_ptr<orc::participant>> receivers;
  for (const auto kind : {orc::transport::inproc, orc::transport::ipc, orc::transport::tcp}) {
    auto receiver = std::make_unique<orc::participant>(address_broker.options());
    REQUIRE(receiver->request_topic("t", {.connected_within = patience, .transports = {kind}}).result());
    CHECK(receiver->subscriber("t").link().transport == kind);
    receivers.push_back(std::move(receiver));
  }
  auto publisher = sender.publisher("t");
  CHECK(wait_until([&] { return publisher.readers() == 3; }));
  for (std::uint64_t value = 1; value <= rounds(1000, 50'000); ++value) {
    REQUIRE(send_value(publisher, value));
    for (auto& receiver : receivers) REQUIRE(value_of(receiver->recv_msg("t", patience_ms)) == value);
  }
}

TEST_CASE("join: transports that both sides exclude leave the request without a link, and say why",
          "[integration][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  REQUIRE(sender.register_topic("t", {.transports = {orc::transport::ipc}}));
  const auto never =
      receiver
          .request_topic("t", {.connected_within = std::chrono::milliseconds(200), .transports = {orc::transport::tcp}})
          .result();
  CHECK(never.code() == orc::errc::timed_out);
  const auto info = receiver.subscriber("t").link();
  CHECK(!info.connected);
  INFO(info.reason);
  CHECK(info.reason.find("ipc") != std::string::npos);
}

TEST_CASE("join: options of the participant and of the environment limit the transports", "[integration][threads]") {
  broker_process address_broker;
  auto options = address_broker.options();
  options.transports = {orc::transport::tcp};
  orc::participant sender(options);
  orc::participant receiver(address_broker.options());
  REQUIRE(sender.register_topic("t"));
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  CHECK(receiver.subscriber("t").link().transport == orc::transport::tcp);

  test_node limited({}, {"ORC_TRANSPORTS=tcp"});
  limited.must("open " + address_broker.endpoint());
  limited.must("request t any 1 64 " + std::to_string(patience_ms));
  CHECK(limited.ask("link t").starts_with("tcp "));
}

TEST_CASE("join: the broker's map shows publication, subscriptions and counters", "[integration][threads]") {
  broker_process address_broker;
  orc::participant sender(address_broker.options("the_sender"));
  orc::participant receiver(address_broker.options("the_receiver"));
  orc::topic_options offered;
  offered.type = {.name = "test.Value", .schema_encoding = "text", .message_encoding = "raw", .schema = "u64"};
  REQUIRE(sender.register_topic("t", offered));
  REQUIRE(receiver.request_topic("t", {.connected_within = patience}).result());
  auto publisher = sender.publisher("t");
  auto subscriber = receiver.subscriber("t");
  for (std::uint64_t value = 1; value <= 100; ++value) {
    REQUIRE(send_value(publisher, value));
    REQUIRE(value_of(subscriber.recv(patience_ms)) == value);
  }
  raw_client client(address_broker.endpoint());
  orc::wire::topic_state state;
  CHECK(wait_until([&] {
    state = described(client, "t");
    return state.publication && state.publication->counters && state.publication->counters->sent == 100 &&
           state.subscriptions.size() == 1 && state.subscriptions[0].counters &&
           state.subscriptions[0].counters->received == 100;
  }));
  REQUIRE(state.publication);
  CHECK(state.publication->participant_name == "the_sender");
  CHECK(state.publication->counters->bytes == 800);
  CHECK(state.publication->counters->readers == 1);
  REQUIRE(state.publication->type);
  CHECK(state.publication->type->name == "test.Value");
  CHECK(state.publication->type->schema_size == 3);
  REQUIRE(state.subscriptions.size() == 1);
  CHECK(state.subscriptions[0].participant_name == "the_receiver");
  CHECK(state.subscriptions[0].counters->bytes == 800);
  CHECK(state.subscriptions[0].counters->missed == 0);
  CHECK(state.subscriptions[0].counters->malformed == 0);
  CHECK(state.subscriptions[0].counters->transport == orc::wire::transport::inproc);

  REQUIRE(sender.unregister_topic("t"));
  CHECK(wait_until([&] { return !described(client, "t").publication; }));
  REQUIRE(receiver.release_topic("t"));
  CHECK(wait_until([&] { return described(client, "t").subscription_count == 0; }));
}
