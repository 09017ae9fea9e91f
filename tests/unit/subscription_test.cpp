// What a subscription returns to its user's threads, and what the housekeeping does for it, over links made up.
#include "core/subscription/subscription.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/fake_transport.h"
#include "support/struct_types.h"
#include "support/wait_until.h"
#include "support/waiting_thread.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

constexpr reports_by all_ways[] = {reports_by::descriptor, reports_by::sleeper, reports_by::bell};

struct fixture {
  explicit fixture(const orc::request_options& options = {})
      : tested("t", options, {}, transports.list(), housekeeping, "", false, false) {}

  // Links it over ipc. The other end is ipc->last().
  void link_up(
      const std::function<void(fake_publisher&)>& prepare = [](fake_publisher&) {},
      reports_by way = reports_by::descriptor) {
    ipc->next = [=] {
      auto publisher = std::make_shared<fake_publisher>(way);
      prepare(*publisher);
      return publisher;
    };
    wire::topic_state state;
    state.topic = "t";
    state.publication.emplace();
    state.publication->publication = wire::id::random();
    state.publication->endpoints = {{wire::transport::ipc, "ipc:///run/orc/1"}};
    tested.update(state, true, "/run/orc", checks, now);
    step(1s);
    REQUIRE(tested.connected());
  }
  void step(monotonic::duration later) {
    now += later;
    tested.step(now);
  }
  [[nodiscard]] std::uint64_t poll(pick which = pick::newest) { return tested.recv(0ms, which).sequence(); }

  std::shared_ptr<doorbell> housekeeping = std::make_shared<doorbell>();
  fake_transports transports;
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  monotonic::time_point now = monotonic::now();
  type_checks checks;
  subscription tested;
};

orc::request_options predictive(double cpu_budget = 0.1) {
  orc::request_options options;
  options.wait = orc::wait::predictive;
  options.cpu_budget = cpu_budget;
  return options;
}

// The last samples of a stream whose next one is due a second from now.
void learn_a_second(fixture& f) {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::uint64_t samples = 40;
  const std::int64_t now = realtime_ns();
  for (std::uint64_t n = 1; n <= samples; ++n) {
    f.ipc->last().send(n, now - static_cast<std::int64_t>(samples - n) * second);
    REQUIRE(f.poll() == n);
  }
}

// The last samples of a stream of 2 Hz that come up to 0.3 s early or late: the next one may come from now on, and
// for more than half a second.
void learn_a_jitter(fixture& f) {
  constexpr std::int64_t ms = 1'000'000;
  constexpr std::int64_t gaps[] = {500 * ms, 200 * ms, 500 * ms, 800 * ms};
  constexpr std::uint64_t samples = 41;
  std::int64_t stamp = realtime_ns() - 250 * ms - 10 * (gaps[0] + gaps[1] + gaps[2] + gaps[3]);
  for (std::uint64_t n = 1; n <= samples; ++n) {
    f.ipc->last().send(n, stamp);
    REQUIRE(f.poll() == n);
    stamp += gaps[n % 4];
  }
}

orc::request_options in_order(std::size_t depth = 8) {
  orc::request_options options;
  options.conflate = 0;
  options.depth = depth;
  return options;
}

}  // namespace

TEST_CASE("subscription: a receive returns the newest sample, once", "[unit][threads]") {
  fixture f;
  CHECK(f.tested.recv(0ms).status() == errc::nothing_new);
  f.link_up();
  for (const std::uint64_t sequence : {1U, 2U, 5U}) f.ipc->last().send(sequence);
  const auto newest = f.tested.recv(patience);
  CHECK(newest.sequence() == 5);
  CHECK(newest.missed() == 4);
  CHECK(f.tested.recv(0ms).status() == errc::nothing_new);
  CHECK(f.tested.recv(1ms).status() == errc::timed_out);
  CHECK(f.tested.recv(-2ms).status() == errc::bad_argument);
}

TEST_CASE("subscription: in order it returns each sample", "[unit][threads]") {
  fixture f(in_order());
  f.link_up([](fake_publisher& p) { p.in_order = true; });
  for (const std::uint64_t sequence : {1U, 2U, 3U}) f.ipc->last().send(sequence);
  for (const std::uint64_t sequence : {1U, 2U, 3U}) CHECK(f.tested.recv(patience).sequence() == sequence);
  CHECK(f.poll() == 0);
}

TEST_CASE("subscription: a sample that the housekeeping took out does not hide a newer one", "[unit][threads]") {
  fixture f;
  f.link_up();
  f.ipc->last().send(1);
  f.step(1s);  // the user is away
  CHECK(f.ipc->last().samples.empty());
  f.ipc->last().send(2);
  CHECK(f.tested.recv(patience).sequence() == 2);
}

TEST_CASE("subscription: the housekeeping leaves the link alone while the user comes, and empties it later",
          "[unit][threads]") {
  fixture f;
  f.link_up();
  CHECK(f.poll() == 0);
  f.ipc->last().send(1);
  f.step(1ms);
  CHECK(f.ipc->last().samples.size() == 1);
  CHECK(f.tested.next_step(f.now) <= f.now + drain_policy::min_look_interval);
  CHECK(f.tested.link_to_drain(f.now).fd == -1);
  f.step(drain_policy::min_look_interval);
  CHECK(f.ipc->last().samples.empty());
  const auto watched = f.tested.link_to_drain(f.now);
  CHECK(watched.fd == f.ipc->last().descriptor.get());
  CHECK(watched.at == f.now + drain_policy::drain_interval);
  f.ipc->last().send(2);
  f.now += drain_policy::drain_interval;
  CHECK(f.tested.drain(f.now) == f.now + drain_policy::drain_interval);
  CHECK(f.ipc->last().samples.empty());
  CHECK(f.poll() == 2);
  f.now += drain_policy::drain_interval;
  CHECK_FALSE(f.tested.drain(f.now));  // the user is back
}

TEST_CASE("subscription: nobody empties a link that keeps its samples", "[unit][threads]") {
  fixture f;
  f.link_up([](fake_publisher& p) { p.keeps_samples = true; }, reports_by::sleeper);
  for (const std::uint64_t sequence : {1U, 2U, 3U}) f.ipc->last().send(sequence);
  f.step(10s);
  CHECK(f.ipc->last().samples.size() == 3);
  CHECK(f.poll(pick::next) == 1);
  CHECK(f.poll() == 3);
}

TEST_CASE("subscription: a user that holds too many messages is told so, and gets the next one later",
          "[unit][threads]") {
  fixture f;
  f.link_up([](fake_publisher& p) { p.keeps_samples = true; }, reports_by::sleeper);
  f.ipc->last().send(1);
  f.ipc->last().exhausted = true;
  CHECK(f.tested.recv(0ms).status() == errc::too_many_messages);
  CHECK(f.tested.recv(patience).status() == errc::too_many_messages);
  f.ipc->last().exhausted = false;
  CHECK(f.poll() == 1);
}

TEST_CASE("subscription: old samples are passed over, and count as missed", "[unit][threads]") {
  orc::request_options options = in_order();
  options.max_age = 1000ms;
  fixture f(options);
  f.link_up([](fake_publisher& p) { p.in_order = true; });
  const auto old = orc::detail::realtime_ns() - 10'000'000'000;
  for (std::uint64_t sequence = 1; sequence <= 100; ++sequence) f.ipc->last().send(sequence, old);
  f.ipc->last().send(101);
  const auto young = f.tested.recv(patience);
  CHECK(young.sequence() == 101);
  CHECK(young.missed() == 100);
  CHECK(f.tested.link().stale == 7);  // the queue dropped the others
  f.ipc->last().send(102, old);
  CHECK(f.tested.recv(0ms).status() == errc::nothing_new);
  CHECK(f.tested.link().stale == 8);
}

TEST_CASE("subscription: a receive that waits ends with a sample, also of a link that came meanwhile",
          "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f;
    f.link_up([](fake_publisher&) {}, way);
    orc::message got;
    const auto receive = [&] { got = f.tested.recv(waiting_thread::limit); };
    waiting_thread first(receive);
    REQUIRE(first.await_sleep());
    f.ipc->last().send(1);
    CHECK(first.await_end());
    CHECK(got.sequence() == 1);
    waiting_thread second(receive);
    REQUIRE(second.await_sleep());
    f.ipc->last().lose();
    f.step(1s);
    f.step(1s);
    REQUIRE(f.ipc->publishers.size() == 2);
    REQUIRE(second.await_sleep());
    f.ipc->last().send(2);
    CHECK(second.await_end());
    CHECK(got.sequence() == 2);
  }
}

TEST_CASE("subscription: a receive that waits ends with the subscription", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f;
    f.link_up([](fake_publisher&) {}, way);
    orc::message got;
    waiting_thread user([&] { got = f.tested.recv(waiting_thread::limit); });
    REQUIRE(user.await_sleep());
    f.tested.close();
    CHECK(user.await_end());
    CHECK(got.status() == errc::closed);
    CHECK(f.tested.recv(orc::forever).status() == errc::closed);
    CHECK_FALSE(f.tested.connected());
    CHECK_FALSE(f.ipc->last().is_open);
  }
}

TEST_CASE("subscription: several samples that arrive at once wake the event loop until the last is taken",
          "[unit][threads]") {
  fixture f(in_order());
  f.link_up([](fake_publisher& p) { p.in_order = true; });
  const int fd = f.tested.fd();
  REQUIRE(fd >= 0);
  CHECK(f.poll() == 0);
  CHECK_FALSE(readable(fd, 0));
  for (const std::uint64_t sequence : {1U, 2U, 3U}) f.ipc->last().send(sequence);
  for (const std::uint64_t sequence : {1U, 2U, 3U}) {
    CHECK(readable(fd, 0));
    CHECK(f.poll() == sequence);
  }
  CHECK(f.poll() == 0);
  CHECK_FALSE(readable(fd, 0));
}

TEST_CASE("subscription: a lost link rings the housekeeping, which looks for another", "[unit][threads]") {
  fixture f;
  f.link_up();
  f.ipc->last().send(1);
  f.ipc->last().is_lost_when_read = true;
  const auto before = f.housekeeping->ticket();
  CHECK(f.poll() == 1);
  CHECK(f.housekeeping->ticket() != before);
  f.step(0s);
  f.step(2s);
  CHECK(f.ipc->publishers.size() == 2);
  CHECK(f.tested.connected());
}

TEST_CASE("subscription: a wait for the link ends when it is up, at its time, or with the subscription",
          "[unit][threads]") {
  fixture f;
  CHECK(f.tested.wait_connected(0ms).code() == errc::timed_out);
  CHECK(f.tested.wait_connected(1ms).code() == errc::timed_out);
  CHECK(f.tested.wait_connected(-2ms).code() == errc::bad_argument);
  CHECK_FALSE(f.tested.link().connected);
  CHECK(f.tested.link().reason == "no publisher");
  orc::result linked = errc::timed_out;
  waiting_thread user([&] { linked = f.tested.wait_connected(waiting_thread::limit); });
  REQUIRE(user.await_sleep());
  f.link_up();
  CHECK(user.await_end());
  CHECK(linked);
  CHECK(f.tested.link().connected);
  CHECK(f.tested.link().transport == orc::transport::ipc);
  f.tested.close();
  CHECK(f.tested.wait_connected(orc::forever).code() == errc::closed);
  CHECK(f.tested.check_type().code() == errc::closed);
}

TEST_CASE("subscription: a sender of another type is no reason to give up before the time", "[unit][threads]") {
  fixture f;
  std::shared_ptr<fake_publisher> sender;
  f.link_up([](fake_publisher& made) {
    made.type_problem = orc::error(errc::type_mismatch, "another type");
    made.keeps_samples = true;
  });
  sender = f.ipc->publishers.back();
  sender->state = link_state::connecting;
  f.step(0s);
  CHECK(f.tested.wait_connected(0ms).error().message() == "another type");
  CHECK(f.tested.wait_connected(1ms).code() == errc::type_mismatch);
  CHECK(f.tested.check_type());
  orc::result linked = errc::timed_out;
  waiting_thread user([&] { linked = f.tested.wait_connected(waiting_thread::limit); });
  REQUIRE(user.await_sleep());
  f.link_up();
  CHECK(user.await_end());
  CHECK(linked);
}

TEST_CASE("subscription: news about types come once a second, the newest", "[unit][threads]") {
  orc::request_options options;
  options.type = struct_type("float64");
  fixture f(options);
  const auto publish = [&](std::string_view element, std::uint32_t pid) {
    wire::topic_state state;
    state.topic = "t";
    state.publication.emplace();
    state.publication->publication = wire::id::random();
    state.publication->participant_name = "arm";
    state.publication->pid = pid;
    const auto type = struct_type(element);
    state.publication->type = describe(type)->reference;
    f.tested.update(state, true, "/run/orc", f.checks, f.now);
    if (f.tested.awaited_type() != nullptr) f.tested.check_type(type, f.checks, f.now);
  };
  publish("float32", 1);
  const auto first = f.tested.take_news(f.now);
  REQUIRE(first);
  CHECK(first->text == "topic t: " + mismatch_of_structs("arm (1)"));
  for (std::uint32_t pid = 2; pid < 6; ++pid) {
    publish(pid % 2 == 0 ? "float64" : "float32", pid);
    CHECK_FALSE(f.tested.take_news(f.now));
  }
  const auto last = f.tested.take_news(f.now + subscription::between_news);
  REQUIRE(last);
  CHECK(last->text == "topic t: " + mismatch_of_structs("arm (5)"));
  CHECK_FALSE(f.tested.take_news(f.now + 2 * subscription::between_news));
}

TEST_CASE("subscription: a closed one makes no descriptor, and keeps the one that it had", "[unit][threads]") {
  fixture f;
  f.tested.close();
  CHECK(f.tested.fd() == -1);
  fixture g;
  const int fd = g.tested.fd();
  CHECK(fd >= 0);
  g.tested.close();
  CHECK(g.tested.fd() == fd);
  CHECK(readable(fd, 0));
}

TEST_CASE("subscription: its counters tell of samples and of the link", "[unit][threads]") {
  fixture f;
  const auto before = f.tested.counters();
  CHECK(before.transport == wire::transport::none);
  CHECK(before.reason == "no publisher");
  CHECK(before.subscription == f.tested.request().subscription);
  f.link_up([](fake_publisher& p) { p.malformed = 2; });
  f.ipc->last().send(3);
  CHECK(f.poll() == 3);
  const auto after = f.tested.counters();
  CHECK(after.received == 1);
  CHECK(after.missed == 2);
  CHECK(after.bytes == 8);
  CHECK(after.malformed == 2);
  CHECK(after.age_ns >= 0);
  CHECK(after.transport == wire::transport::ipc);
}

TEST_CASE("subscription: a sample that comes before the predicted time ends the sleep", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(predictive());
    f.link_up([](fake_publisher&) {}, way);
    learn_a_second(f);
    std::uint64_t got = 0;
    waiting_thread user([&] { got = f.tested.recv(waiting_thread::limit).sequence(); });
    REQUIRE(user.await_sleep());
    f.ipc->last().send(41);
    CHECK(user.await_end());
    CHECK(got == 41);
    const auto seen = f.tested.link().prediction;
    CHECK(seen.period_ns == 1'000'000'000);
    CHECK(seen.early == 1);
    CHECK(seen.watched_ns == 0);
  }
}

TEST_CASE("subscription: a sample that a thread finds when its timed sleep ends was not seen coming",
          "[unit][threads]") {
  fixture f(predictive());
  f.link_up([](fake_publisher&) {}, reports_by::sleeper);
  learn_a_second(f);
  std::uint64_t got = 0;
  waiting_thread user([&] { got = f.tested.recv(waiting_thread::limit).sequence(); });
  REQUIRE(user.await_sleep());
  {
    const std::lock_guard lock(f.ipc->last().mutex);
    f.ipc->last().samples.push_back(sample_of(41));  // and wakes nobody, as if the timer came first
  }
  CHECK(user.await_end());
  CHECK(got == 41);
  const auto seen = f.tested.link().prediction;
  CHECK(seen.hits == 0);
  CHECK(seen.early == 1);
  CHECK(seen.watched_ns == 0);
}

TEST_CASE("subscription: it watches when a sample is due, once, and sleeps when none came", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(predictive());
    f.link_up([](fake_publisher&) {}, way);
    learn_a_second(f);
    CHECK(f.tested.recv(10ms).status() == errc::timed_out);
    CHECK(f.tested.link().prediction.watched_ns == 0);
    CHECK(f.tested.recv(2'000ms).status() == errc::timed_out);
    const auto missed = f.tested.link().prediction;
    CHECK(missed.misses == 1);
    CHECK(missed.watched_ns > 0);
    CHECK(f.tested.recv(20ms).status() == errc::timed_out);
    CHECK(f.tested.link().prediction == missed);
    f.ipc->last().send(41);
    CHECK(f.poll() == 41);
  }
}

TEST_CASE("subscription: a sample that comes during a watch counts so, also while another thread polls",
          "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(predictive(1));
    f.link_up([](fake_publisher&) {}, way);
    learn_a_jitter(f);
    std::uint64_t got = 0;
    waiting_thread user([&] { got = f.tested.recv(waiting_thread::limit).sequence(); });
    REQUIRE(user.await_work(2ms));
    CHECK(f.poll() == 0);
    f.ipc->last().send(42);
    CHECK(user.await_end());
    CHECK(got == 42);
    CHECK(f.tested.link().prediction.hits == 1);
    CHECK(f.tested.link().prediction.early == 0);
  }
}

TEST_CASE("subscription: of two threads one watches, and the other sleeps", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(predictive(1));
    f.link_up([](fake_publisher&) {}, way);
    learn_a_jitter(f);
    std::atomic<int> got{0};
    const auto receive = [&] {
      if (f.tested.recv(waiting_thread::limit)) ++got;
    };
    waiting_thread watching(receive);
    REQUIRE(watching.await_work(2ms));
    waiting_thread sleeping(receive);
    CHECK(sleeping.await_sleep());
    CHECK(f.tested.link().prediction.misses == 0);
    f.ipc->last().send(42);
    CHECK(wait_until([&] { return got == 1; }));
    CHECK(f.tested.link().prediction.hits + f.tested.link().prediction.early == 1);
    CHECK(f.tested.link().prediction.misses == 0);
    f.tested.close();
    CHECK(watching.await_end());
    CHECK(sleeping.await_end());
    CHECK(got == 1);
  }
}

TEST_CASE("subscription: its end ends a sleep until the predicted time, and the watch for it", "[unit][threads]") {
  for (const auto way : all_ways) {
    for (const auto at : {0ms, 990ms, 1005ms}) {
      fixture f(predictive(1));
      f.link_up([](fake_publisher&) {}, way);
      learn_a_second(f);
      const auto begin = monotonic::now();
      errc status = errc::ok;
      waiting_thread user([&] { status = f.tested.recv(waiting_thread::limit).status(); });
      std::this_thread::sleep_until(begin + at);  // whatever the thread does then
      f.tested.close();
      CHECK(user.await_end());
      CHECK(status == errc::closed);
    }
  }
}

TEST_CASE("subscription: it predicts nothing unless it is asked to", "[unit][threads]") {
  fixture f;
  f.link_up();
  learn_a_second(f);
  CHECK(f.tested.recv(20ms).status() == errc::timed_out);
  CHECK(f.tested.link().prediction == orc::prediction_info{});
  CHECK_FALSE(f.tested.counters().prediction);
  fixture asked(predictive());
  asked.link_up();
  learn_a_second(asked);
  CHECK(asked.tested.recv(20ms).status() == errc::timed_out);
  REQUIRE(asked.tested.counters().prediction);
  CHECK(asked.tested.counters().prediction->period_ns == 1'000'000'000);
}

TEST_CASE("subscription: a later request is the same when its options are, or are left at the default",
          "[unit][threads]") {
  orc::request_options options = in_order(64);
  options.max_age = 5ms;
  const fixture f(options);
  CHECK(f.tested.was_made_with({}));
  CHECK(f.tested.was_made_with(options));
  CHECK(f.tested.was_made_with(in_order(0)));  // the default depth
  CHECK_FALSE(f.tested.was_made_with(in_order(7)));
  orc::request_options other;
  other.max_age = 6ms;
  CHECK_FALSE(f.tested.was_made_with(other));
  other = {};
  other.transports = {orc::transport::tcp};
  CHECK_FALSE(f.tested.was_made_with(other));
}
