#include "transport/multicast/socket/channel_filter.h"

#include "transport/multicast/datagram/big_endian.h"
#include "transport/multicast/datagram/lcm_datagram.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/fec/fec_packet.h"

namespace orc::detail::multicast {

namespace {

constexpr std::uint32_t udp_header = 8;  // where the filter of a UDP socket finds a datagram
constexpr std::uint32_t drop = 0;
constexpr std::uint32_t accept = 0xffffffff;
constexpr auto ip_header = static_cast<std::uint32_t>(SKF_NET_OFF);
constexpr std::uint32_t source_in_v4 = 12;
constexpr std::uint32_t source_in_v6 = 8;

class program {
 public:
  void load(std::uint32_t at, std::size_t bytes) {
    const int size = bytes == 4 ? BPF_W : bytes == 2 ? BPF_H : BPF_B;
    add(BPF_LD | size | BPF_ABS, at);
  }
  // Goes on when the loaded value is `value`, else drops the datagram.
  void require(std::uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
    finish(drop);
  }
  void finish(std::uint32_t verdict) { add(BPF_RET | BPF_K, verdict); }
  // Jumps to the place of the later skip(), unless the loaded value is `value`.
  [[nodiscard]] std::size_t unless(std::uint32_t value) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 0);
    return code_.size();
  }
  void skip(std::size_t from) { code_[from - 1].jf = static_cast<std::uint8_t>(code_.size() - from); }
  // Compares the bytes at `at`. Drops a datagram that ends before.
  void require_bytes(std::uint32_t at, std::string_view bytes) {
    const auto* from = reinterpret_cast<const std::byte*>(bytes.data());
    for (std::size_t rest = bytes.size(); rest > 0;) {
      const std::size_t n = rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
      load(at, n);
      require(n == 4   ? get_big_endian<std::uint32_t>(from)
              : n == 2 ? get_big_endian<std::uint16_t>(from)
                       : get_big_endian<std::uint8_t>(from));
      at += static_cast<std::uint32_t>(n);
      from += n;
      rest -= n;
    }
  }
  [[nodiscard]] std::vector<sock_filter> take() { return std::move(code_); }

 private:
  void add(int code, std::uint32_t k, std::uint8_t jt = 0, std::uint8_t jf = 0) {
    code_.push_back({static_cast<std::uint16_t>(code), jt, jf, k});
  }
  std::vector<sock_filter> code_;
};

}  // namespace

std::vector<sock_filter> this_host_filter(unsigned loopback) {
  program p;
  p.load(static_cast<std::uint32_t>(SKF_AD_OFF) + SKF_AD_IFINDEX, 4);
  p.require(loopback);
  p.finish(accept);
  return p.take();
}

std::vector<sock_filter> channel_filter(std::string_view channel, const std::optional<source>& only) {
  program p;
  if (only) {
    p.load(0, 2);
    p.require(only->port);
    const bool v4 = only->address.is_v4();
    const auto* const number = reinterpret_cast<const char*>(only->address.bytes.data());
    p.require_bytes(ip_header + (v4 ? source_in_v4 : source_in_v6),
                    v4 ? std::string_view(number + 12, 4) : std::string_view(number, 16));
    p.finish(accept);
    return p.take();
  }
  std::string name(channel);
  name += '\0';
  p.load(udp_header, 4);
  const auto not_single = p.unless(lcm::magic_single);
  p.require_bytes(udp_header + lcm::single_header, name);
  p.finish(accept);
  p.skip(not_single);
  const auto not_ours = p.unless(magic);
  p.load(udp_header + 7, 1);  // the length of the channel
  p.require(static_cast<std::uint32_t>(channel.size()));
  p.require_bytes(udp_header + orc_datagram::header, channel);
  p.finish(accept);
  p.skip(not_ours);
  const auto not_shard = p.unless(fec_packet::magic);
  p.load(udp_header + 5, 1);
  p.require(static_cast<std::uint32_t>(channel.size()));
  p.require_bytes(udp_header + fec_packet::fixed_bytes, channel);
  p.finish(accept);
  p.skip(not_shard);
  p.require(lcm::magic_fragment);
  p.finish(accept);
  return p.take();
}

}  // namespace orc::detail::multicast
