// A line between the two ends beside the one that is measured: commands, confirmations, results.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace orc::bench {

class channel {
 public:
  channel() noexcept = default;
  explicit channel(int fd) noexcept : fd_(fd) {}
  channel(channel&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  channel& operator=(channel&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~channel() { close(); }

  static std::pair<channel, channel> make() {
    int fds[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) return {};
    return {channel(fds[0]), channel(fds[1])};
  }

  void close() noexcept {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

  template <class T>
  bool put(const T& value) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    return write_all(&value, sizeof value);
  }
  template <class T>
  bool put(const std::vector<T>& values) noexcept {
    return put(std::uint64_t{values.size()}) && write_all(values.data(), values.size() * sizeof(T));
  }

  // Nothing when the other end is gone or `timeout_ms` (-1: none) passed.
  template <class T>
  std::optional<T> get(int timeout_ms = -1) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    if (!readable(timeout_ms) || !read_all(&value, sizeof value)) return std::nullopt;
    return value;
  }
  template <class T>
  std::optional<std::vector<T>> get_list(int timeout_ms = -1) {
    const auto size = get<std::uint64_t>(timeout_ms);
    if (!size) return std::nullopt;
    std::vector<T> values(*size);
    if (!read_all(values.data(), values.size() * sizeof(T))) return std::nullopt;
    return values;
  }

  [[nodiscard]] bool readable(int timeout_ms) const noexcept {
    pollfd p{fd_, POLLIN, 0};
    return ::poll(&p, 1, timeout_ms) == 1;
  }

 private:
  bool write_all(const void* data, std::size_t size) noexcept {
    const char* at = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t n = ::send(fd_, at, size, MSG_NOSIGNAL);
      if (n <= 0) return false;
      at += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }
  bool read_all(void* data, std::size_t size) noexcept {
    char* at = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t n = ::recv(fd_, at, size, 0);
      if (n <= 0) return false;
      at += n;
      size -= static_cast<std::size_t>(n);
    }
    return true;
  }

  int fd_ = -1;
};

}  // namespace orc::bench
