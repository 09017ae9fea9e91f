// A directory of the measurement's own for everything that ORC and libzmq put into files (ipc endpoints); gone
// afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "base/temporary_directory.h"

namespace orc::bench {

class scratch_dir {
 public:
  // Also the run directory (XDG_RUNTIME_DIR) of this process and those it starts: a measurement neither finds nor
  // disturbs a broker of its user. Before any thread is started.
  scratch_dir() {
    ::setenv("XDG_RUNTIME_DIR", path().c_str(), 1);
    ::unsetenv("ORC_BROKER");
    ::unsetenv("ORC_TRANSPORTS");
  }

  // Empty when it could not be made.
  [[nodiscard]] std::string path() const { return directory_ ? directory_->path().string() : std::string(); }
  [[nodiscard]] std::string ipc(const std::string& name) const { return "ipc://" + path() + "/" + name; }

 private:
  std::optional<detail::temporary_directory> directory_ =
      detail::temporary_directory::make((std::filesystem::temp_directory_path() / "orc-bench-").string());
};

}  // namespace orc::bench
