// Any bytes as a frame on an ipc or tcp link: the sample header and the link messages that both ends decode.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "wire/link_message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orc::wire;
  const auto frame = std::as_bytes(std::span(data, size));
  if (frame.size() >= sample_header::bytes) {
    std::byte again[sample_header::bytes];
    put(get(frame.data()), again);
    if (!std::equal(std::begin(again), std::end(again), frame.begin())) std::abort();
  }
  const auto message = decode_link_message(frame);
  if (!message) return 0;
  const auto decoded = decode_link_message(encode(*message));
  if (!decoded || decoded->kind != message->kind || decoded->publication != message->publication ||
      decoded->subscription != message->subscription || decoded->depth != message->depth ||
      decoded->last_sequence != message->last_sequence)
    std::abort();
  return 0;
}
