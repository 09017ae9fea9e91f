// Both ends of a conversation, step by step. Whole ones on bad networks: tests/simulation.
#include "calls/client_conversation.h"
#include "calls/server_conversation.h"
#include "support/catch.h"

using namespace orc::detail;
using namespace std::chrono_literals;
using answer = server_check::answer::server;
using verdict = client_conversation::verdict;
using hello = server_conversation::hello;

namespace {

constexpr monotonic::time_point start{1h};

// A client with one pair of types that has confirmed the server's conversation 7.
struct linked_client : client_conversation {
  linked_client() {
    begin();
    (void)add_types(start);
    CHECK(take_welcome(7, start).check);
    check_begun();
    check_ended();
    CHECK(take_check(answer::same, true, start).greet);
  }
};

}  // namespace

TEST_CASE("calls conversation: a hello is repeated until it is answered", "[unit]") {
  linked_client client;
  int hellos = 0;
  for (auto now = start; now < start + 10s; now += 20ms) hellos += client.take_silence(true, true, now).greet ? 1 : 0;
  CHECK(hellos > 5);
  CHECK(hellos < 12);
  CHECK(client.take_verdict(1, 1, verdict::accepted));
  CHECK(client.may_send(1));
  CHECK_FALSE(client.take_silence(true, true, start + 20s).greet);
}

TEST_CASE("calls conversation: a client that lost the link asks who is there, and no more often than needed",
          "[unit]") {
  linked_client client;
  CHECK(client.follow_link(false).ends == client_conversation::end::link);
  CHECK_FALSE(client.take_silence(false, true, start + 1s).ask);  // there is no link
  CHECK_FALSE(client.take_silence(true, false, start + 1s).ask);  // nothing waits
  CHECK(client.take_silence(true, true, start + 1s).ask);
  CHECK_FALSE(client.take_silence(true, true, start + 1050ms).ask);
  CHECK(client.take_silence(true, true, start + 1100ms).ask);
  CHECK(client.take_name(7, start + 2s).check);  // the answer: it is asked again whose it is
}

TEST_CASE("calls conversation: another number ends all calls, and nothing of the old one holds", "[unit]") {
  linked_client client;
  CHECK(client.take_verdict(1, 1, verdict::accepted));
  const auto next = client.take_welcome(8, start + 1s);
  CHECK(next.ends == client_conversation::end::replaced);
  CHECK(next.check);
  CHECK_FALSE(client.may_send(1));
  CHECK(client.take_check(answer::no_broker, true, start + 1s).greet == false);  // it may be anyone's
  CHECK(client.is_unconfirmed());
}

TEST_CASE("calls conversation: a server that names no conversation changes nothing", "[unit]") {
  linked_client client;
  CHECK(client.take_name(0, start + 1s).ends == client_conversation::end::none);
  CHECK(client.is_linked());
}

TEST_CASE("calls conversation: a welcome of the same conversation is answered, so that it ends", "[unit]") {
  linked_client client;
  CHECK(client.take_verdict(1, 1, verdict::accepted));
  server_conversation server;
  CHECK(server.follow_link(true).welcome);
  CHECK(server.take_hello(1, 0) == hello::first);
  CHECK_FALSE(server.follow_link(true).welcome);
  CHECK(server.follow_link(false).has_gone);
  CHECK(server.follow_link(true).welcome);
  CHECK(client.take_welcome(7, start + 1s).ask);
  std::uint64_t missing = 0;
  CHECK(server.take_last_id(3, missing));
  CHECK(missing == 3);
  CHECK_FALSE(server.follow_link(true).welcome);
}

TEST_CASE("calls conversation: a hello that was accepted may come again and again, as on a slow way", "[unit]") {
  server_conversation server;
  (void)server.follow_link(true);
  for (std::uint64_t pair = 1; pair <= 64; ++pair) {
    CHECK(server.take_hello(pair, 0) == hello::first);
    CHECK(server.accept(pair, 100 + pair));
  }
  for (std::uint64_t n = 0; n < 1000; ++n) REQUIRE(server.take_hello(1 + n % 64, 0) == hello::repeated);
  // What is not accepted costs the reading of its types each time.
  std::size_t allowed = 0;
  while (allowed < 1000 && server.take_hello(65, 0) == hello::first) ++allowed;
  CHECK(allowed < 256);
  (void)server.follow_link(false);
  (void)server.follow_link(true);
  CHECK(server.take_hello(1, 0) == hello::first);  // over another link
}

TEST_CASE("calls conversation: before the first hello no request is missing", "[unit]") {
  server_conversation server;
  (void)server.follow_link(true);
  std::uint64_t missing = 0;
  CHECK(server.take_last_id(1000, missing));
  CHECK(missing == 0);
  CHECK(server.follow_link(true).welcome);  // the client has not introduced itself
  CHECK(server.take_hello(1, 1000) == hello::first);
  CHECK(server.take_request(1001, missing) == server_conversation::news::taken);
  CHECK(server.take_request(1001, missing) == server_conversation::news::bad);
  CHECK(server.take_request(1004, missing) == server_conversation::news::taken_after_a_gap);
  CHECK(missing == 2);
}
