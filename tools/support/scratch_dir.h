// A temporary directory of one measurement, for the files of ORC and libzmq (ipc endpoints).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/temporary_directory.h"

namespace orc::bench {

class scratch_dir {
 public:
  // Makes it the run directory (XDG_RUNTIME_DIR) of this process and its children, so that a measurement never meets
  // the user's own broker. Call it before you start threads.
  scratch_dir() {
    ::setenv("XDG_RUNTIME_DIR", path().c_str(), 1);
    ::unsetenv("ORC_BROKER");
    ::unsetenv("ORC_TRANSPORTS");
  }

  // Empty: the directory could not be made.
  [[nodiscard]] std::string path() const { return directory_ ? directory_->path().string() : std::string(); }
  [[nodiscard]] std::string ipc(const std::string& name) const { return "ipc://" + path() + "/" + name; }

 private:
  std::optional<detail::temporary_directory> directory_ =
      detail::temporary_directory::make((std::filesystem::temp_directory_path() / "orc-bench-").string());
};

}  // namespace orc::bench
