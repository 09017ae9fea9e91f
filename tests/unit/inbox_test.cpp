// What a subscription keeps of the samples that arrive, and what it counts.
#include "core/subscription/inbox.h"

#include <vector>

#include "support/catch.h"
#include "support/fake_link.h"

using namespace orc::test;
using orc::detail::inbox;
using orc::detail::pick;
using orc::detail::sample;

namespace {

constexpr int second_ms = 1000;

// An inbox with a link.
struct fixture {
  explicit fixture(std::uint32_t depth, int max_age_ms = 0, bool keeps_samples = false)
      : box(depth, std::chrono::milliseconds(max_age_ms)) {
    publisher->in_order = depth != 0;
    publisher->keeps_samples = keeps_samples;
    box.begin_publication();
    box.begin_link(link);
  }
  void send(std::uint64_t first, std::uint64_t last) const {
    for (auto sequence = first; sequence <= last; ++sequence) publisher->send(sequence);
  }
  // The sequences that the user gets.
  std::vector<std::uint64_t> taken() {
    std::vector<std::uint64_t> all;
    for (sample s; box.take(s);) {
      all.push_back(s.sequence);
      missed += box.returned(s);
    }
    return all;
  }
  orc::wire::subscription_counters report() {
    orc::wire::subscription_counters counters;
    box.report(counters);
    return counters;
  }

  std::shared_ptr<fake_publisher> publisher = std::make_shared<fake_publisher>();
  fake_link link{publisher};
  inbox box;
  std::uint64_t missed = 0;
};

using sequences = std::vector<std::uint64_t>;

std::int64_t old_stamp() { return orc::detail::realtime_ns() - 3'600'000'000'000; }

}  // namespace

TEST_CASE("inbox: the newest sample replaces one that was not taken", "[unit]") {
  fixture f(0);
  f.send(1, 3);
  CHECK(f.box.pull(f.link));
  f.send(4, 5);
  CHECK(f.box.pull(f.link));
  CHECK(f.taken() == sequences{5});
  CHECK(f.missed == 4);
  CHECK_FALSE(f.box.pull(f.link));
  CHECK(f.taken().empty());
}

TEST_CASE("inbox: in order it keeps as many as its depth, and drops the oldest", "[unit]") {
  fixture f(3);
  f.send(1, 5);
  CHECK(f.box.pull(f.link));
  CHECK(f.taken() == sequences{3, 4, 5});
  CHECK(f.missed == 2);
  CHECK(f.report().received == 5);
  CHECK(f.report().missed == 2);
}

TEST_CASE("inbox: it is dry when the link was left empty, until it should look again", "[unit]") {
  fixture f(3);
  CHECK_FALSE(f.box.is_dry());
  f.send(1, 1);
  CHECK(f.box.pull(f.link));
  CHECK(f.box.is_dry());
  f.box.look_again();
  CHECK_FALSE(f.box.is_dry());
  CHECK_FALSE(f.box.pull(f.link));
  CHECK(f.box.is_dry());
  f.box.begin_link(f.link);
  CHECK_FALSE(f.box.is_dry());
}

TEST_CASE("inbox: it never relies on a descriptor that the link does not have", "[unit]") {
  inbox box(0, {});
  fake_link link(std::make_shared<fake_publisher>(reports_by::bell));
  box.begin_publication();
  box.begin_link(link);
  CHECK_FALSE(box.pull(link));
  CHECK_FALSE(box.is_dry());
}

TEST_CASE("inbox: one pull is bounded, also when the publisher is faster", "[unit]") {
  fixture f(65536);
  f.send(1, 20'000);
  CHECK(f.box.pull(f.link));
  CHECK_FALSE(f.box.is_dry());
  CHECK_FALSE(f.publisher->samples.empty());
  CHECK(f.box.pull(f.link));
  CHECK(f.taken().size() == 20'000);
  CHECK(f.missed == 0);
}

TEST_CASE("inbox: of a link that keeps its samples it takes one at a time", "[unit]") {
  fixture f(8, 0, true);
  f.send(1, 3);
  CHECK(f.box.pull(f.link));
  CHECK(f.publisher->samples.size() == 2);
  CHECK_FALSE(f.box.pull(f.link));  // the queue comes first
  CHECK(f.publisher->samples.size() == 2);
  CHECK(f.taken() == sequences{1});
}

TEST_CASE("inbox: a user takes directly from a link that keeps its samples, each once", "[unit]") {
  fixture f(0, 0, true);
  f.send(1, 3);
  sample s;
  REQUIRE(f.box.take_from(f.link, pick::next, s));
  CHECK(s.sequence == 1);
  REQUIRE(f.box.take_from(f.link, pick::newest, s));
  CHECK(s.sequence == 3);
  f.publisher->send(2);  // another link brings it again
  f.publisher->send(3);
  f.publisher->send(4);
  REQUIRE(f.box.take_from(f.link, pick::next, s));
  CHECK(s.sequence == 4);
  CHECK_FALSE(f.box.take_from(f.link, pick::next, s));
  CHECK(f.report().received == 3);
}

TEST_CASE("inbox: all samples of a link that ends are saved in order", "[unit]") {
  for (const bool keeps_samples : {false, true}) {
    fixture f(8, 0, keeps_samples);
    f.send(1, 4);
    f.box.save(f.link);
    CHECK(f.publisher->drained);
    CHECK(f.publisher->samples.empty());
    CHECK(f.taken() == sequences{1, 2, 3, 4});
  }
}

TEST_CASE("inbox: the newest sample of a link that ends is saved", "[unit]") {
  for (const bool keeps_samples : {false, true}) {
    fixture f(0, 0, keeps_samples);
    f.send(1, 4);
    f.box.save(f.link);
    CHECK(f.taken() == sequences{4});
  }
}

TEST_CASE("inbox: a sample that a new link repeats is dropped", "[unit]") {
  fixture f(8);
  f.send(1, 3);
  CHECK(f.box.pull(f.link));
  f.box.begin_link(f.link);
  f.send(3, 4);
  CHECK(f.box.pull(f.link));
  CHECK_FALSE(f.box.accept(sample_of(4)));
  CHECK(f.box.newest() == 4);
  CHECK(f.taken() == sequences{1, 2, 3, 4});
  CHECK(f.report().received == 4);
}

TEST_CASE("inbox: samples of an earlier publication that a full queue drops are counted", "[unit]") {
  fixture f(2);
  f.send(1, 2);
  CHECK(f.box.pull(f.link));
  f.box.begin_publication();
  f.box.begin_link(f.link);
  f.send(1, 2);
  CHECK(f.box.pull(f.link));
  CHECK(f.taken() == sequences{1, 2});
  CHECK(f.missed == 2);
}

TEST_CASE("inbox: a sample that is too old is dropped when it would be returned", "[unit]") {
  fixture f(8, second_ms);
  f.publisher->send(1, old_stamp());
  f.publisher->send(2, old_stamp());
  f.send(3, 3);
  CHECK(f.box.pull(f.link));
  CHECK(f.box.stale() == 0);
  CHECK(f.taken() == sequences{3});
  CHECK(f.missed == 2);
  CHECK(f.report().stale == 2);
  CHECK(f.report().received == 3);
}

TEST_CASE("inbox: a sample that is too old is dropped from a link that keeps its samples", "[unit]") {
  fixture f(0, second_ms, true);
  f.publisher->send(1, old_stamp());
  sample s;
  CHECK_FALSE(f.box.take_from(f.link, pick::newest, s));
  CHECK(f.box.stale() == 1);
  f.send(2, 2);
  REQUIRE(f.box.take_from(f.link, pick::newest, s));
  CHECK(f.box.returned(s) == 1);
}

TEST_CASE("inbox: without a limit no sample is too old", "[unit]") {
  fixture f(0);
  f.publisher->send(1, old_stamp());
  CHECK(f.box.pull(f.link));
  CHECK(f.taken() == sequences{1});
}

TEST_CASE("inbox: each report has the age of one sample, and the bytes of all", "[unit]") {
  fixture f(8);
  CHECK(f.report().age_ns == -1);
  f.publisher->send(1, old_stamp());
  f.send(2, 2);
  CHECK(f.box.pull(f.link));
  const auto first = f.report();
  CHECK(first.age_ns >= 3'600'000'000'000);
  CHECK(first.bytes == 16);
  f.send(3, 3);
  CHECK(f.box.pull(f.link));
  CHECK(f.report().age_ns < 3'600'000'000'000);
}
