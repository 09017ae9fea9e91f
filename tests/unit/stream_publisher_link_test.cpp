// One visit of the housekeeping to a publication's link: it holds the lock that send() takes.
#include "transport/stream/stream_publisher_link.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <numeric>
#include <span>
#include <vector>

#include "base/files/temporary_directory.h"
#include "support/catch.h"
#include "support/proc_stats.h"
#include "support/stream_peer.h"
#include "support/value_of.h"
#include "support/wait_until.h"
#include "transport/stream/stream_transport.h"

using namespace orc::test;
namespace wire = orc::wire;
using orc::detail::ipc_transport;
using orc::detail::publisher_link;
using orc::detail::sample;

namespace {

struct publication_over_ipc {
  publication_over_ipc() {
    spec.id = wire::id::random();
    spec.directory = directory.path();
    spec.lacking = std::make_shared<orc::detail::sample_backlog>();
    link = value_of(ipc_transport().advertise(spec));
  }

  // Joined, in order.
  stream_peer reader(std::uint32_t depth) {
    auto peer = stream_peer::connected_to(link->where().address);
    REQUIRE(peer.say(zmtp_introduction("DEALER") + zmtp_frame(hello_frame(spec.id, wire::id::random(), 0, depth))));
    const auto joined = link->readers() + 1;
    REQUIRE(wait_until([&] {
      link->service(nullptr);
      return link->readers() == joined;
    }));
    return peer;
  }

  void send(std::size_t size) {
    sample s{orc::detail::allocate_frame(size), ++newest, 5};
    std::memset(s.buffer.payload(), 0, size);
    link->commit(s);
  }

  orc::detail::temporary_directory directory;
  orc::detail::publication_spec spec;
  std::unique_ptr<publisher_link> link;
  std::uint64_t newest = 0;
};

// The sequences that have come, not those of link messages.
std::vector<std::uint64_t> heard_by(stream_peer& peer) {
  std::vector<std::uint64_t> all;
  while (const auto frame = peer.hear(std::chrono::milliseconds(0))) {
    const auto sequence = wire::get(std::as_bytes(std::span(*frame)).data()).sequence;
    if (sequence != 0) all.push_back(sequence);
  }
  return all;
}

}  // namespace

TEST_CASE("stream publisher link: a reader that catches up beside one that does not gets each sample once", "[unit]") {
  publication_over_ipc published;
  const stream_peer never_reads = published.reader(60'000);
  stream_peer reads_at_times = published.reader(60'000);
  const stream_peer another = published.reader(60'000);
  std::vector<std::uint64_t> heard;
  const auto listen = [&] {
    const auto more = heard_by(reads_at_times);
    heard.insert(heard.end(), more.begin(), more.end());
  };
  while (!published.link->service(nullptr).behind) published.send(100'000);
  for (int round = 0; round < 20; ++round) {
    for (int n = 0; n < 10; ++n) published.send(100'000);
    listen();  // now there is room, which the next send() finds
  }
  REQUIRE(wait_until([&] {
    published.link->service(nullptr);
    listen();
    return !heard.empty() && heard.back() == published.newest;
  }));
  std::vector<std::uint64_t> all(published.newest);
  std::iota(all.begin(), all.end(), 1);
  CHECK(heard == all);
}

TEST_CASE("stream publisher link: readers that stop in the middle of different samples share the budget", "[unit]") {
  constexpr std::size_t size = 2'000'000;
  constexpr std::size_t count = 80;
  publication_over_ipc published;
  stream_peer goes_on = published.reader(1);  // slower than the samples come, and always in the middle of one
  published.send(size);
  const auto before = stats_of();
  std::deque<stream_peer> never_read;
  for (std::size_t n = 0; n < count; ++n) {
    never_read.push_back(stream_peer::connected_to(published.link->where().address));
    REQUIRE(never_read.back().say(zmtp_introduction("DEALER") +
                                  zmtp_frame(hello_frame(published.spec.id, wire::id::random(), 0, n % 2))));
    for (int visits = 0; visits < 5; ++visits) published.link->service(nullptr);
    published.send(size);
    char some[65536];
    for (int reads = 0; reads < 4; ++reads) (void)::recv(goes_on.fd(), some, sizeof some, MSG_DONTWAIT);
    published.link->service(nullptr);
  }
  const auto after = stats_of();
  CHECK(published.spec.lacking->bytes() <= orc::detail::sample_backlog::max_bytes);
  if (!under_sanitizer) CHECK(after.own_kib < before.own_kib + 80 * 1024);
  // The ones that stopped first are the ones that are ended; who reads stays.
  CHECK_FALSE(goes_on.is_cut_off());
  CHECK(never_read.front().is_cut_off());
  CHECK_FALSE(never_read.back().is_cut_off());
  never_read.clear();
  published.link->service(nullptr);
}

TEST_CASE("stream publisher link: large samples reach several slow readers at once", "[unit]") {
  // Three of them in the middle of different samples are more than the budget.
  constexpr std::size_t size = 30'000'000;
  publication_over_ipc published;
  std::deque<stream_peer> readers;
  for (int n = 0; n < 3; ++n) {
    readers.push_back(published.reader(0));
    published.send(size);
  }
  CHECK(published.link->readers() == 3);
  for (std::size_t n = 0; n < readers.size(); ++n) {
    std::optional<std::string> heard;
    REQUIRE(wait_until([&] {
      published.link->service(nullptr);
      heard = readers[n].hear(std::chrono::milliseconds(0));
      return heard && heard->size() > size;
    }));
    CHECK(wire::get(std::as_bytes(std::span(*heard)).data()).sequence == n + 1);
  }
}

TEST_CASE("stream publisher link: a reader that lags catches up in visits, not in send()", "[unit]") {
  publication_over_ipc published;
  stream_peer slow = published.reader(60'000);
  while (!published.link->service(nullptr).behind) published.send(1000);
  for (int n = 0; n < 200; ++n) published.send(1000);
  std::vector<std::uint64_t> heard = heard_by(slow);
  const auto listen = [&] {
    const auto more = heard_by(slow);
    heard.insert(heard.end(), more.begin(), more.end());
    return more.size();
  };
  // There is room for many now.
  published.send(1000);
  CHECK(listen() <= 4);
  for (int n = 0; n < 5; ++n) {
    const auto pause = published.link->service(nullptr).pause;
    const auto more = listen();
    CHECK(more > 0);
    CHECK(more <= 17);  // and the rest of a begun one
    CHECK(pause > orc::detail::monotonic::duration::zero());
  }
  REQUIRE(wait_until([&] {
    published.link->service(nullptr);
    listen();
    return heard.back() == published.newest;
  }));
  std::vector<std::uint64_t> all(published.newest);
  std::iota(all.begin(), all.end(), 1);
  CHECK(heard == all);
  CHECK_FALSE(published.link->service(nullptr).behind);
  // One that is on time gets each sample from send() itself.
  published.send(1000);
  CHECK(listen() == 1);
}

TEST_CASE("stream publisher link: a send tries a few that are behind, and service() serves the others", "[unit]") {
  publication_over_ipc published;
  std::vector<stream_peer> crowd;
  while (crowd.size() < 10) crowd.push_back(published.reader(0));
  stream_peer reads = published.reader(0);
  for (std::uint64_t dropped = 0; dropped < crowd.size() + 1;) {
    const auto before = published.link->dropped();
    published.send(50'000);
    dropped = published.link->dropped() - before;
  }
  (void)heard_by(reads);  // now it has room
  const auto has_newest = [&] {
    const auto heard = heard_by(reads);
    return !heard.empty() && heard.back() == published.newest;
  };
  published.send(50'000);
  CHECK_FALSE(has_newest());
  sample last{orc::detail::allocate_frame(50'000), published.newest, 5};
  CHECK(wait_until([&] {
    published.link->service(&last);
    return has_newest();
  }));
}

TEST_CASE("stream publisher link: a hello that comes late counts in the visit that would end the stranger", "[unit]") {
  const publication_over_ipc published;
  published.link->service(nullptr);
  auto late = stream_peer::connected_to(published.link->where().address);
  published.link->service(nullptr);
  const auto accepted = std::chrono::steady_clock::now();
  REQUIRE(wait_until([&] { return ms_since(accepted) >= 1050; }));
  REQUIRE(late.say(zmtp_introduction("DEALER") + zmtp_frame(hello_frame(published.spec.id, wire::id::random(), 0, 0))));
  published.link->service(nullptr);
  CHECK(published.link->readers() == 1);
  CHECK_FALSE(late.is_cut_off());
}

TEST_CASE("stream publisher link: of a crowd it accepts a few at a time, and rests in between", "[unit]") {
  const publication_over_ipc published;
  const auto& link = published.link;
  CHECK(link->service(nullptr).pause == orc::detail::monotonic::duration::zero());

  std::deque<stream_peer> crowd;
  for (int n = 0; n < 60; ++n) crowd.push_back(stream_peer::connected_to(link->where().address));
  // Those that are accepted are greeted.
  const auto accepted = [&] {
    return std::count_if(crowd.begin(), crowd.end(), [](const auto& each) { return readable(each.fd(), 0); });
  };
  int visits = 0;
  for (std::ptrdiff_t before = 0; before < 60;) {
    const auto pause = link->service(nullptr).pause;
    const auto now = accepted();
    REQUIRE(now > before);
    CHECK(now - before <= orc::detail::visit::max_accepted);
    if (now < 60) CHECK(pause > orc::detail::monotonic::duration::zero());
    before = now;
    ++visits;
  }
  CHECK(visits >= 4);

  // One that speaks keeps its place when further ones come; silent ones give theirs.
  REQUIRE(crowd.front().say(zmtp_introduction("DEALER")));
  link->service(nullptr);
  for (int n = 0; n < 64; ++n) crowd.push_back(stream_peer::connected_to(link->where().address));
  CHECK(wait_until([&] {
    link->service(nullptr);
    return accepted() == 124;
  }));
  CHECK_FALSE(crowd.front().is_cut_off());
  CHECK(std::count_if(crowd.begin(), crowd.end(), [](auto& each) { return each.is_cut_off(); }) == 60);
  CHECK(link->readers() == 0);
}

TEST_CASE("stream publisher link: of a crowd, silent connections give way before they could say hello", "[unit]") {
  const publication_over_ipc published;
  const auto& link = published.link;
  const auto places_taken_after = [&](bool introduced) {
    std::deque<stream_peer> crowd;
    for (int n = 0; n < 65; ++n) {
      crowd.push_back(stream_peer::connected_to(link->where().address));
      if (introduced) REQUIRE(crowd.back().say(zmtp_introduction("DEALER")));
    }
    const auto start = std::chrono::steady_clock::now();
    CHECK(wait_until([&] {
      link->service(nullptr);
      return readable(crowd.back().fd(), 0);  // greeted
    }));
    return std::chrono::steady_clock::now() - start;
  };
  // On a busy machine the one may take longer, and the other shorter when the introductions are read late.
  auto introduced = places_taken_after(true);
  for (int n = 0; n < 50 && introduced < std::chrono::milliseconds(19); ++n) introduced = places_taken_after(true);
  CHECK(introduced >= std::chrono::milliseconds(19));
  auto silent = places_taken_after(false);
  for (int n = 0; n < 50 && silent >= introduced; ++n) silent = places_taken_after(false);
  CHECK(silent < introduced);
}
