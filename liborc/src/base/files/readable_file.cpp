#include "base/files/readable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orc::detail {

expected<readable_file> readable_file::open(const std::string& path) {
  unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // also a FIFO must not hold us
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0)
    return error(errc::bad_argument, "cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return error(errc::bad_argument, "cannot read " + path + ": it is no regular file");
  if (status.st_size == 0) return error(errc::bad_argument, "cannot read " + path + ": it is empty");
  return readable_file(std::move(file), static_cast<std::uint64_t>(status.st_size));
}

bool readable_file::read(std::uint64_t position, std::span<std::byte> to) const noexcept {
  if (position > size_ || to.size() > size_ - position) return false;
  if (!fd_) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(position), to.size(), to.begin());
    return true;
  }
  while (!to.empty()) {
    const ssize_t got = pread(fd_.get(), to.data(), to.size(), static_cast<off_t>(position));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    position += static_cast<std::uint64_t>(got);
    to = to.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

}  // namespace orc::detail
