#include "files/input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "files/failure.h"

namespace orc::recording::detail {
namespace {

result too_short(const input_file& file, std::uint64_t offset) {
  return broken(file.name(), "ends before byte " + std::to_string(offset));
}

class disk_file final : public input_file {
 public:
  disk_file(std::string name, std::uint64_t size, int fd) noexcept : input_file(std::move(name), size), fd_(fd) {}
  ~disk_file() override { ::close(fd_); }
  disk_file(const disk_file&) = delete;
  disk_file& operator=(const disk_file&) = delete;

  result read(std::uint64_t offset, std::span<std::byte> to) const override {
    while (!to.empty()) {
      const ssize_t n = ::pread(fd_, to.data(), to.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return system_failure("read", name(), errno);
      if (n == 0) return too_short(*this, offset + to.size());
      offset += static_cast<std::uint64_t>(n);
      to = to.subspan(static_cast<std::size_t>(n));
    }
    return {};
  }

 private:
  int fd_;
};

class memory_file final : public input_file {
 public:
  memory_file(std::string name, std::vector<std::byte> bytes)
      : input_file(std::move(name), bytes.size()), bytes_(std::move(bytes)) {}

  result read(std::uint64_t offset, std::span<std::byte> to) const override {
    if (offset > bytes_.size() || to.size() > bytes_.size() - offset) return too_short(*this, offset + to.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

result input_file::open(const std::string& path, std::unique_ptr<input_file>& made) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return system_failure("open", path, errno);
  struct stat about {};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
    ::close(fd);
    return broken(path, S_ISDIR(about.st_mode) ? "is a directory: name the recordings in it" : "is not a file");
  }
  made = std::make_unique<disk_file>(path, static_cast<std::uint64_t>(about.st_size), fd);
  return {};
}

std::unique_ptr<input_file> input_file::of_bytes(std::string name, std::vector<std::byte> bytes) {
  return std::make_unique<memory_file>(std::move(name), std::move(bytes));
}

}  // namespace orc::recording::detail
