// Shared memory where the system says no, and processes that die or fork while others hold its samples.
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"
#include "support/forked.h"
#include "support/payload.h"
#include "support/proc_stats.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

constexpr orc::transport_set only_shm{orc::transport::shm};

// As for somebody who is not root and was given no limit.
bool may_lock_nothing() {
  rlimit limit{0, 0};
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  for (auto& each : data) each.inheritable = 0;
  data[CAP_IPC_LOCK / 32].effective &= ~(1u << CAP_IPC_LOCK % 32);
  data[CAP_IPC_LOCK / 32].permitted &= ~(1u << CAP_IPC_LOCK % 32);
  return ::setrlimit(RLIMIT_MEMLOCK, &limit) == 0 && ::syscall(SYS_capset, &header, data) == 0;
}

// What a child found out.
struct answers {
  std::atomic<bool> limited{false};
  std::atomic<int> code{-1};
  std::atomic<bool> says_what_to_do{false};
  std::atomic<bool> works_all_the_same{false};
  std::atomic<bool> all_of_them{false};
};

// A publication and a subscription of this process exchange samples of several sizes.
bool exchange(orc::participant& participant, const std::string& topic) {
  if (!participant.request_topic(topic, {.connected_within = patience}).result()) return false;
  for (const std::size_t size : {8u, 1000u, 100'000u, 3'000'000u}) {
    const bytes sample = patterned(size);
    if (!participant.send_msg(topic, sample.data(), sample.size())) return false;
    if (!holds(participant.recv_msg(topic, patience_ms), sample)) return false;
  }
  return participant.subscriber(topic).link().transport == orc::transport::shm;
}

}  // namespace

TEST_CASE("shm: memory that may not be locked is said when it was promised, and done without when not",
          "[fault][threads]") {
  if (under_sanitizer) return skip("sanitizers do not lock memory");
  broker_process address_broker;
  shared_with_children<answers> said;
  forked child([&] {
    said->limited = may_lock_nothing();
    orc::participant participant(address_broker.options());
    const auto refused =
        participant
            .register_topic("promised", {.transports = only_shm, .expected_size = 1000, .memory = {.lock = true}})
            .result();
    said->says_what_to_do = refused.error().message().find("ulimit -l") != std::string::npos;
    said->code = static_cast<int>(refused.code());
    said->works_all_the_same =
        participant.register_topic("not_promised", {.transports = only_shm, .memory = {.lock = true}}) &&
        exchange(participant, "not_promised");
    said->all_of_them = true;
  });
  REQUIRE(wait_until([&] { return said->all_of_them.load(); }));
  child.wait();
  if (!said->limited) return skip("the right to lock memory cannot be given up here");
  CHECK(said->code == static_cast<int>(orc::errc::no_permission));
  CHECK(said->says_what_to_do);
  CHECK(said->works_all_the_same);
}

TEST_CASE("shm: locked and huge memory carry the same samples, and huge pages are no condition", "[fault][threads]") {
  broker_process address_broker;
  orc::participant participant(address_broker.options());
  REQUIRE(participant.register_topic("huge", {.transports = only_shm, .memory = {.huge_pages = true}}).result());
  CHECK(exchange(participant, "huge"));
  REQUIRE(participant
              .register_topic("large/huge",
                              {.transports = only_shm, .expected_size = 1'000'000, .memory = {.huge_pages = true}})
              .result());
  CHECK(exchange(participant, "large/huge"));
  const auto locked = participant
                          .register_topic("locked", {.transports = only_shm,
                                                     .expected_size = 100'000,
                                                     .memory = {.lock = true, .huge_pages = true}})
                          .result();
  if (locked.code() == orc::errc::no_permission) return skip("memory cannot be locked here");
  REQUIRE(locked);
  CHECK(exchange(participant, "locked"));
}

TEST_CASE("shm: ORC_TRANSPORTS names it for both ends", "[fault][threads]") {
  broker_process address_broker;
  const std::vector<std::string> environment{"ORC_TRANSPORTS=shm,ipc,tcp"};
  test_node publisher({}, environment);
  test_node subscriber({}, environment);
  test_node other;
  for (test_node* node : {&publisher, &subscriber, &other}) node->must("open " + address_broker.endpoint());
  publisher.must("register t any");
  subscriber.must("request t any 1 64 " + std::to_string(patience_ms));
  other.must("request t ipc 1 64 " + std::to_string(patience_ms));
  CHECK(subscriber.ask("link t").starts_with("shm "));
  CHECK(other.ask("link t").starts_with("ipc "));
  publisher.must("send t 11 8");
  CHECK(subscriber.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 11 "));
  CHECK(other.ask("recv t " + std::to_string(patience_ms)).starts_with("sample 1 11 "));
}

TEST_CASE("shm: messages of a publisher that was killed stay as they are", "[fault][threads]") {
  broker_process address_broker;
  const auto mapped_before = stats_of().shm_mapped;
  forked publisher([&] {
    orc::participant participant(address_broker.options());
    if (!participant.register_topic("t", {.transports = only_shm})) return;
    for (std::uint64_t n = 1;; ++n) {
      const bytes sample = patterned(100 * n, n);
      static_cast<void>(participant.send_msg("t", sample.data(), sample.size()));
      ::usleep(1000);
    }
  });
  std::vector<orc::message> held;
  {
    orc::participant participant(address_broker.options());
    REQUIRE(participant.request_topic("t", {.connected_within = patience}).result());
    for (int n = 0; n < 5; ++n) held.push_back(participant.recv_msg("t", patience_ms));
    CHECK(publisher.kill());
    for (const auto& each : held) CHECK(holds(each, patterned(each.size(), each.sequence())));
    CHECK(wait_until([&] { return !participant.subscriber("t").connected(); }));
    for (const auto& each : held) CHECK(holds(each, patterned(each.size(), each.sequence())));
  }
  for (const auto& each : held) CHECK(holds(each, patterned(each.size(), each.sequence())));
  held.clear();
  CHECK(stats_of().shm_mapped == mapped_before);
}

TEST_CASE("shm: a forked child lets go of the messages that it inherited, and they stay the parent's",
          "[fault][threads]") {
  broker_process address_broker;
  std::optional<orc::participant> sender(address_broker.options());
  std::optional<orc::participant> receiver(address_broker.options());
  REQUIRE(sender->register_topic("t", {.transports = only_shm}).result());
  REQUIRE(receiver->request_topic("t", {.connected_within = patience}).result());
  auto publisher = sender->publisher("t");
  auto subscriber = receiver->subscriber("t");
  std::uint64_t sequence = 0;
  const auto send = [&] {
    ++sequence;
    const bytes sample = patterned(200 + sequence % 300, sequence);
    return static_cast<bool>(publisher.send(sample.data(), sample.size()));
  };
  const auto is_whole = [](const orc::message& m) { return holds(m, patterned(m.size(), m.sequence())); };
  std::vector<orc::message> held;
  for (int n = 0; n < 6; ++n) {
    REQUIRE(send());
    held.push_back(subscriber.recv(patience_ms));
    REQUIRE(is_whole(held.back()));
  }
  for (int round = 0; round < 5; ++round) {
    shared_with_children<std::atomic<int>> whole;
    forked([&] {
      int n = 0;
      for (const auto& each : held) n += is_whole(each) ? 1 : 0;
      held.clear();
      publisher = {};
      subscriber = {};
      sender.reset();
      receiver.reset();
      *whole = n;
    }).wait();
    CHECK(*whole == static_cast<int>(held.size()));
    for (int n = 0; n < 1000; ++n) REQUIRE(send());
    for (const auto& each : held) CHECK(is_whole(each));
    const auto newest = subscriber.recv(patience_ms);
    CHECK(newest.sequence() == sequence);
    CHECK(is_whole(newest));
  }
  CHECK(subscriber.connected());
  CHECK(publisher.readers() == 1);
}
