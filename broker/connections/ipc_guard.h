// The right to serve one ipc path. A broker must remove what a killed one left at the path before it binds, or it would
// silently take the path from a process that serves it. So a broker first holds an flock on "<path>.lock". The kernel
// releases the lock however the broker ends.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/expected.h"

namespace orc {

class ipc_guard {
 public:
  // Makes the directory (0700) when it is missing, takes the lock, and makes sure that no other program answers at
  // `path`. In a directory of this user, a file of another user at either name makes room. With `group`, opens the
  // directory to that group: mode 3770, so that no member removes or replaces what is another's. The error's message
  // has the finding and the fix, to follow "cannot listen at ipc://…: ". Does not block.
  [[nodiscard]] static detail::expected<ipc_guard> take(const std::string& path, std::optional<gid_t> group);

  // Call it after the bind: gives the socket mode 0660 where the directory is open to a group, else 0600.
  [[nodiscard]] result set_mode();
  // Whether `path` is still the socket of set_mode(): another user or a cleaner may have removed it.
  [[nodiscard]] bool holds() const noexcept;
  // As the destructor does.
  void let_go() noexcept;

  ipc_guard(ipc_guard&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        fd_(std::exchange(other.fd_, -1)),
        device_(other.device_),
        inode_(other.inode_) {}
  ipc_guard& operator=(ipc_guard&&) = delete;
  ~ipc_guard() { let_go(); }  // removes the socket and the lock file, if they are still its own

 private:
  ipc_guard(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  std::string path_;
  int fd_ = -1;
  dev_t device_ = 0;  // of the socket's file
  ino_t inode_ = 0;
};

}  // namespace orc
