// An ipc endpoint in a directory of its own, for one test's broker.
#pragma once

#include <string>

#include "base/files/temporary_directory.h"

namespace orc::test {

class private_endpoint {
 public:
  // "ipc://<directory>/broker"
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] std::string directory() const { return directory_.path().string(); }

 private:
  detail::temporary_directory directory_;
  std::string endpoint_ = "ipc://" + directory_.file("broker");
};

}  // namespace orc::test
