// A directory of the benchmark's own for everything that ORC and libzmq put into files (ipc endpoints); gone
// afterwards.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace orc::bench {

class scratch_dir {
 public:
  // Also the run directory (XDG_RUNTIME_DIR) of this process and those it starts: a benchmark neither finds nor
  // disturbs a broker of its user. Before any thread is started.
  scratch_dir() {
    std::string name = (std::filesystem::temp_directory_path() / "orc-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
    ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
    ::unsetenv("ORC_BROKER");
    ::unsetenv("ORC_TRANSPORTS");
  }
  ~scratch_dir() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  scratch_dir(const scratch_dir&) = delete;
  scratch_dir& operator=(const scratch_dir&) = delete;

  // Empty when it could not be made.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::string ipc(const std::string& name) const { return "ipc://" + path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace orc::bench
