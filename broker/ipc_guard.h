// The right to serve one ipc path. What a killed broker left at a path has to be removed before the bind, which would
// silently take the path from a process that serves it; so a broker holds an flock on "<path>.lock" first. The kernel
// gives the lock back however the broker dies.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace orc {

class ipc_guard {
 public:
  // Makes the directory (0700) when it is missing, takes the lock, and makes sure that nothing else answers at `path`.
  // The guard, or what was found and what to do, to follow "cannot listen at ipc://…: ". Does not block.
  [[nodiscard]] static std::variant<ipc_guard, std::string> take(const std::string& path);

  // To be called after the bind: the socket gets mode 0660 where the directory is open to a group, else 0600.
  // An empty string or what went wrong.
  [[nodiscard]] std::string set_mode() const;

  ipc_guard(ipc_guard&& other) noexcept : path_(std::exchange(other.path_, {})), fd_(std::exchange(other.fd_, -1)) {}
  ipc_guard& operator=(ipc_guard&&) = delete;
  ~ipc_guard();  // removes the socket and the lock file

 private:
  ipc_guard(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
};

}  // namespace orc
