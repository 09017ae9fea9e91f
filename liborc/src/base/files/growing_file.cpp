#include "base/files/growing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace orc::detail {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most = std::size_t{1} << 38;   // of address space, which costs nothing
constexpr std::size_t least = std::size_t{1} << 28;  // with a limit of it (ulimit -v)

// What MADV_POPULATE_WRITE does, for kernels before 5.14.
void touch(std::byte* from, std::size_t size) noexcept {
  for (std::size_t at = 0; at < size; at += page) {
    auto* const each = reinterpret_cast<volatile unsigned char*>(from + at);
    *each = 0;
  }
}

void take_memory(std::byte* from, std::size_t size) noexcept {
#ifdef MADV_POPULATE_WRITE
  if (madvise(from, size, MADV_POPULATE_WRITE) == 0) return;
#endif
  touch(from, size);
}

}  // namespace

expected<std::unique_ptr<growing_file>> growing_file::create(const std::string& path) {
  std::unique_ptr<growing_file> made(new growing_file);
  made->fd_.reset(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made->fd_) {
    if (errno == EEXIST)
      return error(errc::bad_argument, path + " exists, and is not overwritten: remove it, or use %p");
    return error(errc::system_error, "cannot create " + path + ": " + std::strerror(errno));
  }
  struct stat status {};
  if (fstat(made->fd_.get(), &status) != 0) return error(errc::system_error, path + ": " + std::strerror(errno));
  made->device_ = status.st_dev;
  made->inode_ = status.st_ino;
  for (std::size_t size = most; size >= least; size /= 2) {
    void* const at = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) continue;
    made->data_ = static_cast<std::byte*>(at);
    made->reserved_ = size;
    return made;
  }
  return error(errc::no_memory, path + ": no addresses left for it; raise the limit (ulimit -v)");
}

growing_file::~growing_file() {
  if (data_ != nullptr) munmap(data_, reserved_);
}

// A program that closes all descriptors, as daemons do, may have another file under our number.
bool growing_file::is_still_ours() const noexcept {
  struct stat status {};
  return fstat(fd_.get(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

int growing_file::grow(std::size_t wanted) noexcept {
  const std::size_t size = size_.load(std::memory_order_relaxed);
  const std::size_t next = std::max(size, (wanted + page - 1) & ~(page - 1));
  if (next == size) return 0;
  if (next > reserved_) return EFBIG;
  if (!is_still_ours()) return EBADF;
  rlimit allowed{};
  if (getrlimit(RLIMIT_FSIZE, &allowed) == 0 && next > allowed.rlim_cur) return EFBIG;  // SIGXFSZ would end the program
  int failed = EINTR;
  while (failed == EINTR)
    failed = posix_fallocate(fd_.get(), static_cast<off_t>(size), static_cast<off_t>(next - size));
  if (failed != 0) return failed;
  if (mmap(data_ + size, next - size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd_.get(),
           static_cast<off_t>(size)) == MAP_FAILED)
    return errno;
  take_memory(data_ + size, next - size);
  size_.store(next, std::memory_order_release);
  return 0;
}

// The file keeps the bytes. Unmapping would be wrong: a thread may be about to look at an address there.
void growing_file::leave(std::size_t end) noexcept {
  end &= ~(page - 1);
  if (end <= left_) return;
  munlock(data_ + left_, end - left_);  // of mlockall()
  madvise(data_ + left_, end - left_, MADV_DONTNEED);
  left_ = end;
}

}  // namespace orc::detail
