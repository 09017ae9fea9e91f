// An ipc endpoint that no other program uses, for tests, benchmarks and demos.
#pragma once

#include <string>

namespace orc {

class private_endpoint {
 public:
  // Makes a directory of mode 0700 in $XDG_RUNTIME_DIR, $TMPDIR or /tmp. Throws std::system_error when none is
  // writable.
  private_endpoint();
  private_endpoint(const private_endpoint&) = delete;
  private_endpoint& operator=(const private_endpoint&) = delete;
  ~private_endpoint();  // removes the directory and its contents

  // "ipc://<directory>/broker"
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] const std::string& directory() const noexcept { return directory_; }

 private:
  std::string directory_;
  std::string endpoint_;
};

}  // namespace orc
