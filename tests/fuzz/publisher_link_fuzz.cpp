// Conversations of several subscribers with the publication's end of a stream link: connections that come, say anything
// in any order, read or do not, and go, while samples are sent. The input is a list of steps, each
// [u8 what][u8 connection][u8 amount] and what the step needs. Whoever joined properly must get whole samples with
// growing numbers.
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>

#include "transport/frame.h"
#include "transport/sample_backlog.h"
#include "transport/stream/stream_publisher_link.h"
#include "wire/zmtp.h"

namespace {

using namespace orc;
using namespace orc::detail;
namespace zmtp = orc::wire::zmtp;

constexpr std::size_t max_connections = 6;
const wire::id publication{1, 2};

struct listening {
  unique_fd fd;
  sockaddr_un address{};
  socklen_t size = sizeof address;
};

listening listen_somewhere() {
  listening door{unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)), {}, sizeof(sockaddr_un)};
  door.address.sun_family = AF_UNIX;
  auto* const name = reinterpret_cast<sockaddr*>(&door.address);
  // Without a name the kernel finds one.
  if (::bind(door.fd.get(), name, sizeof(sa_family_t)) != 0 || ::listen(door.fd.get(), 16) != 0 ||
      ::getsockname(door.fd.get(), name, &door.size) != 0)
    std::abort();
  return door;
}

// One subscriber, seen from its own side.
class far_end {
 public:
  explicit far_end(const listening& door) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    if (::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&door.address), door.size) != 0) fd_.reset();
  }

  void say(std::span<const std::byte> bytes) {
    honest_ = honest_ && bytes.empty();
    push(bytes);
  }
  void introduce() {
    honest_ = honest_ && !introduced_;
    introduced_ = true;
    push(zmtp::greeting());
    const auto ready = zmtp::ready_frame("DEALER");
    push(std::as_bytes(std::span(ready)));
  }
  void hello(std::uint8_t how) {
    honest_ = honest_ && introduced_ && !greeted_ && (how & 1) == 0;
    greeted_ = true;
    const auto message = wire::encode(wire::link_message{.kind = static_cast<wire::link_kind>(1 + (how & 1) * 3),
                                                         .publication = (how & 2) != 0 ? wire::id{9, 9} : publication,
                                                         .subscription = {1, 1u + ((how >> 2) & 3u)},
                                                         .secret = (how >> 6u) & 3u,
                                                         .depth = (how & 16) != 0 ? 3u : 0u,
                                                         .last_sequence = (how & 32) != 0 ? 5u : 0u});
    const auto header = zmtp::encode_frame_header(message.size());
    push({header.bytes.data(), header.size});
    push(message);
  }
  void read(std::size_t most) {
    std::array<std::byte, 65536> bytes;
    const ssize_t n = fd_ ? ::recv(fd_.get(), bytes.data(), std::min(bytes.size(), most), MSG_DONTWAIT) : -1;
    if (n <= 0) return;
    heard_.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(n));
    if (honest_) check();
  }

 private:
  void push(std::span<const std::byte> bytes) {
    if (fd_) (void)::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void check() {
    if (!heard_greeting_) {
      if (heard_.size() < zmtp::greeting_bytes) return;
      heard_.erase(0, zmtp::greeting_bytes);
      heard_greeting_ = true;
    }
    for (;;) {
      const auto header = zmtp::decode_frame_header(std::as_bytes(std::span(heard_)));
      if (!header || heard_.size() < header->header_size + header->size) return;
      if ((header->flags & ~zmtp::known_flags) != 0 || (header->flags & zmtp::more) != 0) std::abort();
      if ((header->flags & zmtp::command) == 0) take(heard_.substr(header->header_size, header->size));
      heard_.erase(0, header->header_size + header->size);
    }
  }

  void take(const std::string& frame) {
    if (frame.size() < wire::sample_header::bytes) std::abort();
    const auto header = wire::get(std::as_bytes(std::span(frame)).data());
    if (header.sequence == 0) return;
    if (header.sequence <= newest_) std::abort();
    newest_ = header.sequence;
    for (std::size_t n = wire::sample_header::bytes; n < frame.size(); ++n) {
      if (static_cast<unsigned char>(frame[n]) != (header.sequence & 0xff)) std::abort();
    }
  }

  unique_fd fd_;
  std::string heard_;
  std::uint64_t newest_ = 0;
  bool honest_ = true;
  bool introduced_ = false;
  bool greeted_ = false;
  bool heard_greeting_ = false;
};

class publisher {
 public:
  explicit publisher(const listening& door) {
    auto made = acceptor::make(unique_fd(::dup(door.fd.get())));
    if (!made) std::abort();
    publication_spec spec;
    spec.id = publication;
    spec.lacking = std::make_shared<sample_backlog>();
    link_ = std::make_unique<stream_publisher_link>(*std::move(made), spec,
                                                    wire::endpoint{wire::transport::ipc, "ipc:///fuzz"});
  }
  void send(std::size_t size) {
    sample next{allocate_frame(size), ++sequence_, 1};
    if (!next.buffer) return;
    std::memset(next.buffer.payload(), static_cast<int>(sequence_ & 0xff), size);
    link_->commit(next);
    last_ = std::move(next);
  }
  void service() { link_->service(last_.buffer ? &last_ : nullptr); }

 private:
  std::unique_ptr<stream_publisher_link> link_;
  sample last_;
  std::uint64_t sequence_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const listening door = listen_somewhere();
  publisher sender(door);
  std::array<std::unique_ptr<far_end>, max_connections> ends;
  while (size >= 3) {
    const std::uint8_t what = data[0] % 8;
    auto& end = ends[data[1] % max_connections];
    const std::uint8_t amount = data[2];
    data += 3;
    size -= 3;
    if (!end) end = std::make_unique<far_end>(door);
    switch (what) {
      case 0: end->introduce(); break;
      case 1: end->hello(amount); break;
      case 2: {
        const std::size_t length = std::min<std::size_t>(amount, size);
        end->say(std::as_bytes(std::span(data, length)));
        data += length;
        size -= length;
        break;
      }
      case 3: sender.send(std::size_t{amount} * (amount % 16 == 0 ? 4096 : 1)); break;
      case 4: sender.service(); break;
      case 5: end->read(std::size_t{amount} * 256); break;
      case 6: end.reset(); break;
      default: sender.service(); sender.send(amount);
    }
  }
  sender.service();
  return 0;
}
