// One endpoint on which the broker listens: the guarded path of ipc or the port of tcp; and its peers.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/expected.h"
#include "base/files/unique_fd.h"
#include "broker/connections/ipc_guard.h"
#include "broker/connections/peer.h"

namespace orc {

class listener {
 public:
  // `endpoint`: ipc://PATH, tcp://ADDRESS:PORT, tcp://[ADDRESS]:PORT or tcp://INTERFACE:PORT. The address * stands for
  // all addresses of both families (of IPv4 where the kernel has no IPv6), the port * for a free one. The
  // error's message is one line to follow "cannot listen at <endpoint>: ". `group`: may use the ipc path, and its
  // directory. Does not block, looks up no names.
  [[nodiscard]] static detail::expected<listener> open(const std::string& endpoint,
                                                       std::optional<gid_t> group = std::nullopt);
  listener(listener&&) noexcept = default;
  listener& operator=(listener&& other) noexcept;
  // Refuses connections that still wait, also while a forked child holds a copy of the descriptor.
  ~listener();

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  // The bound endpoint, numeric; all addresses as *.
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  // Returns whether other hosts can connect.
  [[nodiscard]] bool remote() const noexcept { return remote_; }

  // False: programs that connect to the endpoint do not reach this one, because its socket was removed.
  [[nodiscard]] bool is_there() const noexcept { return !guard_ || guard_->holds(); }
  // Lets another one listen at the endpoint. This one stays, unreachable, until it is replaced.
  void let_go() noexcept {
    if (guard_) guard_->let_go();
  }

  // Accepts the next waiting connection, non-blocking. Without a descriptor: none waits, or errno has the reason.
  [[nodiscard]] detail::unique_fd accept() noexcept;
  // Identifies the peer of a connection accepted here.
  [[nodiscard]] peer peer_of(int connection) const;

 private:
  listener(detail::unique_fd fd, std::string endpoint) : fd_(std::move(fd)), endpoint_(std::move(endpoint)) {}
  [[nodiscard]] static detail::expected<listener> open_path(const std::string& path, std::optional<gid_t> group);
  [[nodiscard]] static detail::expected<listener> open_port(const std::string& where);

  std::optional<ipc_guard> guard_;  // outlives the socket: its files go only when nothing listens any more
  detail::unique_fd fd_;
  std::string endpoint_;
  bool remote_ = false;
};

}  // namespace orc
