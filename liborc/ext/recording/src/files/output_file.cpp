#include "files/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "files/failure.h"

namespace orc::recording::detail {
namespace {

// Space is taken in steps of this size: a call each few chunks, and little to give back after a crash.
constexpr std::uint64_t reserve_step = std::uint64_t{4} << 20;

// A link is removed itself: what it points to stays.
result remove_old(const std::string& path) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) return errno == ENOENT ? result() : system_failure("create", path, errno);
  if (!S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
    return {errc::bad_argument, path + " is not a file: a recording needs one, to write its index"};
  }
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_failure("replace", path, errno);
  return {};
}

}  // namespace

output_file::~output_file() { static_cast<void>(close()); }

result output_file::open(const std::string& path, bool overwrite) {
  path_ = path;
  if (overwrite) {
    if (auto removed = remove_old(path); !removed) return removed;
  }
  // O_EXCL follows no symbolic link.
  fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd_ < 0) {
    if (errno == EEXIST) {
      return {errc::bad_argument, path + " is there already: choose another name, or overwrite it with --force"};
    }
    return failed("create", errno);
  }
  return {};
}

void output_file::discard() {
  if (fd_ < 0) return;
  ::unlink(path_.c_str());
  static_cast<void>(close());
}

result output_file::failed(std::string_view what, int error_number) {
  full_ = full_ || error_number == ENOSPC || error_number == EDQUOT;
  return system_failure(what, path_, error_number);
}

result output_file::reserve(std::uint64_t up_to) {
  if (!can_reserve_ || up_to <= reserved_) return {};
  for (const std::uint64_t step : {reserve_step, std::uint64_t{0}}) {
    const std::uint64_t from = reserved_ > size_ ? reserved_ : size_;
    int done = 0;
    do {
      done = ::fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(up_to + step - from));
    } while (done != 0 && errno == EINTR);
    if (done == 0) {
      reserved_ = up_to + step;
      return {};
    }
    if (errno != ENOSPC && errno != EDQUOT) {
      can_reserve_ = false;  // this file system cannot
      return {};
    }
  }
  return failed("write", errno);
}

result output_file::append(std::initializer_list<std::span<const std::byte>> pieces, std::uint64_t reserve_behind) {
  std::array<iovec, 8> list{};
  std::size_t count = 0;
  std::uint64_t total = 0;
  for (const auto& piece : pieces) {
    if (piece.empty()) continue;
    list.at(count++) = {const_cast<std::byte*>(piece.data()), piece.size()};
    total += piece.size();
  }
  if (reserve_behind > 0) {
    if (auto done = reserve(size_ + total + reserve_behind); !done) return done;
  }
  const std::uint64_t before = size_;
  auto done = write_all({list.data(), count});
  if (!done) {
    size_ = before;
    // The file ends with the piece before, and the space behind it is given back.
    if (::ftruncate(fd_, static_cast<off_t>(before)) == 0) reserved_ = 0;
  }
  return done;
}

result output_file::write_all(std::span<iovec> pieces) {
  while (!pieces.empty()) {
    const ssize_t n = ::pwritev(fd_, pieces.data(), static_cast<int>(pieces.size()), static_cast<off_t>(size_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", errno);
    size_ += static_cast<std::uint64_t>(n);
    auto left = static_cast<std::size_t>(n);
    while (!pieces.empty() && left >= pieces.front().iov_len) {
      left -= pieces.front().iov_len;
      pieces = pieces.subspan(1);
    }
    if (pieces.empty()) break;
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + left;
    pieces.front().iov_len -= left;
  }
  return {};
}

result output_file::sync() {
  if (::fdatasync(fd_) != 0) return failed("write", errno);
  return {};
}

result output_file::close() {
  if (fd_ < 0) return {};
  if (reserved_ > size_) static_cast<void>(::ftruncate(fd_, static_cast<off_t>(size_)));
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0 && errno != EINTR) return failed("close", errno);
  return {};
}

}  // namespace orc::recording::detail
