// The sending end of a topic whose samples are a C++ type.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "orc/message.h"
#include "orc/publisher.h"
#include "orc/result.h"
#include "orc/typed/traits.h"
#include "orc/typed/typed_loan.h"

namespace orc {

// A publication of samples of type T, as participant::register_topic<T> returns it. Cheap to copy; threads as in
// orc::publisher. The topic stays registered until participant::unregister_topic or the end of the participant.
template <class T>
class [[nodiscard]] typed_publisher {
 public:
  // A false handle, for which send returns not_registered.
  typed_publisher() noexcept = default;
  // For ORC itself: participant::register_topic makes handles.
  explicit typed_publisher(orc::publisher publisher) noexcept : publisher_(std::move(publisher)) {}

  // As in orc::publisher.
  explicit operator bool() const noexcept { return static_cast<bool>(publisher_); }
  // As in orc::publisher.
  [[nodiscard]] const orc::result& result() const noexcept { return publisher_.result(); }
  // As in orc::publisher.
  [[nodiscard]] const orc::error& error() const noexcept { return publisher_.error(); }

  // Encodes and sends one sample. `value` is a T, or what else the type's traits accept, such as a finished
  // flatbuffers::FlatBufferBuilder. Otherwise as publisher::send; also
  // - bad_argument: the value cannot be encoded.
  template <class U = T>
  requires(detail::has_bytes<T, U> || detail::encodable<T, U>) [[nodiscard]] orc::result send(const U& value) noexcept {
    if constexpr (detail::has_bytes<T, U>) {
      const std::span<const std::byte> bytes = type_traits<T>::bytes_of(value);
      return publisher_.send(bytes.data(), bytes.size());
    } else {
      orc::loan memory = publisher_.loan(type_traits<T>::encoded_size(value));
      if (!memory) return why_no_loan();
      if (!type_traits<T>::encode(value, memory.bytes())) return errc::bad_argument;
      return publisher_.send(std::move(memory));
    }
  }

  // Returns a T in memory that subscribers over shm will read, to fill and send. False when there is no memory, and
  // when send would return closed, forked or not_registered. For structs only.
  [[nodiscard]] auto loan(initial content = initial::value) noexcept requires made_in_place<T> {
    return typed_loan<T>(publisher_.loan(sizeof(T)), content);
  }
  // Sends what loan() returned. It belongs to ORC afterwards. An empty loan is a bad_argument. Otherwise as
  // publisher::send.
  template <std::same_as<T> U>
  [[nodiscard]] orc::result send(typed_loan<U>&& filled) noexcept {
    return publisher_.send(filled.release());
  }

  // As in orc::publisher.
  [[nodiscard]] std::size_t readers() const noexcept { return publisher_.readers(); }
  // As in orc::publisher.
  [[nodiscard]] orc::result wait_readers(std::size_t count, std::chrono::nanoseconds timeout) noexcept {
    return publisher_.wait_readers(count, timeout);
  }
  // As in orc::publisher.
  [[nodiscard]] orc::result wait_readers(std::size_t count, int timeout_ms) noexcept {
    return publisher_.wait_readers(count, timeout_ms);
  }

  // The publication as one of bytes.
  [[nodiscard]] const orc::publisher& untyped() const noexcept { return publisher_; }

 private:
  [[nodiscard]] orc::result why_no_loan() noexcept {
    if (auto usable = publisher_.wait_readers(0, 0); !usable) return usable;
    return errc::no_memory;
  }

  orc::publisher publisher_;
};

}  // namespace orc
