// Who wakes when a sample arrives, over each of the ways in which a link reports it.
#include "core/subscription/wait_point.h"

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "support/catch.h"
#include "support/fake_link.h"
#include "support/no_descriptors.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::detail::deadline;
using orc::detail::pi_mutex;
using orc::detail::pick;
using orc::detail::sample;
using orc::detail::wait_point;

namespace {

constexpr reports_by all_ways[] = {reports_by::descriptor, reports_by::sleeper, reports_by::bell};

// A wait point with its lock, as a subscription has them, and threads that take samples from its link.
class fixture {
 public:
  explicit fixture(reports_by way, std::chrono::microseconds spin = 0us) : waiting(spin) { connect(way); }
  ~fixture() {
    {
      const std::lock_guard lock(mutex);
      stop_ = true;
      waiting.ring();
    }
    for (auto& each : threads_) each.join();
    if (link) waiting.forget(std::exchange(link, nullptr));
  }
  fixture(const fixture&) = delete;
  fixture& operator=(const fixture&) = delete;

  void connect(reports_by way) {
    const std::lock_guard lock(mutex);
    publisher = std::make_shared<fake_publisher>(way);
    publisher->bell = waiting.bell();
    publisher->in_order = true;
    link = std::make_shared<fake_link>(publisher);
    REQUIRE(waiting.can_watch(*link));
    waiting.watch(*link);
  }
  void disconnect() {
    const std::lock_guard lock(mutex);
    waiting.forget(std::exchange(link, nullptr));
  }
  void send(std::uint64_t sequence) {
    const std::lock_guard lock(mutex);
    publisher->send(sequence);
  }
  // Starts threads that wait for samples and take one each time. Returns when all of them wait.
  void start(int threads) {
    for (int n = 0; n < threads; ++n) threads_.emplace_back([this] { run(); });
    REQUIRE(wait_until([&] { return asleep_ == threads; }));
  }
  // False: not in time.
  bool await_taken(int count) {
    return wait_until([&] { return taken_ == count; });
  }
  bool await_turn(int count) {
    return wait_until([&] { return turns_ >= count; });
  }
  [[nodiscard]] int turns() const { return turns_; }

  pi_mutex mutex;
  wait_point waiting;
  std::shared_ptr<fake_publisher> publisher;
  std::shared_ptr<fake_link> link;

 private:
  void run() {
    std::unique_lock lock(mutex);
    for (;;) {
      if (stop_) return;
      const auto ticket = waiting.ticket();
      if (sample s; link && link->try_recv(s, pick::next)) {
        ++taken_;
        if (link->has_more()) waiting.ring();
        continue;
      }
      ++asleep_;
      waiting.wait(lock, ticket, deadline(-1));
      --asleep_;
      ++turns_;
    }
  }

  std::vector<std::thread> threads_;
  std::atomic<int> asleep_{0};  // or about to be, with the lock
  std::atomic<int> taken_{0};
  std::atomic<int> turns_{0};
  bool stop_ = false;
};

}  // namespace

TEST_CASE("wait point: a sample wakes a thread, over each way and each time", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way);
    f.start(1);
    for (int n = 1; n <= 100; ++n) {
      f.send(static_cast<std::uint64_t>(n));
      REQUIRE(f.await_taken(n));
    }
  }
}

TEST_CASE("wait point: of several threads, each sample goes to one, also when the leader is busy", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way);
    f.start(4);
    for (int n = 1; n <= 300; ++n) f.send(static_cast<std::uint64_t>(n));
    CHECK(f.await_taken(300));
  }
}

TEST_CASE("wait point: a ring wakes every thread, whatever it waits for", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way);
    f.start(3);
    {
      const std::lock_guard lock(f.mutex);
      f.waiting.ring();
    }
    CHECK(f.await_turn(3));
  }
}

TEST_CASE("wait point: a wait ends at its deadline, and at once after a ring", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way);
    std::unique_lock lock(f.mutex);
    const auto ticket = f.waiting.ticket();
    f.waiting.wait(lock, ticket, deadline(1));
    CHECK(lock.owns_lock());
    CHECK_FALSE(f.waiting.is_awaited());
    f.waiting.ring();
    const deadline until(patience_ms);
    f.waiting.wait(lock, ticket, until);
    CHECK_FALSE(until.passed());
  }
}

TEST_CASE("wait point: a ring between the spin and the sleep is not lost", "[unit][threads]") {
  fixture f(reports_by::sleeper, 1us);
  f.publisher->after_spin = [&] {
    const std::lock_guard other(f.mutex);
    f.waiting.ring();
  };
  std::unique_lock lock(f.mutex);
  const deadline until(patience_ms);
  f.waiting.wait(lock, f.waiting.ticket(), until);
  CHECK_FALSE(until.passed());
  CHECK(f.publisher->spins == 1);
  CHECK(f.publisher->sleeps == 0);
}

TEST_CASE("wait point: a link that is replaced stays until the thread that waits for it has left", "[unit][threads]") {
  for (const auto way : {reports_by::descriptor, reports_by::sleeper}) {
    fixture f(way);
    f.start(1);
    const auto first = f.publisher;
    std::unique_lock lock(f.mutex);
    f.waiting.forget(std::exchange(f.link, nullptr));
    CHECK(first->is_open);
    lock.unlock();
    CHECK(f.await_turn(1));
    REQUIRE(wait_until([&] {
      const std::lock_guard again(f.mutex);
      return !first->is_open;
    }));
    f.connect(reports_by::descriptor);
    f.send(1);
    CHECK(f.await_taken(1));
  }
}

TEST_CASE("wait point: a link for which no thread waits ends at once", "[unit][threads]") {
  fixture f(reports_by::descriptor);
  f.disconnect();
  CHECK_FALSE(f.publisher->is_open);
}

TEST_CASE("wait point: threads that wait without a link find the next one", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(reports_by::descriptor);
    f.disconnect();
    f.start(2);
    f.connect(way);
    f.send(1);
    CHECK(f.await_taken(1));
  }
}

TEST_CASE("wait point: a thread spins before it sleeps when it may", "[unit][threads]") {
  {
    fixture f(reports_by::sleeper, 1us);
    f.start(1);
    REQUIRE(wait_until([&] {
      const std::lock_guard lock(f.mutex);
      return f.publisher->sleeps == 1;
    }));
    const std::lock_guard lock(f.mutex);
    CHECK(f.publisher->spins == 1);
  }
  for (const auto way : all_ways) {
    fixture f(way, 60s);
    f.start(1);
    f.send(1);
    CHECK(f.await_taken(1));
    CHECK(f.publisher->sleeps == 0);
  }
}

TEST_CASE("wait point: a look-out ends with a sample, a ring, or its time", "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way);
    const auto look_out = [&](std::chrono::nanoseconds time, auto meanwhile) {
      std::unique_lock lock(f.mutex);
      const auto ticket = f.waiting.ticket();
      std::thread other;
      meanwhile(other);
      const bool news = f.waiting.look_out(lock, ticket, deadline(orc::detail::monotonic::now() + time));
      lock.unlock();
      if (other.joinable()) other.join();
      return news;
    };
    CHECK_FALSE(look_out(1ms, [](std::thread&) {}));
    CHECK(look_out(60s, [&](std::thread& other) { other = std::thread([&] { f.send(1); }); }));
    {
      const std::lock_guard lock(f.mutex);
      sample s;
      REQUIRE(f.link->try_recv(s, pick::next));
    }
    CHECK(look_out(60s, [&](std::thread& other) {
      other = std::thread([&] {
        const std::lock_guard lock(f.mutex);
        f.waiting.ring();
      });
    }));
  }
}

TEST_CASE("wait point: while one thread looks out, others sleep, and one of them goes on when it leaves",
          "[unit][threads]") {
  for (const auto way : all_ways) {
    fixture f(way, 60s);
    f.start(3);
    for (std::uint64_t sequence = 1; sequence <= 20; ++sequence) {
      f.send(sequence);
      REQUIRE(f.await_taken(static_cast<int>(sequence)));
    }
  }
}

TEST_CASE("wait point: the user's descriptor shows samples and rings", "[unit][threads]") {
  for (const auto way : {reports_by::descriptor, reports_by::bell}) {
    fixture f(way);
    CHECK_FALSE(f.waiting.is_awaited());
    const int fd = f.waiting.fd();
    REQUIRE(fd >= 0);
    CHECK(f.waiting.is_awaited());
    CHECK(f.waiting.fd() == fd);
    CHECK(readable(fd, 0));  // a sample may have been there before
    static_cast<void>(f.waiting.ticket());
    CHECK_FALSE(readable(fd, 0));
    f.send(1);
    CHECK(readable(fd, 0));
    sample s;
    static_cast<void>(f.waiting.ticket());
    REQUIRE(f.link->try_recv(s, pick::next));
    CHECK_FALSE(readable(fd, 0));
    f.waiting.ring();
    CHECK(readable(fd, 0));
  }
}

TEST_CASE("wait point: the user's descriptor follows the link", "[unit][threads]") {
  fixture f(reports_by::descriptor);
  const int fd = f.waiting.fd();
  const auto first = f.publisher;
  f.disconnect();
  f.connect(reports_by::descriptor);
  static_cast<void>(f.waiting.ticket());
  CHECK_FALSE(readable(fd, 0));
  f.send(1);
  CHECK(readable(fd, 0));
}

TEST_CASE("wait point: a lost link does not keep the user's event loop busy", "[unit][threads]") {
  fixture f(reports_by::descriptor);
  const int fd = f.waiting.fd();
  static_cast<void>(f.waiting.ticket());
  f.publisher->lose();
  CHECK(readable(fd, 0));
  f.waiting.link_is_lost();
  CHECK_FALSE(readable(fd, 0));
}

TEST_CASE("wait point: a sleeper is asked for alerts when the user polls, and they are polled", "[unit][threads]") {
  fixture f(reports_by::sleeper);
  CHECK_FALSE(f.publisher->wants_alerts);
  const int fd = f.waiting.fd();
  CHECK(f.publisher->wants_alerts);
  f.waiting.look_for_alerts();
  static_cast<void>(f.waiting.ticket());
  CHECK_FALSE(readable(fd, 0));
  const orc::detail::unique_fd alert(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  f.publisher->alert = alert.get();
  f.waiting.look_for_alerts();
  CHECK(readable(fd, 0));  // a sample may have come before
  static_cast<void>(f.waiting.ticket());
  CHECK_FALSE(readable(fd, 0));
  ::eventfd_write(alert.get(), 1);
  CHECK(readable(fd, 0));
  f.disconnect();
  static_cast<void>(f.waiting.ticket());
  CHECK_FALSE(readable(fd, 0));
  f.connect(reports_by::sleeper);  // asks each later link at once
  CHECK(f.publisher->wants_alerts);
}

TEST_CASE("wait point: without descriptors it watches only links that need none", "[unit][threads]") {
  if (under_address_sanitizer) return skip(ubsan_needs_descriptors);
  wait_point waiting(0us);
  const fake_link polled(std::make_shared<fake_publisher>(reports_by::descriptor));
  const fake_link rung(std::make_shared<fake_publisher>(reports_by::bell));
  const no_descriptors limit;
  CHECK_FALSE(waiting.can_watch(polled));
  CHECK(waiting.can_watch(rung));
  CHECK(waiting.fd() == -1);
}
