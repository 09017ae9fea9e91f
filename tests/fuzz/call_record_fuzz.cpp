// Records of calls: whatever is read can be written again, and is the same.
#include "calls/call_record_json.h"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orc;
  call_record read;
  if (!read_call_record({reinterpret_cast<const std::byte*>(data), size}, read)) return 0;
  const std::string once = detail::to_json(read);
  call_record again;
  // What is escaped, and base64, may be longer.
  if (!read_call_record(std::as_bytes(std::span(once)), again)) {
    if (once.size() <= max_call_record_bytes) std::abort();
    return 0;
  }
  if (detail::to_json(again) != once) std::abort();
  return 0;
}
