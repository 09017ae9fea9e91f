#include "support/stream_peer.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "support/fake_publication.h"
#include "support/raw_socket.h"
#include "wire/zmtp.h"

namespace orc::test {

namespace zmtp = wire::zmtp;

namespace {

using clock = std::chrono::steady_clock;

// False: not before the deadline.
bool wait_for(int fd, short events, clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()).count();
  pollfd entry{fd, events, 0};
  return ::poll(&entry, 1, left > 0 ? static_cast<int>(left) : 0) > 0;
}

template <class Address>
void connect_or_throw(int fd, const Address& to, const std::string& endpoint) {
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0)
    throw std::runtime_error("cannot connect to " + endpoint + ": " + std::strerror(errno));
}

}  // namespace

std::string zmtp_frame(const std::string& body, int flags) {
  const auto header = zmtp::encode_frame_header(body.size(), static_cast<std::uint8_t>(flags));
  return as_text(std::span(header.bytes).first(header.size)) + body;
}

std::string zmtp_introduction(const std::string& socket_type) {
  return as_text(zmtp::greeting()) + zmtp::ready_frame(socket_type);
}

std::string hello_frame(const wire::id& publication, const wire::id& subscription, std::uint64_t secret,
                        std::uint32_t depth) {
  std::string frame = link_frame(wire::link_kind::hello, publication, subscription, depth);
  std::memcpy(frame.data() + 8, &secret, sizeof secret);
  return frame;
}

stream_peer stream_peer::connected_to(const std::string& endpoint) {
  const bool is_path = endpoint.starts_with("ipc://");
  const std::string where = endpoint.substr(6);
  detail::unique_fd fd(::socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (is_path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::memcpy(to.sun_path, where.data(), where.size());
    connect_or_throw(fd.get(), to, endpoint);
  } else {
    const auto colon = where.rfind(':');
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(where.substr(colon + 1))));
    ::inet_pton(AF_INET, where.substr(0, colon).c_str(), &to.sin_addr);
    connect_or_throw(fd.get(), to, endpoint);
  }
  return stream_peer(std::move(fd));
}

bool stream_peer::say(const std::string& bytes, std::chrono::milliseconds deadline) {
  const auto end = clock::now() + deadline;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::send(fd_.get(), bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n >= 0) {
      done += static_cast<std::size_t>(n);
    } else if (errno != EAGAIN || !wait_for(fd_.get(), POLLOUT, end)) {
      return false;
    }
  }
  return true;
}

bool stream_peer::read_some() {
  char piece[64 * 1024];
  const ssize_t n = ::recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT);
  if (n > 0) unread_.append(piece, static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && errno == EAGAIN);
}

std::optional<std::string> stream_peer::hear(std::chrono::milliseconds deadline) {
  const auto end = clock::now() + deadline;
  for (;;) {
    if (!greeted_ && unread_.size() >= zmtp::greeting_bytes) {
      unread_.erase(0, zmtp::greeting_bytes);
      greeted_ = true;
    }
    const auto header =
        greeted_ ? zmtp::decode_frame_header(std::as_bytes(std::span(unread_.data(), unread_.size()))) : std::nullopt;
    if (header && unread_.size() >= header->header_size + header->size) {
      std::string body = unread_.substr(header->header_size, header->size);
      unread_.erase(0, header->header_size + header->size);
      if ((header->flags & zmtp::command) == 0) return body;
      continue;
    }
    if (!wait_for(fd_.get(), POLLIN, end) || !read_some()) return std::nullopt;
  }
}

std::optional<wire::link_message> stream_peer::hear_link_message(std::chrono::milliseconds deadline) {
  const auto end = clock::now() + deadline;
  while (clock::now() < end) {
    const auto body = hear(std::chrono::ceil<std::chrono::milliseconds>(end - clock::now()));
    if (!body) return std::nullopt;
    if (const auto message = wire::decode_link_message(std::as_bytes(std::span(body->data(), body->size()))))
      return message;
  }
  return std::nullopt;
}

int stream_peer::unsent() const {
  int bytes = 0;
  return ::ioctl(fd_.get(), SIOCOUTQ, &bytes) == 0 ? bytes : 0;
}

bool stream_peer::is_cut_off() {
  for (;;) {
    char piece[64 * 1024];
    const ssize_t n = ::recv(fd_.get(), piece, sizeof piece, MSG_DONTWAIT);
    if (n <= 0) return n == 0 || errno != EAGAIN;
  }
}

stream_peer joined_peer(const std::string& endpoint, const std::string& hello) {
  auto peer = stream_peer::connected_to(endpoint);
  const auto welcome =
      peer.say(zmtp_introduction("DEALER") + zmtp_frame(hello)) ? peer.hear_link_message() : std::nullopt;
  if (!welcome || welcome->kind != wire::link_kind::welcome) throw std::runtime_error("not welcomed at " + endpoint);
  return peer;
}

void raise_own_fd_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace orc::test
