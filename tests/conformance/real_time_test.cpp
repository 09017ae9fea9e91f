// What a sample costs a control loop beyond computing: liborc/doc/design/real-time.md has the table.
#include <atomic>
#include <stdexcept>
#include <string>

#include "conformance/link.h"
#include "orc/realtime.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/forked.h"
#include "support/path_counter.h"

using namespace orc::test;

namespace {

constexpr std::size_t warm_up = 2'000;
constexpr std::size_t samples = 10'000;
constexpr int max_rounds = 5;

enum class outcome { unknown, done, not_locked, not_counted };

struct measured {
  std::atomic<outcome> end{outcome::unknown};
  path_costs send;
  path_costs receive;
};

// For each sample, at most.
struct limits {
  std::size_t send_calls, receive_calls;
  std::size_t send_allocations, receive_allocations;
};

template <class Transport>
[[nodiscard]] limits limits_of(std::size_t size) {
  if (Transport::kind == orc::transport::shm) return {0, 0, 0, 0};
  if (Transport::kind == orc::transport::inproc) return {0, 0, 1, 0};
  if (Transport::kind == orc::transport::multicast) return {1, 2, 0, 1};
  if (size < 2048) return {1, 2, 0, 1};
  return {1, 3, 0, 1};  // the header of a large frame is read alone; the last value keeps its memory
}

// The receive finds the sample there: a sleep and a wake-up cost one more system call on either side. In a process of
// its own, because locked memory stays locked.
template <class Transport>
void measure(measured& into, std::size_t size) {
  if (!orc::lock_memory()) {
    into.end = outcome::not_locked;
    return;
  }
  linked<Transport> link;
  path_counter counter;  // before the warm-up: its fork makes this process touch its pages anew
  if (!counter.counts()) {
    into.end = outcome::not_counted;
    return;
  }
  const std::string payload(size, 'x');
  const auto send = [&] { require(link.publisher.send(payload.data(), payload.size()), "send"); };
  const auto receive = [&] {
    if (link.subscriber.recv(patience_ms).size() != payload.size()) throw std::runtime_error("no sample");
  };
  for (std::size_t n = 0; n < warm_up; ++n) {
    send();
    receive();
  }
  // Rare paths touch memory later: the steady state is there when a round finds none.
  for (int round = 0; round < max_rounds; ++round) {
    into.send = into.receive = {};
    for (std::size_t n = 0; n < samples; ++n) {
      into.send += counter.of(send);
      into.receive += counter.of(receive);
    }
    if (into.send.page_faults + into.receive.page_faults == 0) break;
  }
  into.end = outcome::done;
}

std::string text_of(const path_costs& costs) {
  return std::to_string(costs.system_calls) + " system calls, " + std::to_string(costs.allocations) + " allocations, " +
         std::to_string(costs.plain_locks) + " locks without priority inheritance, " +
         std::to_string(costs.page_faults) + " page faults";
}

}  // namespace

TEMPLATE_TEST_CASE("real time: a sample costs no page fault, no plain lock and few system calls",
                   "[conformance][threads]", ORC_TEST_TRANSPORTS) {
  for (const std::size_t size : {std::size_t{100}, std::size_t{100'000}}) {
    shared_with_children<measured> costs;
    forked([&] { measure<TestType>(*costs, size); }).wait();
    if (costs->end == outcome::not_locked) return skip("locked memory is not allowed");
    if (costs->end == outcome::not_counted) return skip("system calls cannot be counted here");
    INFO(samples << " samples of " << size << " bytes");
    INFO("send: " << text_of(costs->send));
    INFO("receive: " << text_of(costs->receive));
    REQUIRE(costs->end == outcome::done);
    const limits most = limits_of<TestType>(size);
    CHECK(costs->send.page_faults + costs->receive.page_faults == 0);
    CHECK(costs->send.plain_locks + costs->receive.plain_locks == 0);
    CHECK(costs->send.allocations <= most.send_allocations * samples);
    CHECK(costs->receive.allocations <= most.receive_allocations * samples);
    // Now and then a send wakes the housekeeping thread, or a receive has to wait.
    CHECK(costs->send.system_calls <= most.send_calls * samples + samples / 4);
    CHECK(costs->receive.system_calls <= most.receive_calls * samples + samples / 4);
  }
}
