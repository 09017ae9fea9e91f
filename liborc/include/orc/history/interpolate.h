// Values of a field between samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace orc {

// How a value between two samples is found.
enum class interpolation : std::uint8_t {
  nearest,  // the value of the sample that is nearest in time; of two equally near, the earlier one
  linear,   // on the straight line between the two samples
  cubic     // on a cubic Hermite spline, whose slope at each sample comes from the samples beside it (numpy.gradient)
};

// A rotation as four numbers, in any order that is always the same. Values between two samples are found on the shorter
// arc (slerp; Shoemake 1985), with `linear` and with `cubic`, and have length 1.
struct quaternion {
  // The four numbers.
  std::array<double, 4> parts = {};

  // Whether all four are equal.
  bool operator==(const quaternion&) const = default;
};

namespace detail {

// The samples around a time: values at `stamps_ns[1]` and `stamps_ns[2]`, between which it lies, and the ones beside
// them as far as they exist.
template <std::size_t N>
struct surroundings {
  std::array<std::int64_t, 4> stamps_ns = {};
  std::array<std::array<double, N>, 4> values = {};
  bool has_first = false;
  bool has_last = false;
};

// Differences of stamps fit into a double exactly for 104 days.
[[nodiscard]] inline double between(std::int64_t from_ns, std::int64_t to_ns) noexcept {
  const auto distance = static_cast<std::uint64_t>(to_ns) - static_cast<std::uint64_t>(from_ns);
  return from_ns <= to_ns ? static_cast<double>(distance) : -static_cast<double>(0 - distance);
}

// Slopes as numpy.gradient has them: of second order between unequal steps, of first order at the ends.
template <std::size_t N>
[[nodiscard]] double slope_at(const surroundings<N>& near, std::size_t which, std::size_t number) noexcept {
  const auto value = [&](std::size_t i) { return near.values[i][number]; };
  const auto step = [&](std::size_t i) { return between(near.stamps_ns[i], near.stamps_ns[i + 1]); };
  const bool inner = which == 1 ? near.has_first : near.has_last;
  if (!inner) return (value(2) - value(1)) / step(1);
  const double left = step(which - 1);
  const double right = step(which);
  return (left * left * value(which + 1) + (right * right - left * left) * value(which) -
          right * right * value(which - 1)) /
         (left * right * (left + right));
}

template <std::size_t N>
[[nodiscard]] std::array<double, N> on_spline(const surroundings<N>& near, std::int64_t stamp_ns) noexcept {
  const double step = between(near.stamps_ns[1], near.stamps_ns[2]);
  const double s = between(near.stamps_ns[1], stamp_ns) / step;
  const double left = 1 - s;
  std::array<double, N> found;
  for (std::size_t n = 0; n < N; ++n) {
    found[n] = (1 + 2 * s) * left * left * near.values[1][n] + s * left * left * step * slope_at(near, 1, n) +
               s * s * (3 - 2 * s) * near.values[2][n] - s * s * left * step * slope_at(near, 2, n);
  }
  return found;
}

template <std::size_t N>
[[nodiscard]] std::array<double, N> on_line(const surroundings<N>& near, std::int64_t stamp_ns) noexcept {
  const double s = between(near.stamps_ns[1], stamp_ns) / between(near.stamps_ns[1], near.stamps_ns[2]);
  std::array<double, N> found;
  for (std::size_t n = 0; n < N; ++n) found[n] = near.values[1][n] + s * (near.values[2][n] - near.values[1][n]);
  return found;
}

// Returns nothing when one of them is no rotation: its length is 0 or not a number.
[[nodiscard]] inline std::optional<quaternion> on_arc(std::array<double, 4> from, std::array<double, 4> to,
                                                      double s) noexcept {
  const auto length = [](const std::array<double, 4>& q) {
    return std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  };
  const double from_length = length(from);
  const double to_length = length(to);
  if (!(from_length > 0 && to_length > 0 && std::isfinite(from_length) && std::isfinite(to_length))) return {};
  double dot = 0;
  for (std::size_t n = 0; n < 4; ++n) {
    from[n] /= from_length;
    to[n] /= to_length;
    dot += from[n] * to[n];
  }
  std::array<double, 4> apart = {};
  std::array<double, 4> sum = {};
  for (std::size_t n = 0; n < 4; ++n) {
    if (dot < 0) to[n] = -to[n];
    apart[n] = to[n] - from[n];
    sum[n] = to[n] + from[n];
  }
  const double angle = 2 * std::atan2(length(apart), length(sum));  // exact also for small angles
  const double sine = std::sin(angle);
  const double weight_from = sine > 1e-12 ? std::sin((1 - s) * angle) / sine : 1 - s;
  const double weight_to = sine > 1e-12 ? std::sin(s * angle) / sine : s;
  quaternion found;
  for (std::size_t n = 0; n < 4; ++n) found.parts[n] = weight_from * from[n] + weight_to * to[n];
  return found;
}

// Adds numbers without losing the small ones (Neumaier's sum).
class exact_sum {
 public:
  void add(double number) noexcept {
    const double sum = sum_ + number;
    rest_ += std::abs(sum_) >= std::abs(number) ? (sum_ - sum) + number : (number - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double get() const noexcept { return std::isfinite(rest_) ? sum_ + rest_ : sum_; }

 private:
  double sum_ = 0;
  double rest_ = 0;
};

}  // namespace detail
}  // namespace orc
