// The floor of multicast: a UDP datagram to a group, a port per topic. Best effort; as many samples wait as the
// socket's buffer (2 MB, as for the other peers over multicast) takes.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <system_error>

#include "peer.h"

namespace {

using namespace peers;

constexpr const char* group = "239.255.76.68";
constexpr std::size_t largest = 65'507;

struct node {
  explicit node(const settings& s) {
    if (s.size > largest) throw std::runtime_error("more than one datagram");
  }
};

void check(int done) {
  if (done < 0) throw std::system_error(errno, std::generic_category(), "UDP multicast");
}

sockaddr_in address(const std::string& topic) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(static_cast<std::uint16_t>(20'000 + std::hash<std::string>{}(topic) % 10'000));
  ::inet_pton(AF_INET, group, &a.sin_addr);
  return a;
}

class writer {
 public:
  writer(node&, const std::string& topic, const settings&) {
    const sockaddr_in to = address(topic);
    const unsigned char ttl = 0;
    check(::setsockopt(fd_, IPPROTO_IP, IP_MULTICAST_TTL, &ttl, sizeof ttl));
    check(::connect(fd_, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  }
  void send(bytes sample) { check(static_cast<int>(::send(fd_, sample.data(), sample.size(), 0))); }

 private:
  int fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

class reader {
 public:
  reader(node&, const std::string& topic, const settings&) {
    const sockaddr_in here = address(topic);
    const ip_mreq join{here.sin_addr, {}};
    const int on = 1;
    const int room = 2 * 1024 * 1024;
    const timeval look{0, look_ms * 1000};
    check(::setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on));
    check(::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &room, sizeof room));
    check(::bind(fd_, reinterpret_cast<const sockaddr*>(&here), sizeof here));
    check(::setsockopt(fd_, IPPROTO_IP, IP_ADD_MEMBERSHIP, &join, sizeof join));
    check(::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look));
  }
  bool receive(int timeout_ms, const use_function& use) {
    const std::int64_t end = now_ns() + timeout_ms * std::int64_t{1'000'000};
    do {
      const ssize_t got = ::recv(fd_, sample_.data(), sample_.size(), 0);
      if (got < 0) continue;
      use({sample_.data(), static_cast<std::size_t>(got)});
      return true;
    } while (now_ns() < end);
    return false;
  }

 private:
  int fd_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  std::vector<std::byte> sample_ = std::vector<std::byte>(largest);
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
