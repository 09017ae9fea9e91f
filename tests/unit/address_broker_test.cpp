// The address broker in this process, spoken to by bare DEALER sockets.
#include "broker/address_broker.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.h"
#include "support/private_endpoint.h"
#include "support/raw_client.h"

using namespace orc;
using namespace std::chrono_literals;
using orc::test::contains;
using test::hello_of_this_process;
using test::private_endpoint;
using test::raw_client;

namespace {

struct running_broker {
  explicit running_broker(address_broker_options options = {}) {
    options.listen.push_back(place.endpoint());
    options.listen.emplace_back("tcp://127.0.0.1:*");
    auto started = address_broker::start(std::move(options));
    if (!started) FAIL(started.error().message());
    broker = *std::move(started);
  }
  [[nodiscard]] const std::string& endpoint() const { return place.endpoint(); }
  [[nodiscard]] const std::string& tcp_endpoint() const { return broker->endpoints().at(1); }

  private_endpoint place;
  std::unique_ptr<address_broker> broker;
};

wire::welcome join(raw_client& client, const wire::hello& who) {
  auto answer = client.ask(who);
  REQUIRE(std::holds_alternative<wire::welcome>(answer));
  return std::get<wire::welcome>(answer);
}

wire::register_topic registration(const std::string& topic, const std::string& address = "tcp://127.0.0.1:1") {
  return {topic, wire::id::random(), {{wire::transport::tcp, address}}, {}};
}

wire::topic_state state_in(const std::optional<wire::envelope>& message) {
  REQUIRE(message);
  CHECK(message->request == 0);
  REQUIRE(std::holds_alternative<wire::topic_state>(message->content));
  return std::get<wire::topic_state>(message->content);
}

template <class Expected>
Expected expect(wire::body answer) {
  if (auto* wrong = std::get_if<wire::error>(&answer); wrong != nullptr && !std::is_same_v<Expected, wire::error>) {
    FAIL(wrong->text);
  }
  REQUIRE(std::holds_alternative<Expected>(answer));
  return std::get<Expected>(std::move(answer));
}

wire::hello on_another_host(const std::string& name) {
  auto who = hello_of_this_process(name);
  who.host = "another-host:1";
  return who;
}

}  // namespace

TEST_CASE("address broker: hello is answered with the epoch and the times", "[threads]") {
  running_broker b;
  raw_client client(b.endpoint());
  const auto welcome = join(client, hello_of_this_process());
  CHECK(welcome.epoch == b.broker->epoch());
  CHECK(welcome.lease_ms == 3'000);
  CHECK(welcome.heartbeat_ms == 1'000);
  CHECK_FALSE(welcome.remote);
}

TEST_CASE("address broker: the empty message of a new connection is answered with a pushed welcome", "[threads]") {
  running_broker b;
  raw_client client(b.endpoint(), true);
  const auto greeting = client.next_event();
  REQUIRE(greeting);
  CHECK(greeting->request == 0);
  CHECK(std::get<wire::welcome>(greeting->content).epoch == b.broker->epoch());
}

TEST_CASE("address broker: a restarted broker greets those who come back with another epoch", "[threads]") {
  private_endpoint place;
  address_broker_options options;
  options.listen = {place.endpoint()};
  auto first = *address_broker::start(options);
  raw_client client(place.endpoint(), true);
  REQUIRE(std::get<wire::welcome>(client.next_event()->content).epoch == first->epoch());
  first.reset();
  const auto second = *address_broker::start(options);
  CHECK(std::get<wire::welcome>(client.next_event()->content).epoch == second->epoch());
  const auto wrong = expect<wire::error>(client.ask(wire::heartbeat{}));
  CHECK(wrong.code == wire::error_code::unknown_participant);
}

TEST_CASE("address broker: a reader hears of a topic that comes, moves and goes", "[threads]") {
  running_broker b;
  raw_client reader(b.endpoint());
  raw_client writer(b.endpoint());
  join(reader, hello_of_this_process("reader"));
  join(writer, hello_of_this_process("writer"));
  const auto before = expect<wire::topic_state>(reader.ask(wire::request_topic{"t", wire::id::random()}));
  CHECK_FALSE(before.publication);

  auto request = registration("t", "tcp://127.0.0.1:1");
  expect<wire::topic_state>(writer.ask(request));
  auto event = state_in(reader.next_event());
  REQUIRE(event.publication);
  CHECK(event.publication->participant_name == "writer");
  CHECK(event.publication->endpoints == request.endpoints);

  request.endpoints[0].address = "tcp://127.0.0.1:2";
  expect<wire::topic_state>(writer.ask(request));
  CHECK(state_in(reader.next_event()).publication->endpoints == request.endpoints);

  expect<wire::ack>(writer.ask(wire::unregister_topic{"t", request.publication}));
  CHECK_FALSE(state_in(reader.next_event()).publication);

  expect<wire::topic_state>(writer.ask(request));
  CHECK(state_in(reader.next_event()).publication);
  expect<wire::ack>(writer.ask(wire::goodbye{}));
  CHECK_FALSE(state_in(reader.next_event()).publication);
}

TEST_CASE("address broker: a second live publisher on this host is refused at once and told who holds the topic",
          "[threads]") {
  address_broker_options options;
  options.probe_timeout = 10min;  // no probe is needed, or this test would not end
  running_broker b(options);
  raw_client first(b.endpoint());
  raw_client second(b.endpoint());
  join(first, hello_of_this_process("the_first"));
  join(second, hello_of_this_process("the_second"));
  expect<wire::topic_state>(first.ask(registration("robot/state")));
  const auto wrong = expect<wire::error>(second.ask(registration("robot/state")));
  CHECK(wrong.code == wire::error_code::name_taken);
  for (const auto& part : {std::string("robot/state"), std::string("the_first"), std::to_string(getpid())}) {
    CHECK_THAT(wrong.text, contains(part));
  }
}

namespace {

// A process that waits to be killed, and the participant that it claims to be. This process speaks for it, over tcp,
// where the kernel does not tell the pid: the broker judges by pid and start time, and a forked child may not start the
// threads of libzmq under ThreadSanitizer.
struct doomed {
  doomed(const std::string& endpoint, const std::string& topic) : child(waiting_child()), client(endpoint) {
    auto who = hello_of_this_process("doomed");
    who.pid = static_cast<std::uint32_t>(child);
    who.start_time = orc::detail::process_start_time(who.pid).value_or(0);
    client.ask(who);
    client.ask(wire::register_topic{topic, wire::id::random(), {}, {}});
  }

  // The child must not come to the constructor of the client.
  static pid_t waiting_child() {
    const pid_t made = fork();
    if (made == 0) {
      for (;;) pause();
    }
    return made;
  }

  const pid_t child;
  raw_client client;
};

}  // namespace

TEST_CASE("address broker: the topic of a killed process is free at once", "[threads]") {
  const bool reaped = GENERATE(true, false);  // a zombie is dead too
  address_broker_options options;
  options.lease = options.heartbeat = options.probe_timeout = 10min;  // neither lease nor probe nor tick helps
  running_broker b(options);
  raw_client reader(b.endpoint());
  join(reader, hello_of_this_process("reader"));
  expect<wire::topic_state>(reader.ask(wire::request_topic{"t", wire::id::random()}));
  const doomed holder(b.tcp_endpoint(), "t");
  const pid_t child = holder.child;
  REQUIRE(child > 0);
  CHECK(state_in(reader.next_event()).publication->participant_name == "doomed");
  REQUIRE(kill(child, SIGKILL) == 0);
  siginfo_t ended{};
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | (reaped ? 0 : WNOWAIT)) == 0);

  expect<wire::topic_state>(reader.ask(registration("t")));
  CHECK_FALSE(state_in(reader.next_event()).publication);
  CHECK(state_in(reader.next_event()).publication->participant_name == "reader");
  if (!reaped) waitpid(child, nullptr, 0);
}

TEST_CASE("address broker: the death of a process on this host is noticed without anybody asking", "[threads]") {
  address_broker_options options;
  options.lease = 10min;
  options.heartbeat = 20ms;
  running_broker b(options);
  raw_client reader(b.endpoint());
  join(reader, hello_of_this_process("reader"));
  expect<wire::topic_state>(reader.ask(wire::request_topic{"t", wire::id::random()}));
  const doomed holder(b.tcp_endpoint(), "t");
  const pid_t child = holder.child;
  REQUIRE(child > 0);
  CHECK(state_in(reader.next_event()).publication);
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  CHECK_FALSE(state_in(reader.next_event()).publication);
}

TEST_CASE("address broker: a silent participant on another host loses its lease", "[threads]") {
  address_broker_options options;
  options.lease = 100ms;
  options.heartbeat = 20ms;
  running_broker b(options);
  raw_client writer(b.endpoint());
  raw_client tool(b.endpoint());
  join(writer, on_another_host("writer"));
  expect<wire::topic_state>(writer.ask(registration("t")));
  const auto deadline = std::chrono::steady_clock::now() + test::generous;
  while (std::holds_alternative<wire::topic_state>(tool.ask(wire::describe_topic{"t"}))) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
  }
  CHECK(expect<wire::error>(writer.ask(wire::heartbeat{})).code == wire::error_code::unknown_participant);
}

TEST_CASE("address broker: a holder on another host that answers the probe keeps its topic", "[threads]") {
  address_broker_options options;
  options.probe_timeout = 10min;
  running_broker b(options);
  raw_client holder(b.endpoint());
  raw_client rival(b.endpoint());
  join(holder, on_another_host("holder"));
  join(rival, hello_of_this_process("rival"));
  expect<wire::topic_state>(holder.ask(registration("t")));

  const auto request = registration("t");
  rival.send(501, request);
  const auto probe = holder.next_event();
  REQUIRE(probe);
  REQUIRE(std::holds_alternative<wire::probe>(probe->content));
  CHECK(probe->request != 0);
  rival.send(502, request);                                  // a retry while the probe is pending
  expect<wire::topic_list>(rival.ask(wire::list_topics{}));  // the broker goes on; the retry has been read
  holder.send(probe->request, wire::alive{});
  const auto wrong = expect<wire::error>(rival.answer_to(502));
  CHECK(wrong.code == wire::error_code::name_taken);
  CHECK_THAT(wrong.text, contains("another-host:1"));
  // only one probe was sent: the next thing the holder hears is the answer to its own question
  holder.send(9, wire::heartbeat{});
  CHECK(holder.next_event()->request == 9);
}

TEST_CASE("address broker: a holder on another host that does not answer the probe is taken over", "[threads]") {
  address_broker_options options;
  options.probe_timeout = 50ms;
  options.lease = 10min;
  running_broker b(options);
  raw_client holder(b.endpoint());
  raw_client rival(b.endpoint());
  join(holder, on_another_host("holder"));
  join(rival, hello_of_this_process("rival"));
  expect<wire::topic_state>(holder.ask(registration("t")));
  const auto request = registration("t");
  const auto state = expect<wire::topic_state>(rival.ask(request));
  CHECK(state.publication->publication == request.publication);
  CHECK(std::holds_alternative<wire::probe>(holder.next_event()->content));
  CHECK(expect<wire::error>(holder.ask(wire::heartbeat{})).code == wire::error_code::unknown_participant);
  CHECK(b.broker->stats().takeovers == 1);
}

TEST_CASE("address broker: a holder that gives the topic up while it is probed makes way", "[threads]") {
  address_broker_options options;
  options.probe_timeout = 10min;
  running_broker b(options);
  raw_client holder(b.endpoint());
  raw_client rival(b.endpoint());
  join(holder, on_another_host("holder"));
  join(rival, hello_of_this_process("rival"));
  expect<wire::topic_state>(holder.ask(registration("t")));
  rival.send(501, registration("t"));
  REQUIRE(std::holds_alternative<wire::probe>(holder.next_event()->content));
  holder.send(1'000, wire::goodbye{});
  CHECK(expect<wire::topic_state>(rival.answer_to(501)).publication->participant_name == "rival");
}

TEST_CASE("address broker: heartbeats carry counters to those who ask", "[threads]") {
  running_broker b;
  raw_client writer(b.endpoint());
  join(writer, hello_of_this_process("writer"));
  const auto request = registration("t");
  expect<wire::topic_state>(writer.ask(request));
  expect<wire::ack>(writer.ask(wire::heartbeat{{{request.publication, 1, 100, 1'000, 2, 3}}, {}}));
  raw_client tool(b.endpoint());  // tools need no Hello
  const auto list = expect<wire::topic_list>(tool.ask(wire::list_topics{}));
  REQUIRE(list.topics.size() == 1);
  CHECK(list.topics[0].publication->counters->sent == 100);
  CHECK(list.participants == 1);
  CHECK(list.epoch == b.broker->epoch());
  CHECK(expect<wire::topic_state>(tool.ask(wire::describe_topic{"t"})).publication->counters->bytes == 1'000);
  CHECK(expect<wire::error>(tool.ask(wire::describe_topic{"u"})).code == wire::error_code::unknown_topic);
}

TEST_CASE("address broker: a participant that reconnects under its id still gets its events", "[threads]") {
  running_broker b;
  const auto who = hello_of_this_process("reader");
  auto first = std::make_unique<raw_client>(b.endpoint());
  join(*first, who);
  expect<wire::topic_state>(first->ask(wire::request_topic{"t", wire::id::random()}));
  raw_client second(b.endpoint());
  join(second, who);
  first.reset();
  raw_client writer(b.endpoint());
  join(writer, hello_of_this_process("writer"));
  expect<wire::topic_state>(writer.ask(registration("t")));
  CHECK(state_in(second.next_event()).publication);
}

TEST_CASE("address broker: a free port is found and told; other hosts are promised only where they can come",
          "[threads]") {
  private_endpoint place;
  address_broker_options options;
  options.listen = {place.endpoint(), "tcp://127.0.0.1:*"};
  auto local = *address_broker::start(options);
  REQUIRE(local->endpoints().size() == 2);
  CHECK(local->endpoints()[0] == place.endpoint());
  CHECK_THAT(local->endpoints()[1], Catch::Matchers::StartsWith("tcp://127.0.0.1:") && !contains("*"));
  raw_client client(local->endpoints()[1]);
  CHECK_FALSE(join(client, hello_of_this_process()).remote);

  options.listen = {"tcp://0.0.0.0:*"};
  auto open = *address_broker::start(options);
  const auto port = open->endpoints()[0].substr(open->endpoints()[0].rfind(':'));
  raw_client other("tcp://127.0.0.1" + port);
  CHECK(join(other, hello_of_this_process()).remote);
}

TEST_CASE("address broker: stop is quick, may be repeated, and leaves no files", "[threads]") {
  running_broker b;
  b.broker->stop();
  b.broker->stop();
  CHECK(access((b.place.directory() + "/broker").c_str(), F_OK) != 0);
  CHECK(access((b.place.directory() + "/broker.lock").c_str(), F_OK) != 0);
  CHECK(b.broker->endpoints().size() == 2);
}
