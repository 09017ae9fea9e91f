#include "calls/service_call.h"

#include "calls/call_message.h"
#include "calls/service_client.h"

namespace orc {

namespace detail {

service_call::service_call(std::shared_ptr<service_client> of, std::uint64_t number, monotonic::time_point until,
                           message&& received)
    : client(std::move(of)), id(number), deadline(until), message_(std::move(received)) {}

std::span<const std::byte> service_call::request() const noexcept {
  return message_ ? message_.bytes().subspan(call_header_size) : std::span<const std::byte>(copy_);
}

void service_call::copy_request() {
  const auto bytes = request();
  copy_.assign(bytes.begin(), bytes.end());
  message_ = message();
}

std::byte* service_call::reserve(std::size_t size) {
  const std::size_t whole = call_header_size + size;
  small_size_ = size <= small_message - call_header_size ? whole : 0;
  large_ = small_size_ == 0 ? client->lend(whole) : orc::loan();
  no_memory = small_size_ == 0 && !large_;
  return no_memory ? nullptr : reply().data() + call_header_size;
}

std::span<std::byte> service_call::reply() noexcept {
  return small_size_ != 0 ? std::span(small_).first(small_size_) : large_.bytes();
}

result service_call::send_reply(orc::publisher& to) noexcept {
  return small_size_ != 0 ? to.send(small_.data(), small_size_) : to.send(std::move(large_));
}

}  // namespace detail

std::chrono::steady_clock::time_point call_context::deadline() const noexcept { return call_.deadline; }
bool call_context::cancelled() noexcept { return call_.client->is_cancelled(call_); }
const call_client& call_context::client() const noexcept { return call_.client->identity(); }
bool call_context::feedback(std::span<const std::byte> bytes) { return call_.client->send_feedback(call_, bytes); }

std::span<std::byte> call_context::reply(std::size_t size) {
  std::byte* const at = call_.reserve(size);
  return at != nullptr ? std::span(at, size) : std::span<std::byte>();
}

void call_context::fail(std::int32_t number, std::string_view text) {
  call_.error = call_error{.code = call_errc::failed, .number = number, .text = std::string(text)};
}

}  // namespace orc
