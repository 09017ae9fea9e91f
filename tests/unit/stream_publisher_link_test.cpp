// One visit of the housekeeping to a publication's link: it holds the lock that send() takes.
#include "transport/stream/stream_publisher_link.h"

#include <deque>

#include "support/catch.h"
#include "support/stream_peer.h"
#include "support/temp_dir.h"
#include "support/wait_until.h"
#include "transport/stream/stream_transport.h"

using namespace orc::test;
namespace wire = orc::wire;
using orc::detail::ipc_transport;
using orc::detail::publisher_link;

TEST_CASE("stream publisher link: of a crowd it accepts a few at a time, and rests in between", "[unit]") {
  temp_dir directory;
  orc::detail::publication_spec spec;
  spec.id = wire::id::random();
  spec.directory = directory.path();
  spec.lacking = std::make_shared<orc::detail::sample_backlog>();
  auto made = ipc_transport().advertise(spec);
  auto* const link = std::get_if<std::unique_ptr<publisher_link>>(&made);
  REQUIRE(link != nullptr);
  (*link)->service(nullptr);
  CHECK((*link)->rest() == orc::detail::monotonic::duration::zero());

  std::deque<stream_peer> crowd;
  for (int n = 0; n < 60; ++n) crowd.push_back(stream_peer::connected_to((*link)->where().address));
  // Those that are accepted are greeted.
  const auto accepted = [&] {
    return std::count_if(crowd.begin(), crowd.end(), [](const auto& each) { return readable(each.fd(), 0); });
  };
  int visits = 0;
  for (std::ptrdiff_t before = 0; before < 60;) {
    (*link)->service(nullptr);
    const auto now = accepted();
    REQUIRE(now > before);
    CHECK(now - before <= orc::detail::visit::most_accepted);
    if (now < 60) CHECK((*link)->rest() > orc::detail::monotonic::duration::zero());
    before = now;
    ++visits;
  }
  CHECK(visits >= 4);

  // One that speaks keeps its place when further ones come; silent ones give theirs.
  REQUIRE(crowd.front().say(zmtp_introduction("DEALER")));
  (*link)->service(nullptr);
  for (int n = 0; n < 64; ++n) crowd.push_back(stream_peer::connected_to((*link)->where().address));
  CHECK(wait_until([&] {
    (*link)->service(nullptr);
    return accepted() == 124;
  }));
  CHECK_FALSE(crowd.front().is_cut_off());
  CHECK(std::count_if(crowd.begin(), crowd.end(), [](auto& each) { return each.is_cut_off(); }) == 60);
  CHECK((*link)->readers() == 0);
}
