// An executor calls back in its caller's thread, for one subscription and for several.
#include "orc/executor.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "orc.h"
#include "orc/typed.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/payload.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
using steady = std::chrono::steady_clock;

namespace executed {

struct pose {
  double x = 0;
};
ORC_DESCRIBE(pose, x)

}  // namespace executed

namespace {

// Topics of one participant, received by another one.
struct system_of {
  explicit system_of(int topics, orc::request_options wanted = {}, orc::transport over = orc::transport::ipc) {
    wanted.connected_within = patience;
    wanted.transports = {over};
    for (int n = 0; n < topics; ++n) {
      const std::string topic = "t" + std::to_string(n);
      out.push_back(sender.register_topic(topic, {.transports = {over}}));
      in.push_back(receiver.request_topic(topic, wanted));
      REQUIRE(in.back().result());
      REQUIRE(out.back().wait_readers(1, patience));
    }
  }

  broker_process address_broker;
  orc::participant sender{address_broker.options("sender")};
  orc::participant receiver{address_broker.options("receiver")};
  std::vector<orc::publisher> out;
  std::vector<orc::subscriber> in;
};

orc::request_options in_order() { return {.conflate = 0, .depth = 1000}; }

}  // namespace

TEST_CASE("executor: each sample of one subscription is called back, in order, in the caller's thread",
          "[integration][threads]") {
  system_of s(1, in_order());
  orc::executor loop;
  std::vector<std::uint64_t> seen;
  loop.on_sample(s.in[0], [&, me = std::this_thread::get_id()](const orc::message& sample) {
    CHECK(std::this_thread::get_id() == me);
    seen.push_back(value_of(sample));
    if (seen.size() == 100) loop.stop();
  });
  std::thread source([&] {
    for (std::uint64_t n = 1; n <= 100; ++n)
      if (!send_value(s.out[0], n)) return;
  });
  CHECK(loop.run());
  source.join();
  REQUIRE(seen.size() == 100);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("executor: a topic that never pauses does not keep the others waiting", "[integration][threads]") {
  system_of s(3, in_order());
  std::atomic<bool> enough{false};
  std::thread flood([&] {
    for (std::uint64_t n = 1; !enough; ++n)
      if (!send_value(s.out[0], n)) return;
  });
  orc::executor loop;
  std::vector<int> seen(3);
  for (std::size_t n = 0; n < 3; ++n)
    loop.on_sample(s.in[n], [&, n](const orc::message&) {
      ++seen[n];
      // The other two get the next sample when they had the last one.
      if (n != 0 && !send_value(s.out[n], 1)) loop.stop();
      if (seen[0] >= 100 && seen[1] >= 100 && seen[2] >= 100) loop.stop();
    });
  REQUIRE(send_value(s.out[1], 1));
  REQUIRE(send_value(s.out[2], 1));
  CHECK(loop.run_for(patience));
  enough = true;
  flood.join();
  CHECK(seen[0] >= 100);
  CHECK(seen[1] >= 100);
  CHECK(seen[2] >= 100);
}

TEST_CASE("executor: another thread ends a run, whatever it waits for", "[integration][threads]") {
  for (const int topics : {1, 2}) {
    INFO(topics);
    system_of s(topics);
    orc::executor loop;
    for (orc::subscriber& each : s.in) loop.on_sample(each, [](const orc::message&) {});
    std::thread other([&] { loop.stop(); });
    CHECK(loop.run());
    other.join();
    // The next one is not stopped any more.
    CHECK(loop.run_once(0ns).code() == errc::nothing_new);
    loop.stop();
    CHECK(loop.run());  // stopped before it began
  }
}

namespace {

orc::executor* signalled = nullptr;
void on_signal(int) { signalled->stop(); }

}  // namespace

TEST_CASE("executor: a signal handler ends a run", "[integration]") {
  for (const int topics : {1, 2}) {
    INFO(topics);
    system_of s(topics);
    orc::executor loop;
    loop.on_sample(s.in[0], [](const orc::message&) { ::raise(SIGUSR2); });
    if (topics == 2) loop.on_sample(s.in[1], [](const orc::message&) {});
    signalled = &loop;
    struct sigaction handler {};
    handler.sa_handler = on_signal;
    struct sigaction before {};
    REQUIRE(::sigaction(SIGUSR2, &handler, &before) == 0);
    REQUIRE(send_value(s.out[0], 1));
    CHECK(loop.run());
    ::sigaction(SIGUSR2, &before, nullptr);
  }
}

TEST_CASE("executor: an exception leaves the run, and the next run goes on", "[integration]") {
  for (const int topics : {1, 2}) {
    INFO(topics);
    system_of s(topics, in_order());
    orc::executor loop;
    std::vector<std::uint64_t> seen;
    loop.on_sample(s.in[0], [&](const orc::message& sample) {
      seen.push_back(value_of(sample));
      if (seen.back() == 1) throw std::runtime_error("the first one");
      loop.stop();
    });
    if (topics == 2) loop.on_sample(s.in[1], [](const orc::message&) {});
    REQUIRE(send_value(s.out[0], 1));
    REQUIRE(send_value(s.out[0], 2));
    CHECK_THROWS_AS((void)loop.run(), std::runtime_error);
    CHECK(loop.run());
    CHECK(seen == std::vector<std::uint64_t>{1, 2});
  }
}

TEST_CASE("executor: a callback may remove itself, add others, and not run its executor", "[integration]") {
  system_of s(2, in_order());
  orc::executor loop;
  int first = 0;
  int second = 0;
  orc::executor::id me = 0;
  me = loop.on_sample(s.in[0], [&](const orc::message&) {
    ++first;
    CHECK(loop.run().code() == errc::bad_argument);
    CHECK(loop.run_once(0ns).code() == errc::bad_argument);
    loop.on_sample(s.in[1], [&](const orc::message&) {
      ++second;
      loop.stop();
    });
    loop.remove(me);
  });
  CHECK(me != 0);
  REQUIRE(send_value(s.out[0], 1));
  REQUIRE(send_value(s.out[0], 2));
  REQUIRE(send_value(s.out[1], 1));
  CHECK(loop.run());
  CHECK(first == 1);
  CHECK(second == 1);
  loop.remove(me);  // it is gone
  loop.remove(77);
}

TEST_CASE("executor: it ends when its topics end", "[integration][threads]") {
  orc::executor loop;
  CHECK(loop.run().code() == errc::closed);
  CHECK(loop.on_sample(orc::subscriber(), [](const orc::message&) {}) == 0);
  CHECK(loop.run_once(0ns).code() == errc::closed);

  system_of s(3);
  for (orc::subscriber& each : s.in) loop.on_sample(each, [](const orc::message&) {});
  std::thread other([&] {
    CHECK(s.receiver.release_topic("t1"));
    CHECK(s.receiver.release_topic("t0"));
    orc::participant ended(std::move(s.receiver));
  });
  CHECK(loop.run().code() == errc::closed);
  other.join();
}

TEST_CASE("executor: after a fork the child's runs say so, and the parent's go on", "[integration]") {
  system_of s(2);
  orc::executor loop;
  int seen = 0;
  for (orc::subscriber& each : s.in) loop.on_sample(each, [&](const orc::message&) { ++seen; });
  const pid_t child = ::fork();
  if (child == 0) {
    loop.stop();  // of its own
    _exit(loop.run().code() == errc::forked && loop.run_once(0ns).code() == errc::forked ? 0 : 1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  REQUIRE(send_value(s.out[1], 1));
  CHECK(loop.run_once(patience));
  CHECK(seen == 1);
}

TEST_CASE("executor: times are waited out, not less", "[integration]") {
  for (const int topics : {1, 2}) {
    INFO(topics);
    system_of s(topics);
    orc::executor loop;
    for (orc::subscriber& each : s.in) loop.on_sample(each, [](const orc::message&) {});
    auto start = steady::now();
    CHECK(loop.run_for(300us));
    CHECK(steady::now() - start >= 300us);
    start = steady::now();
    CHECK(loop.run_once(50ms).code() == errc::timed_out);
    CHECK(steady::now() - start >= 50ms);
    CHECK(loop.run_for(0ns));
    CHECK(loop.run_once(0ns).code() == errc::nothing_new);
    CHECK(loop.run_for(-1ns).code() == errc::bad_argument);
    CHECK(loop.run_once(-1ns).code() == errc::bad_argument);
  }
}

TEST_CASE("executor: a typed subscription hands out typed messages, which a callback may keep", "[integration]") {
  system_of s(1);
  auto out = s.sender.register_topic<executed::pose>("pose");
  REQUIRE(out.result());
  auto in = s.receiver.request_topic<executed::pose>("pose", {.connected_within = patience});
  REQUIRE(in.result());
  REQUIRE(out.wait_readers(1, patience));
  orc::executor loop;
  double x = 0;
  orc::message kept;
  loop.on_sample(in, [&](const orc::typed_message<executed::pose>& sample) {
    REQUIRE(sample);
    x = sample->x;
  });
  loop.on_sample(s.in[0], [&](orc::message sample) { kept = std::move(sample); });
  REQUIRE(out.send({.x = 2.5}));
  REQUIRE(send_value(s.out[0], 9));
  while (x == 0 || !kept) REQUIRE(loop.run_once(patience));
  CHECK(x == 2.5);
  CHECK(value_of(kept) == 9);
}

TEST_CASE("executor: a sample that cannot be received yet is called back when messages are released",
          "[integration][threads]") {
  system_of s(2, {.max_messages = 2}, orc::transport::shm);
  orc::executor loop;
  std::vector<orc::message> kept;
  loop.on_sample(s.in[0], [&](orc::message&& sample) { kept.push_back(std::move(sample)); });
  loop.on_sample(s.in[1], [](const orc::message&) {});
  std::uint64_t sent = 0;
  do REQUIRE(send_value(s.out[0], ++sent));
  while (loop.run_once(100ms) && sent < 100);
  REQUIRE(kept.size() == sent - 1);  // the last one has no room
  kept.clear();
  REQUIRE(loop.run_once(patience));
  CHECK(value_of(kept.back()) == sent);
}

TEST_CASE("executor: a callback that stops the call that runs it does not stop the next one",
          "[integration][threads]") {
  system_of s(1);
  orc::executor loop;
  int seen = 0;
  loop.on_sample(s.in[0], [&](const orc::message&) {
    ++seen;
    loop.stop();
  });
  for (int n = 1; n <= 3; ++n) {
    REQUIRE(send_value(s.out[0], static_cast<std::uint64_t>(n)));
    CHECK(loop.run_once(patience));
    CHECK(seen == n);
  }
}
