// contract.md 1: newest wins also for a user who comes back while the stream runs: the housekeeping took samples out
// meanwhile, and newer ones are waiting behind them.
#include <atomic>
#include <thread>

#include "conformance/link.h"
#include "support/catch.h"
#include "support/payload.h"

using namespace orc::test;

TEMPLATE_TEST_CASE("regression: a user who comes back into a running stream gets the newest, not what was kept",
                   "[conformance][threads]", inproc,
                   ipc) {  // over these a sample has arrived when its send has returned
  linked<TestType> link;
  std::atomic<std::uint64_t> sent{0};
  std::jthread sending([&](const std::stop_token& stop) {
    for (std::uint64_t value = 1; !stop.stop_requested(); ++value) {
      static_cast<void>(send_value(link.publisher, value));
      sent = value;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  for (std::size_t n = 0; n < rounds(40, 400); ++n) {
    std::this_thread::sleep_for(std::chrono::milliseconds(15 + n % 10));  // away
    const std::uint64_t before = sent;
    const auto got = link.subscriber.recv(patience_ms);
    REQUIRE(got);
    REQUIRE(value_of(got) >= before);
  }
}
