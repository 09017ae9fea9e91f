// When the ways to a publication are tried, and which one is chosen.
#include "core/links/link_selector.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/fake_transport.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

constexpr auto start = monotonic::time_point() + 1h;
const wire::endpoint over_ipc{wire::transport::ipc, "ipc:///a"};
const wire::endpoint over_tcp{wire::transport::tcp, "tcp://127.0.0.1:1"};

// Links that wait for an answer, until the test gives one.
std::shared_ptr<fake_publisher> silent_publisher() {
  auto publisher = std::make_shared<fake_publisher>();
  publisher->state = link_state::connecting;
  return publisher;
}

// A selector over ipc and tcp that looks for a publication on both.
struct fixture {
  fixture() {
    for (const auto& each : {ipc, tcp}) each->next = silent_publisher;
    selector.aim(publication, {over_tcp, over_ipc}, 0);
  }
  fake_publisher& first(const std::shared_ptr<fake_transport::record>& over) const { return *over->publishers.front(); }

  fake_transports transports;
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  std::shared_ptr<fake_transport::record> tcp = transports.add(wire::transport::tcp);
  const wire::id publication = wire::id::random();
  link_selector selector{{}, {}, transports.list()};
};

const orc::error crowded(errc::timed_out, "too many others wait to connect");

}  // namespace

TEST_CASE("link selector: a full queue is asked again and again before the next way is tried", "[unit]") {
  fixture f;
  f.ipc->refusal = crowded;
  f.tcp->refusal = crowded;
  auto now = start;
  for (std::size_t attempt = 1; attempt <= link_selector::max_crowded; ++attempt) {
    CHECK_FALSE(f.selector.step(now));
    CHECK(f.ipc->asked.size() == attempt);
    CHECK(f.tcp->asked.empty());
    REQUIRE(f.selector.next_step());
    CHECK(*f.selector.next_step() == now + link_selector::crowd_pause);
    CHECK_FALSE(f.selector.step(now + link_selector::crowd_pause - 1ms));  // too early
    CHECK(f.ipc->asked.size() == attempt);
    now += link_selector::crowd_pause;
  }
  CHECK(now - start <= link_selector::patience);
  CHECK_FALSE(f.selector.step(now));
  CHECK(f.tcp->asked.size() == 1);
  CHECK(f.selector.notes(now).find("too many others wait") != std::string::npos);
}

TEST_CASE("link selector: its own user reads of every address, others of every transport", "[unit]") {
  fake_transports transports;
  for (const auto name : {wire::transport::shm, wire::transport::ipc}) transports.add(name);
  const auto tcp = transports.add(wire::transport::tcp);
  tcp->refusal = crowded;
  link_selector selector({}, orc::transport_set{orc::transport::shm, orc::transport::tcp}, transports.list());
  selector.aim(wire::id::random(),
               {over_tcp, {wire::transport::tcp, "tcp://127.0.0.1:2"}, {wire::transport::tcp, "tcp://127.0.0.1:2"}}, 0);
  const std::string told_to_others = "shm: not offered; ipc: not asked for; tcp: not reachable";
  CHECK(selector.notes(start) ==
        "shm: not offered; ipc: not asked for; tcp 127.0.0.1:1: not tried yet; tcp 127.0.0.1:2: not tried yet");
  CHECK(selector.public_notes() == told_to_others);
  CHECK_FALSE(selector.step(start));
  CHECK(tcp->asked.size() == 1);
  CHECK(selector.notes(start).find("tcp 127.0.0.1:1: too many others wait to connect; tcp 127.0.0.1:2: "
                                   "not tried yet") != std::string::npos);
  CHECK(selector.public_notes() == told_to_others);
}

TEST_CASE("link selector: the first transport that answers is chosen, and the search is over", "[unit]") {
  fixture f;
  f.ipc->next = [] { return std::make_shared<fake_publisher>(); };
  const auto chosen = f.selector.step(start);
  REQUIRE(chosen);
  CHECK(chosen->where == over_ipc);
  CHECK_FALSE(chosen->first);
  CHECK(f.tcp->asked.empty());
  CHECK(f.ipc->asked.front().publication == f.publication);
  CHECK_FALSE(f.selector.aiming());
  CHECK_FALSE(f.selector.next_step());
  CHECK_FALSE(f.selector.step(start + 1h));
}

TEST_CASE("link selector: a sample may arrive before the answer, and comes with the choice", "[unit]") {
  fixture f;
  CHECK_FALSE(f.selector.step(start));
  f.first(f.ipc).send(5);
  const auto chosen = f.selector.step(start + 1ms);
  REQUIRE(chosen);
  REQUIRE(chosen->first);
  CHECK(chosen->first->sequence == 5);
}

TEST_CASE("link selector: a way that does not answer does not keep the next one from being tried", "[unit]") {
  fixture f;
  CHECK_FALSE(f.selector.step(start));
  CHECK_FALSE(f.selector.step(start + link_selector::patience - 1ms));
  CHECK(f.tcp->asked.empty());
  CHECK_FALSE(f.selector.step(start + link_selector::patience));
  REQUIRE(f.tcp->asked.size() == 1);
  CHECK(f.first(f.ipc).is_open);  // it may still answer
  f.first(f.tcp).state = link_state::connected;
  const auto chosen = f.selector.step(start + link_selector::patience + 1ms);
  REQUIRE(chosen);
  CHECK(chosen->where == over_tcp);
  CHECK_FALSE(f.first(f.ipc).is_open);
  CHECK(chosen->reason.find("ipc /a: no answer for 0.5 s") != std::string::npos);
}

TEST_CASE("link selector: a way that refuses makes room for the next one at once", "[unit]") {
  fixture f;
  CHECK_FALSE(f.selector.step(start));
  f.first(f.ipc).state = link_state::refused;
  f.first(f.ipc).end = {link_end::cause::no_room};
  CHECK_FALSE(f.selector.step(start + 1ms));
  CHECK(f.tcp->asked.size() == 1);
  CHECK_FALSE(f.first(f.ipc).is_open);
  CHECK(f.selector.notes(start).find("no room") != std::string::npos);
}

TEST_CASE("link selector: while the publication prepares for this end, no other way is tried", "[unit]") {
  fixture f;
  CHECK_FALSE(f.selector.step(start));
  f.first(f.ipc).expected = true;
  for (int n = 1; n < 10; ++n) CHECK_FALSE(f.selector.step(start + n * link_selector::patience));
  CHECK(f.tcp->asked.empty());
}

TEST_CASE("link selector: over a network a silent connection gets another one beside it, and no more", "[unit]") {
  fixture f;
  auto now = start;
  for (int n = 0; n < 20; ++n) {
    CHECK_FALSE(f.selector.step(now));
    REQUIRE(f.selector.next_step());
    now = *f.selector.next_step();
  }
  CHECK(f.ipc->asked.size() == 1);
  CHECK(f.tcp->asked.size() > 5);
  const auto& all = f.tcp->publishers;
  CHECK(std::count_if(all.begin(), all.end(), [](const auto& each) { return each->is_open; }) ==
        link_selector::max_asked);
}

TEST_CASE("link selector: after some rounds without success there is one a second", "[unit]") {
  fixture f;
  for (const auto& each : {f.ipc, f.tcp}) each->refusal = orc::error(errc::refused, "no way");
  auto now = start;
  for (int n = 0; n < 20; ++n) {
    CHECK_FALSE(f.selector.step(now));
    now = *f.selector.next_step();
  }
  const auto before = f.ipc->asked.size();
  const auto since = now;
  for (int n = 0; n < 10; ++n) {
    CHECK_FALSE(f.selector.step(now));
    now = *f.selector.next_step();
  }
  CHECK(f.ipc->asked.size() == before + 10);
  CHECK(now - since == 10 * link_selector::pause);
  REQUIRE(f.selector.failure());
  CHECK(f.selector.failure()->message() == "no way");
}

TEST_CASE("link selector: it does not begin before its time, nor once it should stop", "[unit]") {
  fixture f;
  f.selector.aim(f.publication, {over_ipc}, 0, start + 1s);
  CHECK_FALSE(f.selector.step(start));
  CHECK(f.ipc->asked.empty());
  CHECK(f.selector.next_step() == start + 1s);
  CHECK_FALSE(f.selector.step(start + 1s));
  CHECK(f.selector.waits());
  f.selector.try_no_more();  // but what is under way may succeed
  CHECK_FALSE(f.selector.step(start + 10s));
  CHECK(f.ipc->asked.size() == 1);
  f.first(f.ipc).state = link_state::connected;
  CHECK(f.selector.step(start + 11s));
  f.selector.aim(f.publication, {over_ipc}, 0);
  CHECK_FALSE(f.selector.step(start + 12s));
  f.selector.stop();
  CHECK_FALSE(f.ipc->last().is_open);
  CHECK_FALSE(f.selector.waits());
}

TEST_CASE("link selector: one publication has one secret, another one another", "[unit]") {
  fixture f;
  const auto secret_of = [&](const wire::id& publication) {
    f.selector.aim(publication, {over_ipc}, 0);
    CHECK_FALSE(f.selector.step(start));
    return f.ipc->asked.back().secret;
  };
  const auto other = wire::id::random();
  const auto first = secret_of(other);
  CHECK(secret_of(other) == first);
  CHECK(secret_of(wire::id::random()) != first);
}
