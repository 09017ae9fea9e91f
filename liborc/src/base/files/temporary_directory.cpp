#include "base/files/temporary_directory.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace orc::detail {

std::optional<temporary_directory> temporary_directory::make(std::string prefix) {
  prefix += "XXXXXX";
  if (::mkdtemp(prefix.data()) == nullptr) return std::nullopt;
  return temporary_directory(std::move(prefix));
}

temporary_directory::temporary_directory() {
  std::string made = "/tmp/orc.XXXXXX";
  if (::mkdtemp(made.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), "cannot make a directory in /tmp");
  path_ = std::move(made);
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace orc::detail
