// Where the value of a parameter is. For ORC itself.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "orc/parameters/parameter_options.h"
#include "orc/parameters/parameter_value.h"

namespace orc::detail {

template <class T>
[[nodiscard]] parameter_value to_value(const T& from) {
  if constexpr (std::same_as<T, bool>) {
    return from;
  } else if constexpr (std::integral<T>) {
    return static_cast<std::int64_t>(from);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<double>(from);
  } else if constexpr (std::same_as<T, std::string>) {
    return from;
  } else {
    return std::vector<double>(from.begin(), from.end());
  }
}

// `from` has passed the checks of T's description.
template <class T>
[[nodiscard]] T from_value(const parameter_value& from) {
  if constexpr (std::same_as<T, bool>) {
    return std::get<bool>(from);
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(std::get<std::int64_t>(from));
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(std::get<double>(from));
  } else if constexpr (std::same_as<T, std::string>) {
    return std::get<std::string>(from);
  } else if constexpr (std::same_as<T, std::vector<double>>) {
    return std::get<std::vector<double>>(from);
  } else {
    T to{};
    std::ranges::copy(std::get<std::vector<double>>(from), to.begin());
    return to;
  }
}

// What does not depend on the type. One writer at a time; any thread reads.
class parameter_store {
 public:
  virtual ~parameter_store() = default;
  // Stores a value that has passed the checks.
  virtual void store(const parameter_value& value) = 0;
  // As T holds it: a float has fewer digits. Other values, also those of another type, stay as they are.
  [[nodiscard]] virtual parameter_value rounded(const parameter_value& value) const = 0;
  // Grows with each change, after the value is there.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_.load(std::memory_order_acquire); }

 protected:
  void count() noexcept { version_.fetch_add(1, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t> version_{0};
};

// A number: reads are one atomic load.
template <parameter_type T>
class parameter_cell : public parameter_store {
 public:
  explicit parameter_cell(T initial) : value_(std::move(initial)) {}

  [[nodiscard]] T get() const noexcept {
    static_assert(std::atomic<T>::is_always_lock_free);
    return value_.load(std::memory_order_acquire);
  }
  void store(const parameter_value& value) override {
    value_.store(from_value<T>(value), std::memory_order_release);
    count();
  }
  [[nodiscard]] parameter_value rounded(const parameter_value& value) const override {
    if constexpr (std::same_as<T, float>) {
      const auto* const number = std::get_if<double>(&value);
      if (number != nullptr && std::abs(*number) <= static_cast<double>(std::numeric_limits<float>::max()))
        return static_cast<double>(static_cast<float>(*number));
    }
    return value;
  }

 private:
  std::atomic<T> value_;
};

// A text or a list: reads take a lock for as long as a pointer is copied.
template <parameter_type T>
requires(!std::is_arithmetic_v<T>) class parameter_cell<T> : public parameter_store {
 public:
  explicit parameter_cell(T initial) : value_(std::make_shared<const T>(std::move(initial))) {}

  [[nodiscard]] T get() const { return *current(); }
  void store(const parameter_value& value) override {
    auto next = std::make_shared<const T>(from_value<T>(value));
    {
      const std::lock_guard lock(mutex_);
      value_.swap(next);
    }
    count();
  }
  [[nodiscard]] parameter_value rounded(const parameter_value& value) const override { return value; }

 private:
  [[nodiscard]] std::shared_ptr<const T> current() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;
};

}  // namespace orc::detail
