#include "private_endpoint.h"

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace orc {
namespace {

// Leaves room in a socket path of 107 bytes for the names of the endpoints beside the broker's.
constexpr std::size_t longest_directory = 60;

std::string made_below(const char* base) {
  if (base == nullptr || base[0] != '/') return {};
  std::string path = std::string(base) + "/orc-private-XXXXXX";
  if (path.size() > longest_directory || mkdtemp(path.data()) == nullptr) return {};  // 0700
  return path;
}

}  // namespace

private_endpoint::private_endpoint() {
  for (const char* base : {static_cast<const char*>(std::getenv("XDG_RUNTIME_DIR")),
                           static_cast<const char*>(std::getenv("TMPDIR")), "/tmp"}) {
    directory_ = made_below(base);
    if (!directory_.empty()) break;
  }
  if (directory_.empty()) {
    throw std::system_error(errno, std::system_category(),
                            "no directory for a private broker could be made below $XDG_RUNTIME_DIR, $TMPDIR or /tmp");
  }
  endpoint_ = "ipc://" + directory_ + "/broker";
}

private_endpoint::~private_endpoint() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

}  // namespace orc
