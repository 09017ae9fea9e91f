// What a handler knows of the call that it serves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "orc/typed.h"
#include "orc/version.h"

namespace orc {

// The program that calls, as the broker knows it. All of it is what the program said of itself.
struct call_client {
  std::string name = {};  // participant_state::name
  std::string host = {};  // participant_state::host
  std::uint32_t pid = 0;  // participant_state::pid
};

namespace detail {
class service_call;

// Gives the bytes of `value` to `take`. False: it cannot be encoded, or `take` returned false.
template <class T, class Take>
[[nodiscard]] bool with_bytes(const T& value, Take&& take) {
  if constexpr (has_bytes<T, T>) {
    return take(type_traits<T>::bytes_of(value));
  } else {
    std::string encoded(type_traits<T>::encoded_size(value), '\0');
    const auto bytes = std::as_writable_bytes(std::span(encoded));
    return type_traits<T>::encode(value, bytes) && take(std::span<const std::byte>(bytes));
  }
}
}  // namespace detail

// A call that is being served. Belongs to its handler: do not keep a reference after the handler has returned. Threads
// that the handler starts may use it meanwhile, one at a time. In a service without threads, only the handler's own
// thread learns of a cancellation: it receives.
class ORC_API call_context {
 public:
  // For ORC itself.
  explicit call_context(detail::service_call& call) noexcept : call_(call) {}
  call_context(const call_context&) = delete;
  call_context& operator=(const call_context&) = delete;

  // When the client stops waiting, on this host's clock: it begins when the request arrives.
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const noexcept;
  // True when no client waits for the reply any more: the client cancelled the call or is gone, the deadline has
  // passed, or the service is being withdrawn. A handler that takes long looks here and returns. Never waits.
  [[nodiscard]] bool cancelled() noexcept;
  // Who calls.
  [[nodiscard]] const call_client& client() const noexcept;

  // Sends feedback before the reply. The newest wins: feedback that the client cannot take in time is replaced by later
  // feedback. The last one always comes before the reply. False: it could not be sent. Never waits.
  bool feedback(std::span<const std::byte> bytes);
  // The same for a value of a typed topic's type. The client names the type in call_future::feedback.
  template <typed T>
  bool feedback(const T& value) {
    return detail::with_bytes(value, [&](std::span<const std::byte> bytes) { return feedback(bytes); });
  }

  // Memory for the reply's bytes, which the handler fills before it returns: they are sent from there, without a copy,
  // over shm too. What the handler returns is then dropped. Of several calls the last counts. Null data: no memory.
  [[nodiscard]] std::span<std::byte> reply(std::size_t size);

  // Ends the call with an error: code call_errc::failed, this number and text. What the handler returns is then
  // dropped. Of several calls the last counts. Texts are cut after 4,096 bytes.
  void fail(std::int32_t number, std::string_view text);

 private:
  detail::service_call& call_;
};

}  // namespace orc
