// contract.md 3: what lagging in-order readers cost depends on the samples, not on how many readers lag.
#include <cstdio>
#include <deque>
#include <string>

#include "support/broker_process.h"
#include "support/broker_view.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/stream_peer.h"
#include "support/test_node.h"
#include "support/wait_until.h"

using namespace orc::test;
namespace wire = orc::wire;

TEST_CASE("lagging readers: of a publication over shm, ipc and tcp share one copy of each sample, and one budget",
          "[fault]") {
  constexpr std::uint32_t depth = 60'000;
  constexpr std::size_t size = 100'000;
  constexpr std::uint64_t count = under_sanitizer ? 800 : 1500;
  broker_process address_broker;
  test_node publisher;
  publisher.must("open " + address_broker.endpoint());
  publisher.must("register t shm,ipc,tcp");
  test_node honest;  // over shm, so that samples lie in slots, which cannot be kept
  honest.must("open " + address_broker.endpoint());
  honest.must("request t shm 1 64 " + std::to_string(patience_ms));
  honest.must("collect t");

  raw_client client(address_broker.endpoint());
  const wire::id publication = described(client, "t").publication->publication;
  std::deque<stream_peer> lagging;
  for (int n = 0; n < 6; ++n) {
    for (const auto kind : {wire::transport::ipc, wire::transport::tcp})
      lagging.push_back(joined_peer(address_of(address_broker.endpoint(), "t", kind),
                                    hello_frame(publication, wire::id::random(), 0, depth)));
  }
  publisher.must("send t 1 " + std::to_string(size));
  const proc_stats before = stats_of(publisher.process().pid());
  publisher.must("stream t " + std::to_string(size) + " 2000 " + std::to_string(count));
  REQUIRE(wait_until([&] { return publisher.progress("t").done; }, 2 * patience));
  const proc_stats after = stats_of(publisher.process().pid());
  std::printf("slowest send beside 12 lagging readers: %ld us; memory: %zu MiB\n",
              static_cast<long>(publisher.progress("t").slowest_us), (after.own_kib - before.own_kib) / 1024);
  // PROTOCOL.md: 64 MiB, also of what connections are in the middle of.
  if (!under_sanitizer) CHECK(after.own_kib < before.own_kib + 88 * 1024);
  CHECK(wait_until([&] { return honest.stats("t").last_value == count; }));

  // What was kept comes in order, up to the last one, over both links.
  for (stream_peer* const reader : {&lagging[0], &lagging[1]}) {
    std::uint64_t last = 0;
    std::size_t kept = 0;
    bool in_order = true;
    while (last < count + 1) {
      const auto frame = reader->hear();
      REQUIRE(frame);
      std::uint64_t sequence = 0;
      std::memcpy(&sequence, frame->data(), 8);
      if (sequence == 0) continue;
      in_order = in_order && sequence > last;
      last = sequence;
      ++kept;
    }
    CHECK(in_order);
    CHECK(kept >= 64 * 1024 * 1024 / (2 * size));
  }
  // Those that never read go, and with them what was kept for them.
  lagging.clear();
  publisher.must("send t 2 8");
  CHECK(wait_until([&] { return stats_of(publisher.process().pid()).fds <= before.fds - 12; }));
}
