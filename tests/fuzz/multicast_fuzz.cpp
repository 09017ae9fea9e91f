// Any datagrams, from any senders, on a multicast group and to a subscription alone: LCM's, ORC's own and those with
// forward error correction, valid pieces and nonsense. What comes out is bounded and only goes forward.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "transport/multicast/channel_receiver.h"

namespace {

using namespace orc::detail;
using namespace orc::detail::multicast;

constexpr std::size_t max_bytes = 1 << 20;
constexpr orc::wire::id publication{1, 2};
constexpr orc::wire::id link_id{3, 4};

// Bits 3 and 4 of the first byte: what a typed subscription expects.
std::shared_ptr<const described_type> type_of(std::uint8_t how) {
  switch (how >> 3 & 3) {
    case 1:
      return describe({"P", "struct", "struct",
                       R"({"byte_order":"little","size":8,"fields":[{"name":"q","type":"uint64","offset":0}]})"});
    case 2: return describe({"c.t", "lcm", "lcm", "fingerprint 0x4142434445464748\n"});
    default: return nullptr;
  }
}

void require(bool holds) {
  if (!holds) std::abort();
}

// What is decoded must say the same when it is encoded again.
void check_formats(std::span<const std::byte> bytes) {
  if (const auto d = lcm::decode(bytes)) {
    require(d->fragment < d->fragments);
    require(d->offset <= d->size && d->payload.size() <= d->size - d->offset);
    require(d->channel.size() <= lcm::max_channel_length);
  }
  if (const auto d = decode(bytes)) {
    std::array<std::byte, max_orc_datagram> again;
    const std::size_t size = encode(*d, again);
    // A type is none without its part.
    const auto back = d->kind == datagram_kind::type ? d : decode({again.data(), size});
    require(back && back->kind == d->kind && back->publication == d->publication && back->sequence == d->sequence &&
            back->gap_count == d->gap_count && back->channel == d->channel && back->cookie == d->cookie &&
            back->registered == d->registered && back->keeps_last == d->keeps_last);
    // What is inside goes behind it, so it is not here.
    if (d->kind == datagram_kind::announce) require(back->type == d->type);
    if (d->kind == datagram_kind::ask_type) require(back->type == d->type && back->offset == d->offset);
    if (d->kind == datagram_kind::type)
      require(d->size > max_type_bytes ? d->inside.empty() : d->inside.size() <= d->size - d->offset);
  }
}

// The input: [kind and sender][length, two bytes][bytes] again and again.
class input {
 public:
  input(const std::uint8_t* data, std::size_t size) : rest_(std::as_bytes(std::span(data, size))) {}

  struct datagram {
    std::uint8_t how;
    std::span<const std::byte> bytes;
  };
  std::optional<datagram> next() {
    if (rest_.size() < 3) return std::nullopt;
    const auto how = static_cast<std::uint8_t>(rest_[0]);
    const std::size_t size = static_cast<std::size_t>(rest_[1]) << 8 | static_cast<std::size_t>(rest_[2]);
    rest_ = rest_.subspan(3);
    const auto bytes = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(bytes.size());
    return datagram{how, bytes};
  }

 private:
  std::span<const std::byte> rest_;
};

void feed(channel_receiver& receiver, input in) {
  monotonic::time_point now{};
  std::uint64_t newest = 0;
  while (const auto d = in.next()) {
    check_formats(d->bytes);
    // The low bits choose the sender; the upper ones the way, and how much time passes.
    const source from{.address = {.bytes = {1}}, .port = static_cast<std::uint16_t>(d->how & 3)};
    if ((d->how & 0x80) != 0) now += std::chrono::milliseconds(700);
    if ((d->how & 0x40) != 0)
      receiver.on_direct(d->bytes, from, now);
    else
      receiver.on_group(d->bytes, from, 0, now);
    if ((d->how & 0x20) != 0) receiver.remind(now, false);
    receiver.check_types(now);
    if (const auto work = receiver.type_work(now)) {
      work->step();
      receiver.check_types(now);
    }
    if (const auto problem = receiver.type_problem()) require(problem->code() == orc::errc::type_mismatch);
    receiver.report(100'000, [](const source&, const orc_datagram& report) {
      require(report.gap_count <= orc_datagram::max_gaps);
      std::array<std::byte, max_orc_datagram> bytes;
      require(decode({bytes.data(), encode(report, bytes)}).has_value());
    });
    require(receiver.bytes() <= 2 * max_bytes);
    sample s;
    while (receiver.ready().pop(s)) {
      require(s.buffer.size() <= max_bytes || s.buffer.size() <= d->bytes.size());
      // Senders that begin anew count anew, but an open subscription counts on.
      if (receiver.is_open()) require(s.sequence > newest);
      newest = s.sequence;
      std::size_t sum = 0;  // every byte can be read
      for (std::size_t i = 0; i < s.buffer.size(); ++i) sum += static_cast<std::size_t>(s.buffer.payload()[i]);
      require(sum <= 255 * s.buffer.size());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const bool open = (data[0] & 1) != 0;
  const bool in_order = (data[0] & 2) != 0;
  channel_receiver receiver({.channel = "c",
                             .publication = open ? orc::wire::id{} : publication,
                             .link = link_id,
                             .depth = in_order ? 8u : 0u,
                             .alone = (data[0] & 4) != 0,
                             .max_bytes = max_bytes,
                             .type = type_of(data[0])});
  const source expected{.address = {.bytes = {1}}, .port = 0};
  if (!open) receiver.expect(expected, expected, 0);
  feed(receiver, input(data + 1, size - 1));
  return 0;
}
