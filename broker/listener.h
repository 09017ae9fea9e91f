// One endpoint that the broker listens at: the guarded path of ipc, the port of tcp, and who connects there.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "core/unique_fd.h"
#include "ipc_guard.h"
#include "peer.h"

namespace orc {

class listener {
 public:
  // ipc://PATH, tcp://ADDRESS:PORT, tcp://[ADDRESS]:PORT or tcp://INTERFACE:PORT; the address * is any of both families
  // (of IPv4 only where the kernel has no IPv6), the port * a free one. The listener, or one line to follow "cannot
  // listen at <endpoint>: ". Does not block, looks up no names.
  [[nodiscard]] static std::variant<listener, std::string> open(const std::string& endpoint);
  listener(listener&&) noexcept = default;
  listener& operator=(listener&&) = delete;
  // Those who still wait are refused, also while a forked child holds a copy of the descriptor.
  ~listener();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // As it was bound, in numbers; any address as *.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // Can other hosts connect?
  [[nodiscard]] bool remote() const noexcept { return remote_; }

  // The next connection that waits, non-blocking. Without a descriptor: none waits, or errno says what is missing.
  [[nodiscard]] detail::unique_fd accept() noexcept;
  // Who is at the other end of a connection accepted here.
  [[nodiscard]] peer peer_of(int connection) const;

 private:
  listener(detail::unique_fd fd, std::string endpoint) : fd_(std::move(fd)), endpoint_(std::move(endpoint)) {}
  [[nodiscard]] static std::variant<listener, std::string> open_path(const std::string& path);
  [[nodiscard]] static std::variant<listener, std::string> open_port(const std::string& where);

  std::optional<ipc_guard> guard_;  // outlives the socket: its files go only when nothing listens any more
  detail::unique_fd fd_;
  std::string endpoint_;
  bool remote_ = false;
};

}  // namespace orc
