// Conversations of a publication that lies with the subscription's end of a stream link: welcomes, refusals, samples,
// parts, commands and any bytes, in any order and in pieces, while the subscription receives now and then. The input is
// a list of steps, each [u8 what][u8 amount] and what the step needs. A receive must end, and a newest-wins one must
// leave nothing that it could have taken.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include "transport/stream/stream_socket.h"
#include "transport/stream/stream_subscriber_link.h"
#include "wire/zmtp.h"

namespace {

using namespace orc;
using namespace orc::detail;
namespace zmtp = orc::wire::zmtp;

const wire::id publication{1, 2};
const wire::id subscription{3, 4};

std::string framed(std::span<const std::byte> body, std::uint8_t flags = 0) {
  const auto header = zmtp::encode_frame_header(body.size(), flags);
  std::string bytes(reinterpret_cast<const char*>(header.bytes.data()), header.size);
  bytes.append(reinterpret_cast<const char*>(body.data()), body.size());
  return bytes;
}

class liar {
 public:
  explicit liar(unique_fd fd) : fd_(std::move(fd)) {
    const int room = 1 << 20;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  }
  void introduce() {
    push(zmtp::greeting());
    const auto ready = zmtp::ready_frame("ROUTER");
    push(std::as_bytes(std::span(ready)));
  }
  void message(std::uint8_t how) {
    const auto bytes = wire::encode(wire::link_message{.kind = static_cast<wire::link_kind>(1 + how % 4),
                                                       .publication = (how & 4) != 0 ? wire::id{9, 9} : publication,
                                                       .subscription = (how & 8) != 0 ? wire::id{8, 8} : subscription,
                                                       .last_sequence = std::uint64_t{how} >> 4u});
    push_text(framed(bytes));
  }
  void sample(std::uint8_t amount) {
    std::string bytes(wire::sample_header::bytes + std::size_t{amount} * (amount % 16 == 0 ? 1024 : 1), 'x');
    wire::put({++sequence_, 1}, reinterpret_cast<std::byte*>(bytes.data()));
    push_text(framed(std::as_bytes(std::span(bytes))));
  }
  void part(std::span<const std::byte> body, std::uint8_t flags) { push_text(framed(body, flags)); }
  void push(std::span<const std::byte> bytes) {
    (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  void push_text(const std::string& bytes) { push(std::as_bytes(std::span(bytes))); }

  unique_fd fd_;
  std::uint64_t sequence_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  int fds[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) != 0) return 0;
  liar far(unique_fd{fds[1]});
  subscription_spec wanted;
  wanted.publication = publication;
  wanted.id = subscription;
  wanted.delivery.depth = data[0] % 2 == 0 ? 0 : 4;
  stream_subscriber_link link(unique_fd{fds[0]}, wire::transport::ipc, wanted);
  ++data;
  --size;
  while (size >= 2) {
    const std::uint8_t what = data[0] % 8;
    const std::uint8_t amount = data[1];
    data += 2;
    size -= 2;
    const std::size_t length = what >= 5 ? std::min<std::size_t>(amount, size) : 0;
    const auto bytes = std::as_bytes(std::span(data, length));
    switch (what) {
      case 0: far.introduce(); break;
      case 1: far.message(amount); break;
      case 2: far.sample(amount); break;
      case 3:
      case 4: {
        sample got;
        if (link.try_recv(got) && (got.sequence == 0 || got.buffer.size() > max_stream_sample)) std::abort();
        break;
      }
      case 5: far.part(bytes, zmtp::more); break;
      case 6: far.part(bytes, zmtp::command); break;
      default: far.push(bytes);
    }
    data += length;
    size -= length;
  }
  return 0;
}
