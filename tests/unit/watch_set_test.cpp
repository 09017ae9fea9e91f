// The descriptors that the housekeeping waits for.
#include "core/housekeeping/watch_set.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "core/housekeeping/watched_topic.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::detail;
using namespace orc::test;
using namespace std::chrono_literals;

namespace {

[[nodiscard]] unique_fd event_fd() { return unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void ring(const unique_fd& which) { ::eventfd_write(which.get(), 1); }

struct fixture {
  // Who is told now, without waiting.
  std::vector<watched_topic*> told() { return told_within(0ms); }
  // Waits for the first event.
  std::vector<watched_topic*> told_within(std::chrono::milliseconds time) {
    std::vector<watched_topic*> all;
    tested.wait(monotonic::now() + time);
    while (const auto event = tested.next()) all.push_back(event->owner);
    return all;
  }
  void arm(const unique_fd& what, watched_topic& whose) { REQUIRE(tested.arm(what.get(), &whose)); }

  watch_set tested;
  watched_topic one;
  watched_topic other;
};

using owners = std::vector<watched_topic*>;

}  // namespace

TEST_CASE("watch set: each event goes to the owner of the descriptor, once until it is armed again",
          "[unit][threads]") {
  fixture f;
  REQUIRE(f.tested.is_open());
  const unique_fd a = event_fd();
  const unique_fd b = event_fd();
  f.arm(a, f.one);
  f.arm(b, f.other);
  CHECK(f.told().empty());
  ring(b);
  CHECK(f.told_within(patience) == owners{&f.other});
  CHECK(f.told().empty());
  f.arm(b, f.other);
  CHECK(f.told() == owners{&f.other});
}

TEST_CASE("watch set: it waits until the deadline, or for the first event", "[unit][threads]") {
  fixture f;
  const unique_fd a = event_fd();
  f.arm(a, f.one);
  const auto until = monotonic::now() + 5ms;
  f.tested.wait(until);
  CHECK(monotonic::now() >= until);
  CHECK_FALSE(f.tested.next());
  ring(a);
  f.tested.wait(monotonic::time_point::max());
  CHECK(f.tested.next());
}

TEST_CASE("watch set: another file with the number of one that was closed is watched", "[unit][threads]") {
  fixture f;
  unique_fd old = event_fd();
  const int number = old.get();
  f.arm(old, f.one);
  const unique_fd fresh = event_fd();
  REQUIRE(::dup3(fresh.get(), number, O_CLOEXEC) == number);  // closes the old file
  f.arm(old, f.one);
  ring(fresh);
  CHECK(f.told_within(patience) == owners{&f.one});
}

TEST_CASE("watch set: a topic that gave up a number does not take it from the next topic", "[unit][threads]") {
  fixture f;
  unique_fd old = event_fd();
  const int number = old.get();
  f.arm(old, f.one);
  const unique_fd fresh = event_fd();
  REQUIRE(::dup3(fresh.get(), number, O_CLOEXEC) == number);
  f.arm(old, f.other);
  f.tested.drop(number, &f.one);
  ring(fresh);
  CHECK(f.told_within(patience) == owners{&f.other});
}

TEST_CASE("watch set: a file that a forked child still has is reported once at most", "[unit][threads]") {
  fixture f;
  unique_fd old = event_fd();
  const int number = old.get();
  f.arm(old, f.one);
  int line[2] = {-1, -1};
  REQUIRE(::pipe2(line, O_CLOEXEC) == 0);
  const unique_fd held(line[0]);
  unique_fd ours(line[1]);
  // Has a copy of each descriptor until this process closes its end of the line.
  auto child = child_process::run([&] {
    ours.reset();
    ring(old);
    char end = 0;
    return ::read(held.get(), &end, 1) == 0 ? 0 : 1;
  });
  const unique_fd fresh = event_fd();
  REQUIRE(::dup3(fresh.get(), number, O_CLOEXEC) == number);
  f.arm(old, f.one);
  CHECK(f.told_within(patience) == owners{&f.one});  // by the file that is closed here
  for (int n = 0; n < 10; ++n) {
    f.arm(old, f.one);
    CHECK(f.told().empty());
  }
  ring(fresh);
  CHECK(f.told_within(patience) == owners{&f.one});
  child.kill();
}

TEST_CASE("watch set: several owners of a descriptor are all told, until they drop it", "[unit][threads]") {
  fixture f;
  const unique_fd a = event_fd();
  f.arm(a, f.one);
  f.arm(a, f.other);
  ring(a);
  auto both = f.told_within(patience);
  CHECK(both.size() == 2);
  CHECK(std::count(both.begin(), both.end(), &f.other) == 1);
  f.tested.drop(a.get(), &f.one);
  f.arm(a, f.other);
  CHECK(f.told() == owners{&f.other});
  f.arm(a, f.other);
  f.tested.drop(a.get(), &f.other);
  CHECK(f.told().empty());
  f.tested.drop(a.get(), &f.other);  // has no effect
}

TEST_CASE("watch set: an owner that goes while its event waits is not told, and the others are", "[unit][threads]") {
  fixture f;
  const unique_fd a = event_fd();
  f.arm(a, f.one);
  f.arm(a, f.other);
  ring(a);
  f.tested.wait(monotonic::now() + patience);
  const auto first = f.tested.next();
  REQUIRE(first);
  watched_topic* const left = first->owner == &f.one ? &f.other : &f.one;
  f.tested.drop(a.get(), first->owner);
  const auto second = f.tested.next();
  REQUIRE(second);
  CHECK(second->owner == left);
  CHECK_FALSE(f.tested.next());
}

TEST_CASE("watch set: more events than fit into one wait are all told", "[unit][threads]") {
  fixture f;
  std::vector<unique_fd> all;
  for (int n = 0; n < 200; ++n) {
    all.push_back(event_fd());
    f.arm(all.back(), f.one);
    ring(all.back());
  }
  std::size_t told = 0;
  CHECK(wait_until([&] {
    told += f.told().size();
    return told >= all.size();
  }));
  CHECK(told == all.size());
}

TEST_CASE("watch set: a descriptor that was closed meanwhile does no harm", "[unit][threads]") {
  fixture f;
  unique_fd a = event_fd();
  const int number = a.get();
  a.reset();
  CHECK(f.tested.arm(number, &f.one));
  f.tested.drop(number, &f.one);
  CHECK(f.told().empty());
}
