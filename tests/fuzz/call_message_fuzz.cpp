// The messages of calls: whatever is read can be written again, and is the same.
#include "calls/call_message.h"

#include <algorithm>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orc::detail;
  const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto check = [](bool holds) {
    if (!holds) std::abort();
  };
  const auto message = read_message(bytes);
  if (!message) return 0;
  const auto again = encode(message->header, message->payload);
  check(std::ranges::equal(again, bytes));
  if (const auto types = read_types(message->payload)) {
    check(std::ranges::equal(encode(*types), message->payload));
  }
  if (const auto error = read_error(message->payload)) {
    check(error->text.size() <= max_error_text && error->exception_type.size() <= max_exception_type);
    const auto once_more = read_error(encode(*error));
    check(once_more && once_more->text == error->text && once_more->code == error->code);
  }
  if (const auto ids = read_ids(message->payload)) check(std::ranges::equal(encode(*ids), message->payload));
  return 0;
}
