// A sample of a C++ type that is made where its readers read it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "orc/message.h"
#include "orc/typed/aligned_copy.h"
#include "orc/typed/traits.h"

namespace orc {

// A type whose samples can be made in place: a struct with ORC_DESCRIBE.
template <class T>
concept made_in_place = std::is_trivially_copyable_v<T> && type_traits<T>::in_place;

// How a loan begins.
enum class initial : unsigned char {
  value,     // as T{}: zeros and the defaults of the members
  undefined  // whatever the memory had; the program writes each member. Saves the time to clear a large T
};

// A T in loaned memory (orc::loan): fill it, then send it with typed_publisher::send. Destroying it sends nothing. Over
// shm the readers read this T itself. One loan belongs to one thread at a time.
template <made_in_place T>
class [[nodiscard]] typed_loan {
 public:
  // No memory. For ORC itself: typed_publisher::loan makes loans.
  typed_loan() noexcept = default;
  typed_loan(orc::loan&& memory, initial content) noexcept : raw_(std::move(memory)) {
    if (!raw_) return;
    // Loaned memory is aligned to 8 bytes at least, to 32 over shm.
    void* at = raw_.data();
    if constexpr (alignof(T) > 8) {
      if (!detail::is_aligned(at, alignof(T))) at = apart_.reserve(sizeof(T));
    }
    if (at == nullptr) {
      raw_ = orc::loan();
      return;
    }
    value_ = content == initial::value ? ::new (at) T() : ::new (at) T;
  }
  // Moves the memory; the other loan is empty afterwards.
  typed_loan(typed_loan&& other) noexcept { take(other); }
  // Drops this memory, and moves the other one here.
  typed_loan& operator=(typed_loan&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  typed_loan(const typed_loan&) = delete;
  typed_loan& operator=(const typed_loan&) = delete;
  ~typed_loan() = default;

  // False when there is no memory: see typed_publisher::loan.
  explicit operator bool() const noexcept { return value_ != nullptr; }

  // The sample. Only when the loan is true.
  T* operator->() noexcept { return value_; }
  // The same as a reference.
  T& operator*() noexcept { return *value_; }

  // Gives the memory away, filled, to send it through an orc::publisher. The typed loan is empty afterwards.
  [[nodiscard]] orc::loan release() noexcept {
    if (value_ != nullptr && static_cast<void*>(value_) != raw_.data()) std::memcpy(raw_.data(), value_, sizeof(T));
    value_ = nullptr;
    return std::move(raw_);
  }

 private:
  void take(typed_loan& other) noexcept {
    const T* const before = std::exchange(other.value_, nullptr);
    const bool apart = before != nullptr && static_cast<const void*>(before) != other.raw_.data();
    raw_ = std::move(other.raw_);
    apart_ = std::move(other.apart_);
    // The memory of a small loan may be in the loan itself, and moves with it.
    void* const at = apart ? static_cast<void*>(apart_.data()) : raw_.data();
    value_ = before != nullptr ? std::launder(static_cast<T*>(at)) : nullptr;
  }

  orc::loan raw_;
  T* value_ = nullptr;
  detail::aligned_copy<0, alignof(T)> apart_;
};

}  // namespace orc
