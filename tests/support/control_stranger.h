// A connection to a broker that speaks ZMTP byte by byte, as no library would: for peers that do not behave.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/files/unique_fd.h"
#include "support/raw_socket.h"
#include "support/wait_until.h"
#include "wire/zmtp.h"

namespace orc::test {

class control_stranger {
 public:
  // `from`: the tcp address that it comes from, of this host.
  explicit control_stranger(const std::string& endpoint, const std::string& from = "127.0.0.1")
      : fd_(endpoint.starts_with("ipc://") ? by_path(endpoint.substr(6)) : by_port(endpoint, from)) {}

  [[nodiscard]] int fd() const { return fd_.get(); }

  // False: the broker has ended the connection, or takes no more for now.
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const auto n = ::send(fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n < 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // As a DEALER does it, but with an Identity of its choice. True once the broker has introduced itself as well.
  bool introduce(std::string_view identity = {}) const {
    const std::string metadata = property("Socket-Type", "DEALER") + property("Identity", identity);
    std::string ready(2, '\0');
    return write(as_text(wire::zmtp::greeting()) + frame("\5READY" + metadata, wire::zmtp::command)) &&
           read(std::string(wire::zmtp::greeting_bytes, '\0')) && read(ready) &&
           read(std::string(static_cast<unsigned char>(ready[1]), '\0'));
  }
  bool send(std::string_view message, std::uint8_t flags = 0) const { return write(frame(message, flags)); }

  // Has the broker ended it? What it sends is left unread.
  [[nodiscard]] bool ended() const {
    pollfd entry{fd(), POLLRDHUP, 0};
    return ::poll(&entry, 1, 0) == 1;
  }

  [[nodiscard]] static std::string frame(std::string_view body, std::uint8_t flags = 0) {
    const auto header = wire::zmtp::encode_frame_header(body.size(), flags);
    return std::string(reinterpret_cast<const char*>(header.bytes.data()), header.size) + std::string(body);
  }

 private:
  // Fills `bytes`. False: the broker has ended the connection, or says nothing.
  bool read(std::string&& bytes) const { return read(bytes); }
  bool read(std::string& bytes) const {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto n = readable(fd(), patience_ms) ? ::recv(fd(), bytes.data() + done, bytes.size() - done, 0) : 0;
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return true;
  }
  static std::string property(std::string_view name, std::string_view value) {
    return static_cast<char>(name.size()) + std::string(name) + std::string(3, '\0') + static_cast<char>(value.size()) +
           std::string(value);
  }
  template <class Address>
  static detail::unique_fd connected(int family, const Address& to, const sockaddr_in* from = nullptr) {
    detail::unique_fd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if ((from != nullptr && ::bind(fd.get(), reinterpret_cast<const sockaddr*>(from), sizeof *from) != 0) ||
        ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
      throw std::runtime_error(std::string("cannot connect: ") + std::strerror(errno));
    }
    return fd;
  }
  static detail::unique_fd by_path(const std::string& path) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    std::copy(path.begin(), path.end(), to.sun_path);
    return connected(AF_UNIX, to);
  }
  static detail::unique_fd by_port(const std::string& endpoint, const std::string& from) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(endpoint.substr(endpoint.rfind(':') + 1))));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    ::inet_pton(AF_INET, from.c_str(), &own.sin_addr);
    return connected(AF_INET, to, &own);
  }

  detail::unique_fd fd_;
};

}  // namespace orc::test
