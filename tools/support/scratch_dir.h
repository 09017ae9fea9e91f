// A temporary directory of one measurement, for the files of ORC and libzmq (ipc endpoints).
#pragma once

#include <optional>
#include <string>

#include "base/files/temporary_directory.h"
#include "base/files/unique_fd.h"

namespace orc::bench {

// A process that is killed leaves its directory. The next one of the same user, in the same temporary directory,
// removes it: each directory has a file that its process, and the processes that it forks, keep locked.
class scratch_dir {
 public:
  // Makes it the run directory (XDG_RUNTIME_DIR) of this process and its children, so that a measurement never meets
  // the user's own broker. Call it before you start threads.
  scratch_dir();

  // Empty: the directory could not be made.
  [[nodiscard]] std::string path() const { return directory_ ? directory_->path().string() : std::string(); }
  [[nodiscard]] std::string ipc(const std::string& name) const { return "ipc://" + path() + "/" + name; }

 private:
  detail::unique_fd lock_;
  std::optional<detail::temporary_directory> directory_;  // removed while it is locked
};

}  // namespace orc::bench
