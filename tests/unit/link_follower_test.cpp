// How a subscription stays linked to the publication that the broker reports, with links and a time made up.
#include "core/links/link_follower.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/fake_transport.h"
#include "support/no_descriptors.h"
#include "support/wait_until.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
namespace wire = orc::wire;

namespace {

constexpr auto start = monotonic::time_point() + 1h;
const wire::endpoint over_ipc{wire::transport::ipc, "ipc:///run/orc/1"};
const wire::endpoint over_tcp{wire::transport::tcp, "tcp://127.0.0.1:1"};
const std::string group = "udpm://239.255.76.67:7667?ttl=0";

struct fixture {
  explicit fixture(std::uint32_t depth = 8, const std::string& open_address = {}, bool alone = false)
      : box(depth, 0us), follower(wanted(depth, alone), {}, transports.list(), open_address, box, waiting, start) {}

  static subscription_spec wanted(std::uint32_t depth, bool alone) {
    subscription_spec spec;
    spec.topic = "t";
    spec.id = wire::id::random();
    spec.delivery.depth = depth;
    spec.alone = alone;
    return spec;
  }
  // The broker names a publication.
  void report(const wire::id& publication, std::vector<wire::endpoint> endpoints = {over_ipc},
              std::optional<obstacle> why_not = std::nullopt) {
    wire::topic_state state;
    state.topic = "t";
    state.publication.emplace();
    state.publication->publication = publication;
    state.publication->endpoints = std::move(endpoints);
    follower.update(state, true, "/run/orc", std::move(why_not), now);
  }
  void report_none(bool pushed) {
    wire::topic_state state;
    state.topic = "t";
    follower.update(state, pushed, "/run/orc", std::nullopt, now);
  }
  void step(monotonic::duration later = 0ms) {
    now += later;
    follower.step(now);
  }
  // Steps whenever one is due, as the housekeeping does.
  void run(monotonic::duration time) {
    const auto end = now + time;
    follower.step(now);
    for (int steps = 0; now < end; ++steps) {
      REQUIRE(steps < 1000);
      now = std::clamp(follower.next_step(now), now + 1ms, end);
      follower.step(now);
    }
  }
  // A link to a publication that sent before, and goes on.
  wire::id link_up(std::vector<wire::endpoint> endpoints = {over_ipc}) {
    const auto publication = wire::id::random();
    report(publication, std::move(endpoints));
    step();
    REQUIRE(follower.is_connected());
    return publication;
  }
  [[nodiscard]] std::vector<std::uint64_t> arrived() {
    std::vector<std::uint64_t> all;
    for (sample s; box.take(s);) all.push_back(s.sequence);
    return all;
  }
  [[nodiscard]] bool rang() { return std::exchange(ticket_, waiting.bell()->ticket()) != waiting.bell()->ticket(); }
  [[nodiscard]] std::string reason() const { return follower.reason(now); }

  fake_transports transports;
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  std::shared_ptr<fake_transport::record> tcp = transports.add(wire::transport::tcp);
  std::shared_ptr<fake_transport::record> multicast = transports.add(wire::transport::multicast);
  monotonic::time_point now = start;
  wait_point waiting{0us};
  inbox box;
  link_follower follower;

 private:
  std::uint32_t ticket_ = 0;
};

using sequences = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("link follower: it links to the publication that the broker names", "[unit]") {
  fixture f;
  f.step();
  CHECK_FALSE(f.follower.is_connected());
  CHECK(f.reason() == "no publisher");
  const auto publication = wire::id::random();
  static_cast<void>(f.rang());
  f.report(publication);
  CHECK_FALSE(f.follower.is_connected());
  f.step();
  CHECK(f.follower.is_connected());
  CHECK(f.follower.linked_to() == over_ipc);
  CHECK(f.rang());  // waiting threads look at the new link
  REQUIRE(f.ipc->asked.size() == 1);
  CHECK(f.ipc->asked.front().publication == publication);
  CHECK(f.ipc->asked.front().run_directory == "/run/orc");
  f.run(10s);
  CHECK(f.ipc->asked.size() == 1);
}

TEST_CASE("link follower: the sample that comes with the link is in the inbox", "[unit]") {
  fixture f;
  f.ipc->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->newest_at_join = 7;
    publisher->send(7);
    return publisher;
  };
  f.link_up();
  sample first;
  REQUIRE(f.box.take(first));
  CHECK(first.sequence == 7);
  CHECK(f.box.returned(first) == 0);
}

TEST_CASE("link follower: another publication gets the link, and the last samples of the old one stay", "[unit]") {
  fixture f;
  f.link_up();
  fake_publisher& old = f.ipc->last();
  old.in_order = true;
  old.malformed = 3;
  for (const std::uint64_t sequence : {5U, 6U}) old.send(sequence);
  static_cast<void>(f.rang());
  f.report(wire::id::random());
  CHECK_FALSE(old.is_open);
  CHECK(f.rang());
  CHECK(f.follower.link() == nullptr);
  f.run(1s);  // the second attempt waits a little
  CHECK(f.follower.is_connected());
  CHECK(f.ipc->publishers.size() == 2);
  CHECK(f.follower.malformed() == 3);
  f.ipc->last().send(1);
  CHECK(f.box.pull(*f.follower.link()));
  CHECK(f.arrived() == sequences{5, 6, 1});
}

TEST_CASE("link follower: each link is asked for what came after the newest sample", "[unit]") {
  fixture f;
  const auto publication = f.link_up();
  f.ipc->last().send(9);
  CHECK(f.box.pull(*f.follower.link()));
  f.report(publication, {over_tcp});
  CHECK(f.ipc->last().is_open);  // the old link serves until the new one is up
  f.run(1s);
  CHECK_FALSE(f.ipc->last().is_open);
  CHECK(f.follower.linked_to() == over_tcp);
  REQUIRE(f.tcp->asked.size() == 1);
  CHECK(f.tcp->asked.front().newest == 9);
  CHECK(f.tcp->asked.front().secret == f.ipc->asked.front().secret);
}

TEST_CASE("link follower: a link whose endpoint is still offered stays", "[unit]") {
  fixture f;
  const auto publication = f.link_up({over_tcp});
  f.report(publication, {over_ipc, over_tcp});
  f.run(10s);
  CHECK(f.ipc->asked.empty());
  CHECK(f.tcp->last().is_open);
}

TEST_CASE("link follower: endpoints that change all the time cause no more than an attempt a second", "[unit]") {
  fixture f;
  f.ipc->refusal = orc::error(orc::errc::refused, "no such socket");
  const auto publication = wire::id::random();
  for (int n = 0; n < 1000; ++n) {
    f.report(publication, {{wire::transport::ipc, "ipc:///run/orc/" + std::to_string(n)}});
    f.step(10ms);
  }
  CHECK(f.ipc->asked.size() <= 13);
  CHECK(f.ipc->asked.size() >= 8);
}

TEST_CASE("link follower: a broker that does not know the publication does not end the link", "[unit]") {
  fixture f;
  f.link_up();
  f.report_none(false);
  f.run(10s);
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: a publication that left is not connected, and its link ends with the other end", "[unit]") {
  fixture f;
  f.link_up();
  static_cast<void>(f.rang());
  f.report_none(true);
  CHECK(f.rang());
  CHECK_FALSE(f.follower.is_connected());
  CHECK(f.follower.link() != nullptr);
  CHECK(f.reason() == "no publisher");
  f.ipc->last().send(3);
  f.ipc->last().lose();
  f.step();
  CHECK(f.follower.link() == nullptr);
  CHECK(f.arrived() == sequences{3});
  f.run(10s);
  CHECK(f.ipc->asked.size() == 1);
}

TEST_CASE("link follower: a link of a publication that left ends after a while, unless it would see the end",
          "[unit]") {
  for (const bool sees_end : {false, true}) {
    fixture f;
    f.ipc->can.sees_end = sees_end;
    f.link_up();
    f.report_none(true);
    CHECK_FALSE(f.follower.is_connected());
    CHECK(f.follower.is_linked() == sees_end);
    f.run(departure::link_outlives - 1ms);
    CHECK(f.follower.link() != nullptr);
    f.run(2ms);
    CHECK((f.follower.link() != nullptr) == sees_end);
    CHECK(f.follower.is_linked() == sees_end);
  }
}

TEST_CASE("link follower: a publication that left and whose host is silent is not linked", "[unit]") {
  fixture f;
  f.link_up({over_tcp});
  f.tcp->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->state = link_state::connecting;
    return publisher;
  };
  fake_publisher& first = f.tcp->last();
  f.report_none(true);
  CHECK(f.follower.is_linked());
  first.path_answers = false;
  f.run(2 * link_follower::path_interval);
  CHECK_FALSE(f.follower.is_linked());
  f.run(departure::link_outlives);
  CHECK(f.follower.link() == nullptr);
}

TEST_CASE("link follower: a publication that lost only the broker counts as connected while it sends", "[unit]") {
  fixture f;
  f.ipc->can.sees_end = false;
  f.link_up();
  f.report_none(true);
  for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
    f.ipc->last().send(sequence);
    CHECK(f.box.pull(*f.follower.link()));
    f.run(500ms);
  }
  CHECK(f.follower.is_connected());
  f.run(4s);
  CHECK_FALSE(f.follower.is_connected());
}

TEST_CASE("link follower: a publication that returns is connected at once", "[unit]") {
  fixture f;
  const auto publication = f.link_up();
  f.report_none(true);
  static_cast<void>(f.rang());
  f.report(publication);
  CHECK(f.follower.is_connected());
  CHECK(f.rang());
  f.run(10s);
  CHECK(f.ipc->asked.size() == 1);
}

TEST_CASE("link follower: a link that ends is replaced, and its end is the reason until then", "[unit]") {
  fixture f;
  f.link_up({over_tcp});
  f.run(5s);
  f.tcp->last().send(4);
  f.tcp->last().lose({link_end::cause::closed});
  f.tcp->refusal = orc::error(orc::errc::refused, "no way");
  f.step();
  f.step(1ms);
  CHECK_FALSE(f.follower.is_connected());
  CHECK(f.arrived() == sequences{4});
  CHECK_THAT(f.reason(), contains("the link (tcp 127.0.0.1:1) ended: the other end closed"));
  CHECK_THAT(f.reason(), contains("no way"));
  CHECK(f.follower.public_reason().find("no way") == std::string::npos);
  REQUIRE(f.follower.failure());
  CHECK(f.follower.failure()->message() == "no way");
  f.tcp->refusal.reset();
  f.run(1s);
  CHECK(f.follower.is_connected());
  CHECK_FALSE(f.follower.failure());
}

TEST_CASE("link follower: links that end at once do not keep both ends busy", "[unit]") {
  fixture f;
  f.ipc->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->send(1);
    publisher->state = link_state::lost;
    return publisher;
  };
  f.report(wire::id::random());
  f.run(10s);
  CHECK(f.ipc->asked.size() <= 21);  // one in link_selector::patience
}

TEST_CASE("link follower: a silent path gets a second connection, and the old one serves until that is up", "[unit]") {
  fixture f;
  f.link_up({over_tcp});
  fake_publisher& first = f.tcp->last();
  f.tcp->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->state = link_state::connecting;
    return publisher;
  };
  first.path_answers = false;
  f.run(link_follower::path_interval + 10ms);
  CHECK(f.tcp->asked.size() == 2);
  CHECK(first.is_open);
  CHECK(f.follower.is_connected());
  f.tcp->last().state = link_state::connected;
  f.step(1ms);
  CHECK_FALSE(first.is_open);
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: it looks at the path of a link whose transport checks it, and of no other", "[unit]") {
  for (const bool checks : {true, false}) {
    fixture f;
    f.ipc->can.checks_path = checks;
    f.link_up();
    f.ipc->last().path_answers = false;
    CHECK((f.follower.next_step(f.now) <= f.now + link_follower::path_interval) == checks);
    f.run(link_follower::path_interval + 10ms);
    CHECK((f.ipc->asked.size() == 2) == checks);
  }
}

TEST_CASE("link follower: a path that answers again needs no second connection", "[unit]") {
  fixture f;
  f.link_up({over_tcp});
  f.tcp->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->state = link_state::connecting;
    return publisher;
  };
  fake_publisher& first = f.tcp->last();
  first.path_answers = false;
  f.run(link_follower::path_interval + 10ms);
  REQUIRE(f.tcp->publishers.size() == 2);
  first.path_answers = true;
  f.run(link_follower::path_interval + 10ms);
  CHECK(first.is_open);
  CHECK_FALSE(f.tcp->publishers[1]->is_open);
  f.run(10s);
  CHECK(f.tcp->publishers.size() == 2);
}

TEST_CASE("link follower: without a broker's word it hears any sender after a while, or at once when alone", "[unit]") {
  for (const bool alone : {false, true}) {
    fixture f(8, group, alone);
    if (!alone) {
      f.run(link_follower::broker_answers_within - 1ms);
      CHECK(f.multicast->asked.empty());
      f.run(1ms);
    }
    f.step();
    REQUIRE(f.multicast->asked.size() == 1);
    CHECK(f.multicast->asked.front().publication == wire::id{});
    CHECK(f.multicast->asked_at.front().address == group);
  }
}

TEST_CASE("link follower: it hears any sender as soon as the broker knows none, and only while it does", "[unit]") {
  fixture f(8, group);
  f.report_none(false);
  f.step();
  REQUIRE(f.multicast->publishers.size() == 1);
  f.report(wire::id::random());
  CHECK_FALSE(f.multicast->last().is_open);
  f.run(1s);
  CHECK(f.follower.linked_to() == over_ipc);
  f.report_none(true);
  f.ipc->last().lose();
  f.run(1s);
  CHECK(f.multicast->publishers.size() == 2);
  CHECK(f.multicast->last().is_open);
}

TEST_CASE(
    "link follower: a publication that the broker forgot and knows again counts on, also what was heard meanwhile",
    "[unit]") {
  for (const bool with_others : {false, true}) {
    fixture f(8, group);
    const auto publication = f.link_up();
    f.ipc->last().send(5);
    f.run(100ms);
    REQUIRE(f.follower.link() != nullptr);
    f.box.pull(*f.follower.link());
    f.report_none(true);
    f.ipc->last().lose();
    f.run(1s);
    REQUIRE(f.multicast->asked.size() == 1);
    CHECK(f.multicast->asked.front().before == publication);
    CHECK(f.multicast->asked.front().before_at == std::vector{over_ipc});
    CHECK(f.multicast->asked.front().newest == 5);
    // It is heard, and an LCM program may be as well.
    f.multicast->last().in_order = true;
    f.multicast->last().send(8);
    if (with_others) f.multicast->last().send(9);
    f.multicast->last().heard.newest = 8;
    CHECK(f.arrived() == sequences{5});
    f.report(publication);
    f.run(1s);
    REQUIRE(f.follower.is_connected());
    CHECK(f.arrived() == (with_others ? sequences{8, 9} : sequences{8}));
    f.ipc->last().in_order = true;
    for (const std::uint64_t sequence : {8U, 10U}) f.ipc->last().send(sequence);
    f.box.pull(*f.follower.link());
    f.box.pull(*f.follower.link());
    sample next;
    REQUIRE(f.box.take(next));
    CHECK(next.sequence == 10);
    CHECK(next.before_first <= 8);
    CHECK_FALSE(f.box.take(next));
  }
}

TEST_CASE("link follower: it serves a link that asks for it, and wakes the user for samples in other memory",
          "[unit]") {
  fixture f;
  f.ipc->next = [] {
    auto publisher = std::make_shared<fake_publisher>(reports_by::sleeper);
    publisher->keeps_samples = true;
    publisher->control = unique_fd(::eventfd(0, EFD_CLOEXEC));
    return publisher;
  };
  f.link_up();
  const int before = f.ipc->last().services;
  std::vector<int> polled;
  f.follower.append_fds(polled);
  CHECK(polled == std::vector<int>{f.ipc->last().control.get()});
  f.step();
  CHECK(f.ipc->last().services == before + 1);
  const int fd = f.waiting.fd();
  static_cast<void>(f.waiting.ticket());
  f.ipc->last().samples.push_back(sample_of(1));
  f.step();
  CHECK(readable(fd, 0));
}

TEST_CASE("link follower: without descriptors it does not take a link that nobody could wait for", "[unit]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  fixture f;
  f.report(wire::id::random());
  f.ipc->next = [publisher = std::make_shared<fake_publisher>()] { return publisher; };
  {
    const no_descriptors limit;
    f.step();
    CHECK(f.follower.link() == nullptr);
  }
  f.run(1s);
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: when it stops, the link ends without its samples, and nothing is tried any more", "[unit]") {
  fixture f;
  f.link_up();
  f.ipc->last().send(1);
  f.follower.stop();
  CHECK_FALSE(f.ipc->last().is_open);
  CHECK(f.arrived().empty());
  std::vector<int> polled;
  f.follower.append_fds(polled);
  CHECK(polled.empty());
}

namespace {

const obstacle waits{"waits for the schema", std::nullopt};
const obstacle mismatch{"another type", orc::error(orc::errc::type_mismatch, "another type")};

}  // namespace

TEST_CASE("link follower: it keeps away from a publication until its type is known to match", "[unit]") {
  fixture f;
  const auto publication = wire::id::random();
  static_cast<void>(f.rang());
  f.report(publication, {over_ipc}, waits);
  f.run(5s);
  CHECK(f.ipc->asked.empty());
  CHECK(f.reason() == "waits for the schema");
  CHECK(f.follower.public_reason() == "waits for the schema");
  CHECK(f.rang());
  f.follower.judge(std::nullopt, f.now);
  CHECK(f.rang());
  f.run(1s);
  CHECK(f.follower.is_connected());
  CHECK(f.follower.kept_away_by() == nullptr);
  REQUIRE(f.ipc->asked.size() == 1);
  CHECK(f.ipc->asked.front().publication == publication);
  f.follower.judge(mismatch, f.now);  // too late: the verdict is known
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: a link ends when its publication gets another type, and its samples stay", "[unit]") {
  fixture f;
  const auto publication = f.link_up();
  f.ipc->last().send(1);
  f.report(publication, {over_ipc}, waits);
  CHECK_FALSE(f.follower.is_connected());
  CHECK(f.arrived() == sequences{1});
  f.follower.judge(mismatch, f.now);
  f.run(5s);
  CHECK(f.ipc->asked.size() == 1);
  CHECK(f.reason() == "another type");
  REQUIRE(f.follower.kept_away_by() != nullptr);
  CHECK(f.follower.kept_away_by()->mismatch);
  f.report(publication);
  f.run(1s);
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: an obstacle goes with its publication", "[unit]") {
  fixture f;
  f.report(wire::id::random(), {over_ipc}, mismatch);
  f.report_none(true);
  CHECK(f.reason() == "no publisher");
  CHECK(f.follower.kept_away_by() == nullptr);
  f.follower.judge(std::nullopt, f.now);
  f.run(1s);
  CHECK(f.ipc->asked.empty());
  static_cast<void>(f.link_up());
}

TEST_CASE("link follower: an obstacle goes when another run of the broker knows no publication", "[unit]") {
  fixture f;
  const auto publication = wire::id::random();
  f.report(publication, {over_ipc}, mismatch);
  static_cast<void>(f.rang());
  f.report_none(false);
  CHECK(f.rang());
  CHECK(f.reason() == "no publisher");
  CHECK(f.follower.kept_away_by() == nullptr);
  f.report(publication, {over_ipc}, mismatch);
  CHECK(f.reason() == "another type");
  static_cast<void>(f.rang());
  f.report(publication);
  CHECK(f.rang());  // without an obstacle, threads wait for another reason
  f.run(1s);
  CHECK(f.follower.is_connected());
}

TEST_CASE("link follower: a sender of another type is a reason, also for the broker", "[unit]") {
  fixture f;
  f.link_up();
  f.ipc->last().type_problem = orc::error(orc::errc::type_mismatch, "another type at 127.0.0.1:1");
  f.step();
  CHECK(f.follower.is_connected());
  CHECK_THAT(f.reason(), contains("; another type at 127.0.0.1:1"));
  CHECK_THAT(f.follower.public_reason(), contains("; another type at 127.0.0.1:1"));
  fixture g;
  g.ipc->next = [] {
    auto publisher = std::make_shared<fake_publisher>();
    publisher->state = link_state::connecting;
    publisher->type_problem = orc::error(orc::errc::type_mismatch, "another type at 127.0.0.1:1");
    return publisher;
  };
  g.report(wire::id::random());
  g.step();
  CHECK_FALSE(g.follower.is_connected());
  CHECK(g.follower.public_reason() == "another type at 127.0.0.1:1");
}

TEST_CASE("link follower: a publication of another type ends open listening", "[unit]") {
  fixture f(8, group);
  f.run(link_follower::broker_answers_within + 100ms);
  REQUIRE(f.follower.is_connected());
  f.report(wire::id::random(), {over_ipc}, mismatch);
  CHECK_FALSE(f.follower.is_connected());
  f.run(5s);
  CHECK(f.multicast->asked.size() == 1);
  CHECK(f.reason() == "another type");
}
