// A subscription to samples of a C++ type, with a memory.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "orc/history/history.h"
#include "orc/typed.h"

namespace orc {

// A kept sample as a T. Valid until its history receives again.
template <class T>
class typed_past_sample {
 public:
  // Reads a sample as a T.
  explicit typed_past_sample(const past_sample& sample) noexcept
      : sample_(sample), status_(detail::open_view(view_, sample.bytes)) {}

  // True when the bytes are a T.
  explicit operator bool() const noexcept { return status_ == errc::ok; }
  // The sample. Only when this is true.
  const T* operator->() const noexcept { return view_.get(); }
  // The same.
  const T& operator*() const noexcept { return *view_.get(); }
  // As past_sample::sequence.
  [[nodiscard]] std::uint64_t sequence() const noexcept { return sample_.sequence; }
  // As past_sample::stamp_ns.
  [[nodiscard]] std::int64_t stamp_ns() const noexcept { return sample_.stamp_ns; }
  // As past_sample::missed.
  [[nodiscard]] std::uint64_t missed() const noexcept { return sample_.missed; }
  // The bytes as they arrived.
  [[nodiscard]] const past_sample& raw() const noexcept { return sample_; }

 private:
  past_sample sample_;
  typename detail::view_of<T>::type view_;
  errc status_;
};

namespace detail {

// The unit with which ORC_DESCRIBE declares a field of four numbers to be a rotation.
inline constexpr std::string_view quaternion_unit = "quaternion";

template <class T, class Member>
[[nodiscard]] bool is_declared_as_quaternion(const T& in, Member T::*member) noexcept {
  const auto* const begin = reinterpret_cast<const std::byte*>(&in);
  const auto offset = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&(in.*member)) - begin);
  for (const described_field& each : fields_of<T>) {
    if (each.offset == offset) return each.unit == quaternion_unit;
  }
  return false;
}

// The numbers of a member, whatever its dimensions.
template <class Member>
[[nodiscard]] auto numbers_in(const Member& member) noexcept {
  using element = element_of<Member>;
  static_assert(std::is_arithmetic_v<element>, "orc/history.h: the member is neither a number nor an array of numbers");
  if constexpr (array_parts<Member>::dimensions == 0) {
    return static_cast<double>(member);
  } else {
    std::array<double, array_parts<Member>::count> found;
    const auto* const first = reinterpret_cast<const element*>(&member);
    for (std::size_t n = 0; n < found.size(); ++n) found[n] = static_cast<double>(first[n]);
    return found;
  }
}

}  // namespace detail

// The same as orc::history for samples of type T. Fields are named as members (&State::q) or read by a function that
// takes a T and returns a number, a std::array<double, N> or an orc::quaternion.
//
//   orc::typed_history arm(b.request_topic<State>("arm/state", {.conflate = 0, .depth = 1000}), {.age = 10s});
//   const auto q = arm.interpolate(&State::q, camera.stamp_ns(), orc::interpolation::cubic);  // optional<array<double,
//   7>>
//
// A member of four numbers with the unit "quaternion" in its ORC_DESCRIBE is a rotation: it is interpolated on the
// shorter arc. Samples that are no T have no values.
template <class T>
class typed_history {
 public:
  // Keeps the samples of a subscription, as orc::history does.
  explicit typed_history(const typed_subscriber<T>& from, const history_options& keep = {}) noexcept
      : past_(from.untyped(), keep) {}

  // As in orc::history. A sample that is no T counts as received.
  [[nodiscard]] errc recv(std::chrono::nanoseconds timeout) noexcept { return past_.recv(timeout); }
  // The same with a timeout in ms.
  [[nodiscard]] errc recv(int timeout_ms) noexcept { return past_.recv(timeout_ms); }
  // The same, in order.
  [[nodiscard]] errc recv_next(std::chrono::nanoseconds timeout) noexcept { return past_.recv_next(timeout); }
  // The same with a timeout in ms.
  [[nodiscard]] errc recv_next(int timeout_ms) noexcept { return past_.recv_next(timeout_ms); }
  // How many samples are kept.
  [[nodiscard]] std::size_t size() const noexcept { return past_.size(); }
  // Whether none is.
  [[nodiscard]] bool empty() const noexcept { return past_.empty(); }
  // The newest kept sample. There must be one.
  [[nodiscard]] typed_past_sample<T> newest() const noexcept { return typed_past_sample<T>(past_.newest()); }
  // The sample that was the newest one at this time. Nothing: all kept samples were sent later.
  [[nodiscard]] std::optional<typed_past_sample<T>> at(std::int64_t stamp_ns) const noexcept {
    const auto found = past_.at(stamp_ns);
    if (!found) return {};
    return std::optional<typed_past_sample<T>>(std::in_place, *found);
  }
  // As in orc::history: `typed_past_sample<T>(each)` is a sample of it as a T.
  [[nodiscard]] past_range between(std::int64_t from_ns, std::int64_t to_ns) const noexcept {
    return past_.between(from_ns, to_ns);
  }

  // As in orc::history. `field` is a member of T, or a function that takes a T.
  template <class Field>
  [[nodiscard]] auto interpolate(Field field, std::int64_t stamp_ns, interpolation how = interpolation::linear) const {
    if constexpr (is_rotation_candidate<Field>()) {
      using parts = std::optional<std::array<double, 4>>;
      if (is_rotation(field)) {
        const auto found = past_.interpolate(
            [&](const past_sample& each) -> std::optional<quaternion> {
              const typed_past_sample<T> sample(each);
              if (!sample) return {};
              return quaternion{detail::numbers_in((*sample).*field)};
            },
            stamp_ns, how);
        return found ? parts(found->parts) : parts();
      }
      return past_.interpolate(reader(field), stamp_ns, how);
    } else {
      return past_.interpolate(reader(std::move(field)), stamp_ns, how);
    }
  }
  // As in orc::history.
  template <class Field>
  [[nodiscard]] auto mean(Field field, std::int64_t from_ns, std::int64_t to_ns) const {
    return past_.mean(reader(std::move(field)), from_ns, to_ns);
  }
  // As in orc::history.
  template <class Field>
  [[nodiscard]] auto moving_average(Field field, std::chrono::nanoseconds window) const {
    return past_.moving_average(reader(std::move(field)), window);
  }

  // The same history as one of bytes.
  [[nodiscard]] const history& untyped() const noexcept { return past_; }
  // The subscription.
  [[nodiscard]] subscriber& from() noexcept { return past_.from(); }

 private:
  template <class Field>
  static consteval bool is_rotation_candidate() {
    if constexpr (described<T> && std::is_member_object_pointer_v<Field>) {
      using member = std::remove_cvref_t<decltype(std::declval<const T&>().*std::declval<Field>())>;
      return detail::array_parts<member>::dimensions == 1 && detail::array_parts<member>::count == 4;
    } else {
      return false;
    }
  }
  template <class Field>
  [[nodiscard]] bool is_rotation(Field field) const noexcept {
    for (std::size_t i = past_.size(); i > 0; --i) {
      const typed_past_sample<T> sample(past_.samples()[i - 1]);
      if (sample) return detail::is_declared_as_quaternion(*sample, field);
    }
    return false;
  }
  // Reads a field in a sample of bytes.
  template <class Field>
  static auto reader(Field field) {
    return [field = std::move(field)](const past_sample& each) {
      const auto read = [&](const T& in) {
        if constexpr (std::is_member_object_pointer_v<Field>) {
          return detail::numbers_in(in.*field);
        } else {
          return field(in);
        }
      };
      using found = decltype(read(std::declval<const T&>()));
      const typed_past_sample<T> sample(each);
      if constexpr (detail::is_optional<found>) {
        return sample ? read(*sample) : found();
      } else {
        return sample ? std::optional<found>(read(*sample)) : std::optional<found>();
      }
    };
  }

  history past_;
};

}  // namespace orc
