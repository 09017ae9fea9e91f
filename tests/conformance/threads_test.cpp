// All calls are safe from any thread.
#include <atomic>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"
#include "support/wait_until.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("threads: a participant per thread, each with a link of its own", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  std::atomic<int> complete{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      const std::string topic = "thread/" + std::to_string(t);
      orc::participant sender(address_broker.options());
      orc::participant receiver(address_broker.options());
      if (!sender.register_topic(topic, offered<TestType>())) return;
      if (!receiver.request_topic(topic, wanted<TestType>()).result()) return;
      for (std::uint64_t value = 1; value <= rounds(500, 20'000); ++value) {
        if (!sender.send_msg(topic, &value, sizeof value)) return;
        if (value_of(receiver.recv_msg(topic, patience_ms)) != value) return;
      }
      ++complete;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(complete == 8);
}

TEMPLATE_TEST_CASE("threads: many topics of one participant, a thread on each end of each", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  std::atomic<int> complete{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    const std::string topic = "many/" + std::to_string(t);
    REQUIRE(sender.register_topic(topic, offered<TestType>()));
    REQUIRE(receiver.request_topic(topic, wanted<TestType>()).result());
    const std::uint64_t last = rounds(20'000, 500'000);
    threads.emplace_back([&, topic, last] {
      for (std::uint64_t value = 1; value <= last; ++value) {
        if (!sender.send_msg(topic, &value, sizeof value)) return;
      }
    });
    threads.emplace_back([&, topic, last] {
      std::uint64_t seen = 0;
      while (seen < last) {
        const auto got = receiver.recv_msg(topic, patience_ms);
        if (!got || value_of(got) <= seen) return;
        seen = value_of(got);
      }
      ++complete;
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(complete == 6);
}

TEMPLATE_TEST_CASE("threads: several send on one topic, the sequence has no doubles", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 65'536));
  constexpr std::uint64_t senders = 4;
  const std::uint64_t each = rounds(3000, 15'000);
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> failed{0};
  for (std::uint64_t t = 0; t < senders; ++t) {
    threads.emplace_back([&, t] {
      for (std::uint64_t n = 1; n <= each; ++n) {
        if (!send_value(l.publisher, t * 1'000'000 + n)) ++failed;
      }
    });
  }
  std::uint64_t latest[senders] = {};
  bool each_in_order = true;
  std::uint64_t sequence = 0;
  while (sequence < senders * each) {
    const auto got = l.subscriber.recv(patience_ms);
    if (!got || got.sequence() != sequence + 1) break;
    sequence = got.sequence();
    const std::uint64_t t = value_of(got) / 1'000'000;
    each_in_order = each_in_order && t < senders && value_of(got) % 1'000'000 == latest[t] + 1;
    if (t < senders) latest[t] = value_of(got) % 1'000'000;
  }
  for (auto& thread : threads) thread.join();
  CHECK(failed == 0);
  CHECK(sequence == senders * each);
  CHECK(each_in_order);
}

TEMPLATE_TEST_CASE("threads: of several that receive, each sample goes to one", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  linked<TestType> l(wanted<TestType>(0, 65'536));
  const std::uint64_t last = rounds(10'000, 60'000);
  std::vector<std::atomic<int>> times(last + 1);
  std::atomic<std::uint64_t> received{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      while (received < last) {
        const auto got = l.subscriber.recv(20);
        if (!got) continue;
        if (value_of(got) <= last) ++times[value_of(got)];
        ++received;
      }
    });
  }
  for (std::uint64_t value = 1; value <= last; ++value) CHECK(send_value(l.publisher, value));
  CHECK(wait_until([&] { return received == last; }));
  received = last;
  for (auto& thread : threads) thread.join();
  std::size_t not_once = 0;
  for (std::uint64_t value = 1; value <= last; ++value) not_once += times[value] != 1 ? 1u : 0u;
  CHECK(not_once == 0);
}

TEMPLATE_TEST_CASE("threads: declared and withdrawn while others send and receive", "[conformance][threads]",
                   ORC_TEST_TRANSPORTS) {
  broker_process address_broker;
  orc::participant sender(address_broker.options());
  orc::participant receiver(address_broker.options());
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> sent{0};
  std::atomic<std::uint64_t> received{0};
  std::thread sending([&] {
    for (std::uint64_t value = 1; !stop; ++value) {
      if (sender.send_msg("churn", &value, sizeof value)) ++sent;
      if (value % 64 == 0) std::this_thread::yield();
    }
  });
  std::thread receiving([&] {
    while (!stop) {
      if (receiver.recv_msg("churn", 1)) ++received;
    }
  });
  std::thread asking([&] {
    while (!stop) {
      const auto handle = receiver.subscriber("churn");
      if (handle) static_cast<void>(handle.link());
      static_cast<void>(sender.publisher("churn").readers());
      static_cast<void>(sender.broker_endpoint());
      std::this_thread::yield();
    }
  });
  bool all_well = true;
  for (std::size_t round = 0; round < rounds(30, 500, 5); ++round) {
    all_well = all_well && sender.register_topic("churn", offered<TestType>());
    all_well = all_well && receiver.request_topic("churn", wanted<TestType>(1, 0, 0)).result();
    const std::uint64_t before = received;
    all_well = all_well && wait_until([&] { return received > before; });
    all_well = all_well && (round % 2 != 0 || sender.unregister_topic("churn"));
    all_well = all_well && (round % 3 != 0 || receiver.release_topic("churn"));
    if (!all_well) break;
  }
  CHECK(all_well);
  stop = true;
  sending.join();
  receiving.join();
  asking.join();
  CHECK(sent > 0);
}
