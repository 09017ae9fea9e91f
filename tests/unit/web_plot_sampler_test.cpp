// Every number counts in a point, and points stay few.
#include "tools/web/feed/plot_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "support/catch.h"
#include "tools/web/nanoseconds.h"

namespace {

using orc::web::plot_batch;
using orc::web::plot_point;
using orc::web::plot_sampler;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1000 * ms;
constexpr std::int64_t epoch = 1'700'000'000 * second;

std::vector<plot_point> all_points(plot_sampler& from, std::int64_t now) {
  std::vector<plot_point> all;
  while (from.ready(now)) {
    const plot_batch batch = from.take(now);
    all.insert(all.end(), batch.points.begin(), batch.points.end());
  }
  return all;
}

}  // namespace

TEST_CASE("web plot sampler: a slot has the smallest and the largest number", "[web]") {
  plot_sampler sampler(10);
  for (int i = 0; i < 100; ++i) sampler.add(epoch + i * ms, i % 7 == 0 ? -i : i, i * ms);
  CHECK_FALSE(sampler.ready(99 * ms));
  const plot_batch batch = sampler.take(100 * ms);
  REQUIRE(batch.points.size() == 1);
  CHECK(batch.points[0].min == -98);
  CHECK(batch.points[0].max == 99);
  CHECK(std::abs(batch.points[0].time_s - (1'700'000'000 + 0.099)) < 1e-6);
  CHECK(batch.anew);
}

TEST_CASE("web plot sampler: a slot is complete when its time is over, or a later one begins", "[web]") {
  plot_sampler sampler(10);
  sampler.add(epoch, 1, 0);
  CHECK_FALSE(sampler.ready(99 * ms));
  CHECK(sampler.ready(100 * ms));
  sampler.add(epoch + 150 * ms, 2, 20 * ms);
  CHECK(sampler.ready(20 * ms));
  CHECK(sampler.take(20 * ms).points.size() == 1);
}

TEST_CASE("web plot sampler: points that are not taken merge, and none is lost", "[web]") {
  plot_sampler sampler(plot_sampler::max_per_second);
  constexpr int count = 200'000;
  for (int i = 0; i < count; ++i) sampler.add(epoch + i * ms, i == 12'345 ? 1e9 : i == 54'321 ? -1e9 : i, i * ms);
  const auto points = all_points(sampler, (count + 1000) * ms);
  CHECK(points.size() <= plot_sampler::max_pending + 1);
  CHECK(points.size() > plot_sampler::max_pending / 4);
  double min = 0;
  double max = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    min = std::min(min, points[i].min);
    max = std::max(max, points[i].max);
    if (i != 0) CHECK(points[i].time_s > points[i - 1].time_s);
  }
  CHECK(min == -1e9);
  CHECK(max == 1e9);
}

TEST_CASE("web plot sampler: a small batch is coarser, and has every number", "[web]") {
  plot_sampler sampler(1000);
  for (int i = 0; i < 1000; ++i) sampler.add(epoch + i * ms, i == 123 ? 1e9 : i == 777 ? -1e9 : i, i * ms);
  const plot_batch batch = sampler.take(2 * second, 50);
  CHECK(batch.points.size() <= 50);
  CHECK(batch.points.size() > 20);
  CHECK_FALSE(sampler.ready(2 * second));
  const auto by_min = [](const plot_point& a, const plot_point& b) { return a.min < b.min; };
  const auto by_max = [](const plot_point& a, const plot_point& b) { return a.max < b.max; };
  CHECK(std::min_element(batch.points.begin(), batch.points.end(), by_min)->min == -1e9);
  CHECK(std::max_element(batch.points.begin(), batch.points.end(), by_max)->max == 1e9);
  sampler.add(epoch + 3 * second, 1, 3 * second);
  CHECK(sampler.take(4 * second, 0).points.size() == 1);
}

TEST_CASE("web plot sampler: it begins anew after a restart, in a batch of its own", "[web]") {
  plot_sampler sampler(10);
  sampler.add(epoch, 1, 0);
  (void)sampler.take(second);
  sampler.add(epoch + second, 2, second);
  sampler.restart();
  sampler.add(epoch + 2 * second, 3, 2 * second);
  const plot_batch before = sampler.take(3 * second);
  CHECK_FALSE(before.anew);
  REQUIRE(before.points.size() == 1);
  const plot_batch after = sampler.take(3 * second);
  CHECK(after.anew);
  REQUIRE(after.points.size() == 1);
  CHECK(after.points[0].min == 3);
}

TEST_CASE("web plot sampler: stamps that go back", "[web]") {
  plot_sampler sampler(1000);
  sampler.add(epoch + second, 1, 0);
  SECTION("a little count in the slot before") {
    sampler.add(epoch + second - 5 * ms, 7, ms / 2);
    const plot_batch batch = sampler.take(second);
    REQUIRE(batch.points.size() == 1);
    CHECK(batch.points[0].max == 7);
  }
  SECTION("a little, after the slot was taken, have its time") {
    const plot_batch first = sampler.take(second);
    sampler.add(epoch + second - 5 * ms, 7, second);
    const plot_batch batch = sampler.take(2 * second);
    REQUIRE(batch.points.size() == 1);
    CHECK_FALSE(batch.anew);
    CHECK(batch.points[0].time_s == first.points.at(0).time_s);
    CHECK(batch.points[0].max == 7);
  }
  SECTION("far begin anew") {
    (void)sampler.take(second);
    sampler.add(epoch + 2 * second, 1, second);
    sampler.add(epoch - 10 * second, 7, second);
    CHECK(sampler.take(3 * second).points.size() == 1);
    const plot_batch batch = sampler.take(3 * second);
    CHECK(batch.anew);
    REQUIRE(batch.points.size() == 1);
    CHECK(batch.points[0].min == 7);
  }
}

TEST_CASE("web plot sampler: stamps that span more than 64 bits hold", "[web]") {
  constexpr auto first = std::numeric_limits<std::int64_t>::min();
  constexpr auto last = std::numeric_limits<std::int64_t>::max();
  CHECK(orc::web::span_ns(first, last) == last);
  CHECK(orc::web::span_ns(last, first) == first);
  CHECK(orc::web::span_ns(3, 5) == 2);
  plot_sampler sampler(1000);
  sampler.add(last, 1, 0);
  sampler.add(first, 2, 0);
  CHECK(sampler.take(second).points.size() == 1);
  sampler.add(last, 3, second);
  CHECK(sampler.take(second).points.size() == 1);
  sampler.add(first, 4, 2 * second);
  CHECK(sampler.take(3 * second).points.size() == 1);
  const plot_batch batch = sampler.take(3 * second);
  CHECK(batch.anew);
  REQUIRE(batch.points.size() == 1);
  CHECK(batch.points[0].min == 4);
}

TEST_CASE("web plot sampler: NaN counts only where there is nothing else", "[web]") {
  plot_sampler sampler(10);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  sampler.add(epoch, nan, 0);
  sampler.add(epoch + ms, 5, 0);
  sampler.add(epoch + 2 * ms, nan, 0);
  sampler.add(epoch + 200 * ms, nan, 200 * ms);
  const auto points = all_points(sampler, second);
  REQUIRE(points.size() == 2);
  CHECK(points[0].min == 5);
  CHECK(points[0].max == 5);
  CHECK(std::isnan(points[1].min));
}

TEST_CASE("web plot sampler: plots are coarser when their room is full", "[web]") {
  const auto room = std::make_shared<orc::web::plot_room>();
  {
    plot_sampler sampler(10'000, room);
    std::int64_t at = epoch;
    const auto add = [&](int count) {
      for (int i = 0; i < count; ++i) {
        at += ms;
        sampler.add(at, i == 7 ? 100 : 1, at - epoch);
      }
    };
    add(1000);
    const std::size_t held = room->bytes();
    CHECK(held > 1000);
    room->change(0, orc::web::plot_room::max_bytes);  // by others
    add(1000);
    const std::size_t others = orc::web::plot_room::max_bytes;
    CHECK(room->bytes() - others < held / 10);
    const auto points = all_points(sampler, at - epoch);
    CHECK(points.size() <= plot_sampler::few_pending + 1);
    CHECK(std::any_of(points.begin(), points.end(), [](const plot_point& each) { return each.max == 100; }));
    room->change(others, 0);
    CHECK(room->bytes() == 0);
    add(10);
    CHECK(room->bytes() != 0);
  }
  CHECK(room->bytes() == 0);
}
