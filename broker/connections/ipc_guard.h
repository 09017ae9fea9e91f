// The right to serve one ipc path. A broker must remove what a killed one left at the path before it binds, or it would
// silently take the path from a process that serves it. So a broker first holds an flock on "<path>.lock". The kernel
// releases the lock however the broker ends.
#pragma once

#include <string>
#include <utility>

#include "base/expected.h"

namespace orc {

class ipc_guard {
 public:
  // Makes the directory (0700) when it is missing, takes the lock, and makes sure that no other program answers at
  // `path`. The error's message has the finding and the fix, to follow "cannot listen at ipc://…: ". Does not block.
  [[nodiscard]] static detail::expected<ipc_guard> take(const std::string& path);

  // Call it after the bind: gives the socket mode 0660 where the directory is open to a group, else 0600.
  [[nodiscard]] result set_mode() const;

  ipc_guard(ipc_guard&& other) noexcept : path_(std::exchange(other.path_, {})), fd_(std::exchange(other.fd_, -1)) {}
  ipc_guard& operator=(ipc_guard&&) = delete;
  ~ipc_guard();  // removes the socket and the lock file

 private:
  ipc_guard(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
};

}  // namespace orc
