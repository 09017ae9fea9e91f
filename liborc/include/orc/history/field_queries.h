// Numbers of kept samples: between two samples, and averaged over many.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "orc/history/interpolate.h"
#include "orc/history/past.h"

namespace orc::detail {

// What may be averaged and interpolated: a number, an array of numbers, or a rotation.
template <class Value>
struct numbers_of {
  static_assert(std::is_arithmetic_v<Value>,
                "orc/history.h: this is neither a number, nor a std::array<double, N>, nor an orc::quaternion");
  static constexpr std::size_t count = 1;
  using result = double;
  static std::array<double, 1> take(Value from) noexcept { return {static_cast<double>(from)}; }
  static double give(const std::array<double, 1>& from) noexcept { return from[0]; }
};
template <std::size_t N>
struct numbers_of<std::array<double, N>> {
  static constexpr std::size_t count = N;
  using result = std::array<double, N>;
  static const result& take(const result& from) noexcept { return from; }
  static const result& give(const result& from) noexcept { return from; }
};
template <>
struct numbers_of<quaternion> {
  static constexpr std::size_t count = 4;
  using result = quaternion;
  static const std::array<double, 4>& take(const quaternion& from) noexcept { return from.parts; }
  static quaternion give(const std::array<double, 4>& from) noexcept { return {from}; }
};

// `read` returns a std::optional of what it reads in a past_sample; nothing: the sample does not have it.
template <class Read>
using read_value = std::remove_cvref_t<decltype(*std::declval<Read&>()(std::declval<const past_sample&>()))>;

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

// The same function, with a std::optional as its result.
template <class Read>
[[nodiscard]] auto optional_read(Read& read) {
  return [&read](const past_sample& from) {
    using found = std::remove_cvref_t<decltype(read(from))>;
    if constexpr (is_optional<found>)
      return read(from);
    else
      return std::optional<found>(read(from));
  };
}

// Reads the samples `at - 1` and `at`, and for a spline the ones beside them. Of samples with one stamp, the last
// counts before the time that is asked for, and the first after it.
template <class Read>
[[nodiscard]] auto read_around(const past& kept, Read& read, std::size_t at, bool wide)
    -> std::optional<surroundings<numbers_of<read_value<Read>>::count>> {
  using numbers = numbers_of<read_value<Read>>;
  surroundings<numbers::count> near;
  const auto take = [&](std::size_t to, std::size_t index) {
    const past_sample sample = kept[index];
    const auto value = read(sample);
    if (!value) return false;
    near.stamps_ns[to] = sample.stamp_ns;
    near.values[to] = numbers::take(*value);
    return true;
  };
  if (!take(1, at - 1) || !take(2, at)) return {};
  if (!wide) return near;
  const std::size_t first = kept.before(near.stamps_ns[1]);
  const std::size_t last = kept.until(near.stamps_ns[2]);
  near.has_first = first > 0;
  near.has_last = last < kept.size();
  if ((near.has_first && !take(0, first - 1)) || (near.has_last && !take(3, last))) return {};
  return near;
}

template <class Read>
[[nodiscard]] auto interpolate(const past& kept, Read read, std::int64_t stamp_ns, interpolation how)
    -> std::optional<typename numbers_of<read_value<Read>>::result> {
  using numbers = numbers_of<read_value<Read>>;
  constexpr bool rotates = std::is_same_v<read_value<Read>, quaternion>;
  const std::size_t after = kept.until(stamp_ns);  // the samples from here on are later
  if (after == 0) return {};
  const past_sample before = kept[after - 1];
  if (before.stamp_ns == stamp_ns || how == interpolation::nearest) {
    if (before.stamp_ns != stamp_ns && after == kept.size()) return {};
    const bool later_is_nearer =
        before.stamp_ns != stamp_ns && between(stamp_ns, kept[after].stamp_ns) < between(before.stamp_ns, stamp_ns);
    const auto value = read(later_is_nearer ? kept[after] : before);
    if (!value) return {};
    if constexpr (rotates) {
      if (how != interpolation::nearest) return on_arc(value->parts, value->parts, 0);
    }
    return numbers::give(numbers::take(*value));
  }
  if (after == kept.size()) return {};
  const auto near = read_around(kept, read, after, how == interpolation::cubic && !rotates);
  if (!near) return {};
  if constexpr (rotates) {
    return on_arc(near->values[1], near->values[2],
                  between(near->stamps_ns[1], stamp_ns) / between(near->stamps_ns[1], near->stamps_ns[2]));
  } else {
    return numbers::give(how == interpolation::cubic ? on_spline(*near, stamp_ns) : on_line(*near, stamp_ns));
  }
}

// Of the samples with an index from `first` to below `end`.
template <class Read>
[[nodiscard]] auto mean(const past& kept, Read read, std::size_t first, std::size_t end)
    -> std::optional<typename numbers_of<read_value<Read>>::result> {
  using numbers = numbers_of<read_value<Read>>;
  static_assert(!std::is_same_v<read_value<Read>, quaternion>, "orc/history.h: a mean of rotations is not defined");
  std::array<exact_sum, numbers::count> sums;
  std::size_t count = 0;
  for (std::size_t i = first; i < end; ++i) {
    const auto value = read(kept[i]);
    if (!value) continue;
    const auto& all = numbers::take(*value);
    for (std::size_t n = 0; n < numbers::count; ++n) sums[n].add(all[n]);
    ++count;
  }
  if (count == 0) return {};
  std::array<double, numbers::count> means;
  for (std::size_t n = 0; n < numbers::count; ++n) means[n] = sums[n].get() / static_cast<double>(count);
  return numbers::give(means);
}

}  // namespace orc::detail
