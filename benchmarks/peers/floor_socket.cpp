// The floor of streams: a Unix socket or tcp with TCP_NODELAY, the socket's buffers as the system makes them. All
// samples have the same size, so nothing but the payload is sent. Every sample in order; a full socket blocks.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <cerrno>
#include <mutex>
#include <system_error>

#include "peer.h"

namespace {

using namespace peers;

struct node {
  explicit node(const settings&) {}
};

void check(int done) {
  if (done < 0) throw std::system_error(errno, std::generic_category(), "socket");
}

sockaddr_un unix_address(const std::string& topic, const settings& s) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  std::snprintf(a.sun_path, sizeof a.sun_path, "%s/%s", s.directory.c_str(), topic.c_str());
  return a;
}

sockaddr_in tcp_address(unsigned port) {
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(static_cast<std::uint16_t>(port));
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

void no_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

class writer {
 public:
  writer(node&, const std::string& topic, const settings& s) {
    std::string endpoint = "unix";
    if (s.transport == "tcp") {
      sockaddr_in a = tcp_address(0);
      socklen_t size = sizeof a;
      listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      check(::bind(listener_, reinterpret_cast<const sockaddr*>(&a), sizeof a));
      check(::getsockname(listener_, reinterpret_cast<sockaddr*>(&a), &size));
      endpoint = std::to_string(ntohs(a.sin_port));
    } else {
      const sockaddr_un a = unix_address(topic, s);
      listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      check(::bind(listener_, reinterpret_cast<const sockaddr*>(&a), sizeof a));
    }
    check(::listen(listener_, 64));
    announce(s, topic, endpoint);
    acceptor_ = std::thread([this] { accept_all(); });
  }
  ~writer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;

  void send(bytes sample) {
    const std::lock_guard lock(mutex_);
    for (const int fd : readers_) {
      for (bytes rest = sample; !rest.empty();) {
        const ssize_t sent = ::send(fd, rest.data(), rest.size(), MSG_NOSIGNAL);
        if (sent <= 0) break;
        rest = rest.subspan(static_cast<std::size_t>(sent));
      }
    }
  }

 private:
  void accept_all() {
    for (int fd = 0; (fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC)) >= 0;) {
      no_delay(fd);
      const std::lock_guard lock(mutex_);
      readers_.push_back(fd);
    }
  }

  int listener_ = -1;
  std::mutex mutex_;
  std::vector<int> readers_;
  std::thread acceptor_;
};

class reader {
 public:
  reader(node&, const std::string& topic, const settings& s) : sample_(s.size) {
    const std::string endpoint = announced(s, topic);
    if (endpoint == "unix") {
      const sockaddr_un a = unix_address(topic, s);
      fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
      check(::connect(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a));
    } else {
      const sockaddr_in a = tcp_address(static_cast<unsigned>(std::stoul(endpoint)));
      fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      check(::connect(fd_, reinterpret_cast<const sockaddr*>(&a), sizeof a));
    }
    const timeval look{0, look_ms * 1000};
    check(::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &look, sizeof look));
  }
  bool receive(int timeout_ms, const use_function& use) {
    const std::int64_t end = now_ns() + timeout_ms * std::int64_t{1'000'000};
    while (have_ < sample_.size()) {
      const ssize_t got = ::recv(fd_, sample_.data() + have_, sample_.size() - have_, 0);
      if (got == 0) throw std::runtime_error("the writer is gone");
      if (got > 0)
        have_ += static_cast<std::size_t>(got);
      else if (now_ns() >= end)
        return false;
    }
    have_ = 0;
    use(sample_);
    return true;
  }

 private:
  int fd_ = -1;
  std::vector<std::byte> sample_;
  std::size_t have_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return run<node, writer, reader>(argc, argv); }
