// What a history keeps, and what it finds between samples: as numpy and scipy find it.
#include "orc/history.h"

#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "transport/frame.h"
#include "unit/history/expected.h"

using namespace orc;
using namespace std::chrono_literals;
namespace expected = orc::test::expected;

namespace history_test {

struct pose {
  double q[3];
  double rotation[4];
  double other[4];
};
ORC_DESCRIBE(pose, (q, "rad"), (rotation, "quaternion"), other)

message sample_of(const void* data, std::size_t size, std::uint64_t sequence, std::int64_t stamp_ns) {
  auto buffer = detail::allocate_frame(size);
  if (size != 0) std::memcpy(buffer.payload(), data, size);
  return {std::move(buffer), sequence, stamp_ns, 0};
}

message sample_of(std::uint64_t number, std::int64_t stamp_ns) {
  return sample_of(&number, sizeof number, number, stamp_ns);
}

std::uint64_t number_in(const past_sample& kept) {
  std::uint64_t number = 0;
  REQUIRE(kept.bytes.size() == sizeof number);
  std::memcpy(&number, kept.bytes.data(), sizeof number);
  return number;
}

past poses() {
  past kept(history_options{});
  std::uint64_t sequence = 0;
  for (const auto& stamp : expected::stamps_ns) {
    pose each{};
    std::memcpy(each.q, expected::q[sequence], sizeof each.q);
    std::memcpy(each.rotation, expected::quaternions[sequence], sizeof each.rotation);
    ++sequence;
    REQUIRE(kept.keep(sample_of(&each, sizeof each, sequence, stamp[0])) == errc::ok);
  }
  return kept;
}

const pose& pose_in(const past_sample& sample) { return *reinterpret_cast<const pose*>(sample.bytes.data()); }

std::optional<std::array<double, 3>> read_q(const past_sample& sample) { return detail::numbers_in(pose_in(sample).q); }

std::optional<quaternion> read_rotation(const past_sample& sample) {
  return quaternion{detail::numbers_in(pose_in(sample).rotation)};
}

// Relative to 1: the values are that large.
constexpr double tolerance = 1e-12;

template <std::size_t N>
void compare(const std::optional<std::array<double, N>>& found, const double (&with)[N]) {
  REQUIRE(found);
  for (std::size_t n = 0; n < N; ++n) CHECK(std::abs((*found)[n] - with[n]) <= tolerance * (1 + std::abs(with[n])));
}

}  // namespace history_test

using namespace history_test;

TEST_CASE("history: the last samples are kept, the oldest go first") {
  past kept({.samples = 100});
  for (std::uint64_t n = 1; n <= 1000; ++n) {
    REQUIRE(kept.keep(sample_of(n, static_cast<std::int64_t>(n) * 1000)) == errc::ok);
    REQUIRE(kept.size() == std::min<std::size_t>(n, 100));
    REQUIRE(number_in(kept[kept.size() - 1]) == n);
    REQUIRE(number_in(kept[0]) == (n <= 100 ? 1 : n - 99));
  }
  for (std::size_t i = 0; i < 100; ++i) CHECK(kept[i].sequence == 901 + i);
  CHECK(kept.before(950'000) == 49);
  CHECK(kept.until(950'000) == 50);
  CHECK(kept.before(1) == 0);
  CHECK(kept.until(2'000'000) == 100);
}

TEST_CASE("history: nothing older than the age is kept, and never more bytes than allowed") {
  past young({.samples = 1000, .age = 10us});
  for (std::uint64_t n = 1; n <= 100; ++n) {
    REQUIRE(young.keep(sample_of(n, static_cast<std::int64_t>(n) * 1000)) == errc::ok);
  }
  CHECK(young.size() == 11);  // both ends count
  CHECK(young[0].stamp_ns == 90'000);

  past small({.samples = 1000, .max_bytes = 1000});
  std::mt19937 random(5);
  const std::vector<char> bytes(2000);
  for (std::int64_t n = 1; n <= 1000; ++n) {
    const std::size_t size = random() % 1001;
    REQUIRE(small.keep(sample_of(bytes.data(), size, 1, n)) == errc::ok);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < small.size(); ++i) sum += small[i].bytes.size();
    REQUIRE(sum == small.bytes());
    REQUIRE(sum <= 1000);
    REQUIRE(small[small.size() - 1].bytes.size() == size);
  }
  const std::size_t before = small.size();
  CHECK(small.keep(sample_of(bytes.data(), 1001, 1, 2000)) == errc::bad_argument);
  CHECK(small.keep(message(errc::timed_out)) == errc::bad_argument);
  CHECK(small.size() == before);
}

TEST_CASE("history: a stamp that goes back begins a new past") {
  past kept(history_options{});
  for (std::int64_t n = 1; n <= 5; ++n)
    REQUIRE(kept.keep(sample_of(static_cast<std::uint64_t>(n), n * 1000)) == errc::ok);
  REQUIRE(kept.keep(sample_of(6, 5000)) == errc::ok);  // the same time is none
  CHECK(kept.size() == 6);
  REQUIRE(kept.keep(sample_of(7, 4999)) == errc::ok);
  CHECK(kept.size() == 1);
  CHECK(number_in(kept[0]) == 7);
}

TEST_CASE("history: samples of several publishers are in the order of their stamps") {
  past kept({.samples = 6});
  const auto keep = [&](std::uint32_t publisher, std::int64_t stamp_ns) {
    message sample = sample_of(publisher, stamp_ns);
    message_access::set_publisher(sample, publisher, 0);
    REQUIRE(kept.keep(sample) == errc::ok);
  };
  const auto stamps = [&] {
    std::vector<std::int64_t> all;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      CHECK(number_in(kept[i]) == kept[i].publisher);
      all.push_back(kept[i].stamp_ns);
    }
    return all;
  };
  for (std::int64_t n = 1; n <= 4; ++n) {
    keep(1, 1000 * n);
    keep(2, 1000 * n - 500);
  }
  CHECK(stamps() == std::vector<std::int64_t>{1500, 2000, 2500, 3000, 3500, 4000});
  keep(3, 100);  // too old for the places
  keep(3, 2200);
  CHECK(stamps() == std::vector<std::int64_t>{2000, 2200, 2500, 3000, 3500, 4000});
  keep(1, 3999);  // this one was set back
  CHECK(stamps() == std::vector<std::int64_t>{3999});
}

TEST_CASE("history: a late sample takes the place of no later one") {
  past kept({.samples = 6, .max_bytes = 3 * sizeof(std::uint64_t)});
  const auto keep = [&](std::uint32_t publisher, std::int64_t stamp_ns) {
    message sample = sample_of(publisher, stamp_ns);
    message_access::set_publisher(sample, publisher, 0);
    REQUIRE(kept.keep(sample) == errc::ok);
  };
  for (std::int64_t n = 1; n <= 3; ++n) keep(1, 1000 * n);
  keep(2, 500);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].stamp_ns == 1000);
  keep(2, 1500);
  REQUIRE(kept.size() == 3);
  CHECK(kept[0].stamp_ns == 1500);
}

TEST_CASE("history: values between samples are those of numpy and scipy") {
  const past kept = poses();
  for (std::size_t i = 0; i < std::size(expected::asked_ns); ++i) {
    const std::int64_t at = expected::asked_ns[i][0];
    INFO("time " << i << ": " << at);
    compare(detail::interpolate(kept, read_q, at, interpolation::nearest), expected::nearest[i]);
    compare(detail::interpolate(kept, read_q, at, interpolation::linear), expected::linear[i]);
    compare(detail::interpolate(kept, read_q, at, interpolation::cubic), expected::cubic[i]);
    for (const auto how : {interpolation::linear, interpolation::cubic}) {
      const auto turned = detail::interpolate(kept, read_rotation, at, how);
      REQUIRE(turned);
      // q and -q are the same rotation.
      double dot = 0;
      for (std::size_t n = 0; n < 4; ++n) dot += turned->parts[n] * expected::slerp[i][n];
      for (std::size_t n = 0; n < 4; ++n)
        CHECK(std::abs(turned->parts[n] - (dot < 0 ? -1 : 1) * expected::slerp[i][n]) <= tolerance);
    }
  }
}

TEST_CASE("history: averages are those of numpy") {
  const past kept = poses();
  for (std::size_t i = 0; i < kept.size(); ++i)
    compare(detail::mean(kept, read_q, i < 9 ? 0 : i - 9, i + 1), expected::mean_of_ten[i]);
  CHECK_FALSE(detail::mean(kept, read_q, 3, 3));
}

TEST_CASE("history: nothing is invented outside the kept time, or from samples without the value") {
  const past kept = poses();
  const std::int64_t first = kept[0].stamp_ns;
  const std::int64_t last = kept[kept.size() - 1].stamp_ns;
  for (const auto how : {interpolation::nearest, interpolation::linear, interpolation::cubic}) {
    CHECK_FALSE(detail::interpolate(kept, read_q, first - 1, how));
    CHECK_FALSE(detail::interpolate(kept, read_q, last + 1, how));
    CHECK(detail::interpolate(kept, read_q, first, how));
    CHECK(detail::interpolate(kept, read_q, last, how));
    CHECK_FALSE(detail::interpolate(past(history_options{}), read_q, first, how));
    const auto nothing = [](const past_sample&) { return std::optional<double>(); };
    CHECK_FALSE(detail::interpolate(kept, nothing, first + 1, how));
    CHECK_FALSE(detail::interpolate(kept, nothing, first, how));
  }
  const auto no_rotation = [](const past_sample&) { return std::optional<quaternion>(quaternion{}); };
  CHECK_FALSE(detail::interpolate(kept, no_rotation, first + 1, interpolation::linear));
}

TEST_CASE("history: samples with the same stamp are no step of a spline") {
  past kept(history_options{});
  std::uint64_t n = 0;
  for (const std::int64_t stamp : {0, 10, 10, 20, 20, 20, 30}) REQUIRE(kept.keep(sample_of(++n, stamp)) == errc::ok);
  const auto read = [](const past_sample& each) { return std::optional<double>(static_cast<double>(each.sequence)); };
  for (const auto how : {interpolation::linear, interpolation::cubic}) {
    for (std::int64_t at = 0; at <= 30; ++at) {
      const auto found = detail::interpolate(kept, read, at, how);
      REQUIRE(found);
      CHECK(std::isfinite(*found));
    }
  }
  CHECK(*detail::interpolate(kept, read, 10, interpolation::linear) == 3);  // the newest one at that time
  CHECK(*detail::interpolate(kept, read, 15, interpolation::linear) == 3.5);
}
