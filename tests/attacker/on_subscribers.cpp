// A publication that welcomes those who asked for "bait", and then sends what no honest one would.
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <span>

#include "attacker/attack.h"
#include "wire/link_message.h"
#include "wire/sample_header.h"
#include "wire/zmtp.h"

namespace orc::test {

namespace {

namespace zmtp = orc::wire::zmtp;

detail::unique_fd listening(std::string& address) {
  detail::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 || ::listen(fd.get(), 64) != 0 ||
      ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return {};
  address = "tcp://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
  return fd;
}

bool push(int fd, const std::string& bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0 || errno == EAGAIN;
}

// What the subscriber said up to its hello is enough to welcome it.
bool welcome(int fd, const wire::id& publication, std::chrono::steady_clock::time_point end) {
  const auto greeting = zmtp::greeting();
  push(fd, {reinterpret_cast<const char*>(greeting.data()), greeting.size()});
  push(fd, zmtp::ready_frame("ROUTER"));
  std::string heard;
  while (std::chrono::steady_clock::now() < end) {
    char bytes[1024];
    const ssize_t n = ::recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n == 0) return false;
    if (n > 0) heard.append(bytes, static_cast<std::size_t>(n));
    const auto mark = heard.find("ORCL");
    if (mark == std::string::npos || heard.size() < mark + 56) continue;
    const auto message = wire::decode_link_message(
        std::as_bytes(std::span(heard).subspan(mark - wire::sample_header::bytes, wire::link_message::bytes)));
    if (!message) return false;
    const auto answer = wire::encode(wire::link_message{
        .kind = wire::link_kind::welcome, .publication = publication, .subscription = message->subscription});
    return push(fd, frame_of({reinterpret_cast<const char*>(answer.data()), answer.size()}));
  }
  return false;
}

std::string nonsense(battlefield& field) {
  switch (field.below(5)) {
    case 0: return frame_of(std::string("\4PING\0\0", 7), zmtp::command);
    case 1: return frame_of(std::string(60'000, 'p'), zmtp::more);
    case 2: return frame_of(std::string(16, '\0'));
    case 3: return std::string("\2\0\0\0\7\0\0\0\0", 9) + std::string(1000, 'l');  // the start of 30 GB
    default: return std::string(100, static_cast<char>(field.random()));
  }
}

void hostile_publication(battlefield& field) {
  std::string address;
  const auto door = listening(address);
  if (!door) return;
  line to = to_broker(field);
  tell(to, 1, made_up_hello(field));
  const auto mine = wire::id::random();
  tell(to, 2, wire::register_topic{"bait", mine, {{wire::transport::tcp, address}}, {}});
  while (field.goes_on()) {
    while (to.hear(std::chrono::milliseconds(5))) {
    }
    const detail::unique_fd peer(::accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!peer || !welcome(peer.get(), mine, field.end)) continue;
    const std::string bytes = nonsense(field);
    while (field.goes_on() && push(peer.get(), bytes)) {
    }
  }
  tell(to, 3, wire::goodbye{});
}

}  // namespace

const std::vector<attack>& attacks_on_subscribers() {
  static const std::vector<attack> all{{"hostile publication", hostile_publication}};
  return all;
}

}  // namespace orc::test
