// A receive waits as long as its caller allows, neither more nor less: poll, time limit, for ever, descriptor.
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <climits>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

TEMPLATE_TEST_CASE("waiting: a poll says that there is nothing new", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (int n = 0; n < 1000; ++n) {
    const auto got = l.subscriber.recv(0);
    REQUIRE(!got);
    REQUIRE(got.status() == orc::errc::nothing_new);
    REQUIRE(got.size() == 0);
  }
  REQUIRE(send_value(l.publisher, 1));
  REQUIRE(l.subscriber.recv(patience_ms));
  CHECK(l.subscriber.recv(0).status() == orc::errc::nothing_new);
}

TEMPLATE_TEST_CASE("waiting: a poll finds what was sent", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (std::uint64_t value = 1; value <= rounds(300, 3000); ++value) {
    REQUIRE(send_value(l.publisher, value));
    orc::message got;
    REQUIRE(wait_until([&] { return static_cast<bool>(got = l.subscriber.recv(0)); }));
    REQUIRE(value_of(got) == value);
  }
}

TEMPLATE_TEST_CASE("waiting: a time limit is waited out, not less", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (const int limit_ms : {1, 10, 100}) {
    const auto start = steady::now();
    const auto got = l.subscriber.recv(limit_ms);
    CHECK(!got);
    CHECK(got.status() == orc::errc::timed_out);
    CHECK(steady::now() - start >= std::chrono::milliseconds(limit_ms) - std::chrono::microseconds(100));
  }
}

TEMPLATE_TEST_CASE("waiting: a time limit below a millisecond is waited out too", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const auto waits = [](auto&& wait) {
    const auto start = std::chrono::steady_clock::now();
    wait();
    return std::chrono::steady_clock::now() - start;
  };
  for (int n = 0; n < 20; ++n) {
    CHECK(waits([&] { CHECK(l.subscriber.recv(200us).status() == orc::errc::timed_out); }) >= 200us);
    CHECK(waits([&] { CHECK(l.subscriber.recv_next(200us).status() == orc::errc::timed_out); }) >= 200us);
    CHECK(waits([&] { CHECK(l.publisher.wait_readers(2, 200us).code() == orc::errc::timed_out); }) >= 200us);
  }
  CHECK(l.subscriber.recv(0ns).status() == orc::errc::nothing_new);
  CHECK(l.subscriber.recv(-1ns).status() == orc::errc::bad_argument);
  CHECK(l.subscriber.wait_connected(-1ns).code() == orc::errc::bad_argument);
  CHECK(l.publisher.wait_readers(1, -1ns).code() == orc::errc::bad_argument);
  CHECK(l.subscriber.wait_connected(orc::forever));
  REQUIRE(send_value(l.publisher, 7));
  CHECK(value_of(l.subscriber.recv(orc::forever)) == 7);
}

TEMPLATE_TEST_CASE("waiting: a waiting receive wakes for a sample, also with the longest limits",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  for (const int limit_ms : {-1, INT_MAX, INT_MAX - 1, patience_ms}) {
    std::atomic<bool> waiting{false};
    std::atomic<std::uint64_t> seen{0};
    std::thread reader([&] {
      waiting = true;
      const auto got = l.subscriber.recv(limit_ms);
      seen = got ? value_of(got) : UINT64_MAX;
    });
    CHECK(wait_until([&] { return waiting.load(); }));
    std::this_thread::yield();
    CHECK(send_value(l.publisher, 42));
    CHECK(wait_until([&] { return seen != 0; }));
    CHECK(seen == 42);
    reader.join();
  }
}

TEMPLATE_TEST_CASE("waiting: wake-ups are never lost in a ping-pong", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> there;
  REQUIRE(there.receiver.register_topic("back", offered<TestType>()));
  REQUIRE(there.sender.request_topic("back", wanted<TestType>()).result());
  const std::uint64_t last = rounds(5000, 100'000);
  std::thread echo([&] {
    auto back = there.receiver.publisher("back");
    for (std::uint64_t n = 0; n < last;) {
      const auto got = there.subscriber.recv(patience_ms);
      if (!got || !send_value(back, value_of(got))) return;
      n = value_of(got);
    }
  });
  auto back = there.sender.subscriber("back");
  std::uint64_t n = 0;
  for (; n < last; ++n) {
    if (!send_value(there.publisher, n + 1)) break;
    const auto got = back.recv(patience_ms);
    if (!got || value_of(got) != n + 1) break;
  }
  CHECK(n == last);
  echo.join();
}

TEMPLATE_TEST_CASE("waiting: release ends the wait of every thread with closed", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  for (int round = 0; round < 10; ++round) {
    linked<TestType> l;
    std::atomic<int> waiting{0};
    std::atomic<int> closed{0};
    std::vector<std::thread> readers;
    for (int n = 0; n < 3; ++n) {
      readers.emplace_back([&] {
        ++waiting;
        if (l.subscriber.recv(-1).status() == orc::errc::closed) ++closed;
      });
    }
    CHECK(wait_until([&] { return waiting == 3; }));
    if (round % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));  // either side of the race
    CHECK(l.receiver.release_topic(l.topic));
    for (auto& reader : readers) reader.join();
    CHECK(closed == 3);
    CHECK(l.subscriber.recv(0).status() == orc::errc::closed);
    CHECK(l.receiver.recv_msg(l.topic, 0).status() == orc::errc::not_requested);
  }
}

TEMPLATE_TEST_CASE("waiting: the end of the participant ends the wait too", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  for (int round = 0; round < 10; ++round) {
    linked<TestType> l;
    auto reader_side = std::make_unique<extra_reader<TestType>>(l.address_broker);
    orc::subscriber handle = reader_side->subscriber;
    std::atomic<bool> waiting{false};
    std::atomic<orc::errc> status{orc::errc::ok};
    std::thread reader([&] {
      waiting = true;
      status = handle.recv(-1).status();
    });
    CHECK(wait_until([&] { return waiting.load(); }));
    reader_side.reset();
    reader.join();
    CHECK(status == orc::errc::closed);
  }
}

TEMPLATE_TEST_CASE("waiting: the descriptor is readable while there is something, and only then",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const int fd = l.subscriber.fd();
  REQUIRE(fd >= 0);
  CHECK(l.subscriber.fd() == fd);
  // It may be readable once more than needed; a drained one must come to rest.
  const auto drained = [&] { return !l.subscriber.recv(0) && !readable(fd, 0); };
  CHECK(wait_until(drained));
  for (std::uint64_t value = 1; value <= rounds(300, 3000); ++value) {
    REQUIRE(send_value(l.publisher, value));
    REQUIRE(readable(fd, patience_ms));
    REQUIRE(readable(fd, 0));  // level: still so until it is received
    orc::message got;
    REQUIRE(wait_until([&] { return static_cast<bool>(got = l.subscriber.recv(0)); }));
    REQUIRE(value_of(got) == value);
    REQUIRE(wait_until(drained));
  }
}

TEMPLATE_TEST_CASE("waiting: a sample from before fd() was called makes it readable", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  REQUIRE(send_value(l.publisher, 1));
  const int fd = l.subscriber.fd();
  REQUIRE(fd >= 0);
  CHECK(readable(fd, patience_ms));
  orc::message got;
  CHECK(wait_until([&] { return static_cast<bool>(got = l.subscriber.recv(0)); }));
  CHECK(value_of(got) == 1);
}

TEMPLATE_TEST_CASE("waiting: edge-triggered epoll loses no wake-up", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  linked<TestType> l;
  const int fd = l.subscriber.fd();
  REQUIRE(fd >= 0);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  epoll_event interest{};
  interest.events = EPOLLIN | EPOLLET;
  interest.data.fd = fd;
  REQUIRE(::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) == 0);

  std::atomic<std::uint64_t> acknowledged{0};
  const std::uint64_t last = rounds(2000, 50'000);
  std::thread writer([&] {
    for (std::uint64_t value = 1; value <= last; ++value) {
      if (!send_value(l.publisher, value)) return;
      // Now and then let the reader catch up: only then a lost wake-up would leave it asleep.
      if (value % 3 == 0 && !wait_until([&] { return acknowledged == value; })) return;
    }
  });
  std::uint64_t seen = 0;
  bool in_order = true;
  while (seen < last) {
    epoll_event event{};
    if (::epoll_wait(epoll, &event, 1, patience_ms) != 1) break;
    for (;;) {
      const auto got = l.subscriber.recv(0);
      if (!got) break;
      in_order = in_order && value_of(got) > seen;
      seen = value_of(got);
      acknowledged = seen;
    }
  }
  CHECK(seen == last);
  CHECK(in_order);
  writer.join();
  ::close(epoll);
}

namespace {

std::atomic<std::uint64_t> interruptions{0};
void interrupted(int) { ++interruptions; }

}  // namespace

TEMPLATE_TEST_CASE("waiting: signals do not end or shorten a wait", "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  struct sigaction action {};
  action.sa_handler = interrupted;  // no SA_RESTART: every system call sees EINTR
  struct sigaction before {};
  REQUIRE(::sigaction(SIGUSR1, &action, &before) == 0);
  {
    linked<TestType> l;
    const pthread_t waiter = ::pthread_self();
    std::atomic<bool> stop{false};
    interruptions = 0;
    std::thread storm([&] {
      while (!stop) {
        ::pthread_kill(waiter, SIGUSR1);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });

    const auto start = steady::now();
    const auto nothing = l.subscriber.recv(300);
    CHECK(nothing.status() == orc::errc::timed_out);
    CHECK(steady::now() - start >= std::chrono::milliseconds(299));
    CHECK(interruptions > 0);

    std::uint64_t seen = 0;
    for (std::uint64_t value = 1; value <= rounds(1000, 20'000); ++value) {
      if (!send_value(l.publisher, value)) break;
      const auto got = l.subscriber.recv(patience_ms);
      if (!got) break;
      seen = value_of(got);
    }
    CHECK(seen == rounds(1000, 20'000));
    // Set-up calls, too.
    CHECK(l.sender.register_topic("during/storm", offered<TestType>()));
    CHECK(l.receiver.request_topic("during/storm", wanted<TestType>()).result());
    stop = true;
    storm.join();
  }
  ::sigaction(SIGUSR1, &before, nullptr);
}
