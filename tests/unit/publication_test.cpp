// How a publication numbers its samples, opens its links and ends, over links that are made up.
#include "core/publication/publication.h"

#include <memory>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/fake_transport.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;
using orc::errc;
namespace wire = orc::wire;

namespace {

constexpr auto start = monotonic::time_point() + 1h;

network_scope local_scope() {
  network_scope scope;
  scope.directory = "/run/orc";
  return scope;
}

// A publication over inproc and ipc.
struct fixture {
  explicit fixture(const orc::topic_options& options = {})
      : tested(std::make_shared<publication>("t", options, transports.list())) {
    inproc->advertises = ipc->advertises = true;
  }
  void open() const { REQUIRE(tested->open(local_scope())); }
  void send(int count = 1) const {
    for (int n = 0; n < count; ++n) REQUIRE(tested->send("12345678", 8));
  }

  fake_transports transports;
  std::shared_ptr<fake_transport::record> inproc = transports.add(wire::transport::inproc);
  std::shared_ptr<fake_transport::record> ipc = transports.add(wire::transport::ipc);
  std::shared_ptr<publication> tested;
};

using sequences = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("publication: every sample goes over each link, numbered from 1", "[unit]") {
  fixture f;
  f.open();
  f.send(3);
  CHECK(f.inproc->links.front()->committed == sequences{1, 2, 3});
  CHECK(f.ipc->links.front()->committed == sequences{1, 2, 3});
  CHECK(f.tested->counters().sent == 3);
  CHECK(f.tested->counters().bytes == 24);
}

TEST_CASE("publication: reports when it sent its newest sample, and the jitter", "[unit]") {
  fixture f;
  f.open();
  const auto now_ns = [] { return static_cast<std::uint64_t>(monotonic::now().time_since_epoch().count()); };
  CHECK(f.tested->counters().last_sent_ns == 0);
  CHECK(f.tested->counters().jitter_ns == -1);
  const std::uint64_t before = now_ns();
  f.send();
  const std::uint64_t after = now_ns();
  const auto once = f.tested->counters();
  constexpr std::uint64_t clocks_apart = 1'000'000;  // the two clocks are not read at once
  CHECK(once.last_sent_ns >= before - clocks_apart);
  CHECK(once.last_sent_ns <= after + clocks_apart);
  CHECK(once.last_sent_ns <= once.sampled_ns);
  CHECK(once.jitter_ns == -1);
  f.send();
  CHECK(f.tested->counters().jitter_ns == -1);
  f.send();
  CHECK(f.tested->counters().jitter_ns >= 0);
  CHECK(f.tested->counters().jitter_ns == -1);
  CHECK(f.tested->counters().sent == 3);
}

TEST_CASE("publication: a link that opens later offers the last sample to its readers", "[unit]") {
  fixture f;
  f.send(2);  // before there is any link
  f.open();
  CHECK(f.ipc->links.front()->offered == sequences{2});
  f.send();
  f.tested->service();
  CHECK(f.ipc->links.front()->offered == sequences{2, 3});
}

TEST_CASE("publication: a publication without a sample has none to offer", "[unit]") {
  fixture f;
  f.open();
  CHECK(f.ipc->links.front()->offered == sequences{0});
}

TEST_CASE("publication: the smallest limit of its links is the topic's, for all of them", "[unit]") {
  fixture f;
  f.ipc->largest = 8;
  f.open();
  f.send();
  const auto refused = f.tested->send("123456789", 9);
  CHECK(refused.code() == errc::bad_argument);
  CHECK_THAT(refused.error().message(), contains("too large for ipc: 8 at most"));
  CHECK(f.inproc->links.front()->committed == sequences{1});
}

TEST_CASE("publication: a sample stays in the caller's memory until a link shares it, those without readers last",
          "[unit]") {
  fixture f;
  f.open();
  auto& shares = *f.inproc->links.front();
  auto& other = *f.ipc->links.front();
  shares.shares = true;
  f.send();
  CHECK(shares.in_callers_memory == sequences{1});
  CHECK(other.in_callers_memory.empty());
  shares.readers = 0;
  f.send();
  CHECK(other.in_callers_memory == sequences{2});
  other.readers = 0;
  f.send();
  CHECK(shares.in_callers_memory == sequences{1, 2, 3});
  CHECK(other.in_callers_memory == sequences{2});
  CHECK(shares.committed == sequences{1, 2, 3});
  CHECK(other.committed == sequences{1, 2, 3});
}

TEST_CASE("publication: a large sample is copied into memory that a link lends, and then sent", "[unit]") {
  fixture f;
  f.open();
  auto& lender = *f.ipc->links.front();
  const std::string large(20'000, 'x');
  REQUIRE(f.tested->send(large.data(), large.size()));
  lender.lends = true;
  f.send();
  CHECK(lender.in_callers_memory == sequences{1, 2});
  REQUIRE(f.tested->send(large.data(), large.size()));
  CHECK(lender.in_callers_memory == sequences{1, 2});
  CHECK(lender.committed == sequences{1, 2, 3});
}

TEST_CASE("publication: it reports each transport that this system lacks, and does without them", "[unit]") {
  fixture f;
  const auto shm = f.transports.add(wire::transport::shm);
  for (const auto& missing : {f.ipc, shm}) {
    missing->can = {.by_default = true, .may_be_missing = true};
    missing->advertises = false;
    missing->refusal = orc::error(errc::system_error, "no such thing");
  }
  f.open();
  CHECK(f.tested->left_out() == "topic t is not offered over ipc: no such thing; and not over shm: no such thing");
  f.send();
  CHECK(f.inproc->links.front()->committed == sequences{1});
}

TEST_CASE("publication: one that cannot open keeps the reason, and opens all its links at a later attempt", "[unit]") {
  fixture f;
  f.ipc->advertises = false;
  f.ipc->refusal = orc::error(errc::no_descriptors, "none left");
  const auto opened = f.tested->open(local_scope());
  CHECK(opened.code() == errc::no_descriptors);
  CHECK(opened.error().message() == "none left");
  f.ipc->advertises = true;
  f.open();
  CHECK(f.tested->is_open());
  f.send();
  CHECK(f.inproc->links.back()->committed == sequences{1});
  CHECK(f.ipc->links.back()->committed == sequences{1});
}

TEST_CASE("publication: pauses between attempts grow, and each reason is new once", "[unit]") {
  fixture f;
  const orc::error first(errc::no_descriptors, "none left");
  CHECK_FALSE(f.tested->was_put_off());
  CHECK(f.tested->put_off(first, start));
  CHECK(f.tested->was_put_off());
  CHECK(f.tested->next_attempt() == start + 1s);
  CHECK_FALSE(f.tested->put_off(first, start));
  CHECK(f.tested->next_attempt() == start + 2s);
  CHECK(f.tested->put_off(orc::error(errc::no_permission, "not yours"), start));
  for (int n = 0; n < 10; ++n) static_cast<void>(f.tested->put_off(first, start));
  CHECK(f.tested->next_attempt() == start + 5s);
}

TEST_CASE("publication: without a directory for its sockets it does not open", "[unit]") {
  fixture f;
  network_scope nowhere;
  nowhere.directory_problem = orc::error(errc::no_permission, "not your directory");
  const auto opened = f.tested->open(nowhere);
  CHECK(opened.code() == errc::no_permission);
  CHECK(opened.error().message() == "not your directory");
}

TEST_CASE("publication: an outdated link is closed, and opened anew", "[unit]") {
  fixture f;
  f.open();
  f.send(2);
  CHECK_FALSE(f.tested->close_outdated());
  f.ipc->links.front()->is_outdated = true;
  CHECK(f.tested->close_outdated());
  CHECK_FALSE(f.tested->is_open());
  CHECK_FALSE(f.ipc->links.front()->is_open);
  CHECK(f.inproc->links.front()->is_open);
  f.open();
  CHECK(f.inproc->links.size() == 1);
  REQUIRE(f.ipc->links.size() == 2);
  CHECK(f.ipc->links.back()->offered == sequences{2});
}

TEST_CASE("publication: its registration has the endpoints of its links", "[unit]") {
  orc::topic_options options;
  options.keep_last = false;
  options.type.name = "geometry.Pose";
  fixture f(options);
  f.open();
  const auto registration = f.tested->registration();
  CHECK(registration.topic == "t");
  CHECK(registration.publication == f.tested->id());
  CHECK_FALSE(registration.keep_last);
  REQUIRE(registration.type);
  CHECK(registration.type->name == "geometry.Pose");
  CHECK(registration.endpoints.size() == 2);
  CHECK_FALSE(f.tested->set_addresses({}));
  CHECK(f.tested->set_addresses({"192.0.2.1"}));
  CHECK_FALSE(f.tested->set_addresses({"192.0.2.1"}));
}

TEST_CASE("publication: its counters are the sums of its links'", "[unit]") {
  fixture f;
  f.open();
  f.inproc->links.front()->readers = 2;
  f.ipc->links.front()->readers = 3;
  f.inproc->links.front()->dropped = 10;
  f.ipc->links.front()->dropped = 20;
  CHECK(f.tested->readers() == 5);
  CHECK(f.tested->counters().readers == 5);
  CHECK(f.tested->counters().dropped == 30);
}

TEST_CASE("publication: a link that wants a pause is left alone for that long", "[unit]") {
  fixture f;
  f.open();
  f.tested->service();
  CHECK(f.tested->resume() == monotonic::time_point{});
  f.ipc->links.front()->pause = 1h;
  const auto before = monotonic::now();
  f.tested->service();
  CHECK(f.tested->resume() >= before + 1h);
}

TEST_CASE("publication: at its end readers that are behind are served until none is", "[unit]") {
  fixture f;
  fixture other;
  f.open();
  other.open();
  f.send();
  f.ipc->links.front()->behind_for = 2;  // a millisecond each, of 300
  const auto served = f.ipc->links.front()->offered.size();
  publication::end_all({f.tested, other.tested});
  CHECK(f.ipc->links.front()->offered.size() == served + 2);
  CHECK_FALSE(f.ipc->links.front()->is_open);
  CHECK_FALSE(other.ipc->links.front()->is_open);
  CHECK(f.tested->send("x", 1).code() == errc::closed);
  CHECK_FALSE(f.tested->open(local_scope()));
}

TEST_CASE("publication: a reader that stays behind does not keep it from ending", "[unit]") {
  fixture f;
  f.open();
  f.ipc->links.front()->behind_for = 1'000'000'000;
  publication::end_all({f.tested});
  CHECK_FALSE(f.ipc->links.front()->is_open);
}

TEST_CASE("publication: a later declaration is the same when its options are, or are left at the default", "[unit]") {
  orc::topic_options options;
  options.keep_last = false;
  options.expected_size = 100;
  const fixture f(options);
  CHECK(f.tested->was_made_with(options));
  orc::topic_options other = options;
  other.expected_size = 200;
  CHECK_FALSE(f.tested->was_made_with(other));
  other = options;
  other.transports = {orc::transport::tcp};
  CHECK_FALSE(f.tested->was_made_with(other));
}
