#include "transport/shm/shared_memory.h"
#include "transport/shm/shm_layout.h"

#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef F_SEAL_FUTURE_WRITE  // Linux 5.1; the headers may be older than the kernel
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace orc::detail::shm {

namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW;
constexpr std::size_t huge_page = 2 * 1024 * 1024;

[[nodiscard]] error failed(const std::string& what) {
  const int why = errno;
  const errc code = why == EMFILE || why == ENFILE                   ? errc::no_descriptors
                    : why == EPERM || why == EACCES                  ? errc::no_permission
                    : why == ENOMEM || why == ENOSPC || why == EFBIG ? errc::no_memory
                                                                     : errc::system_error;
  return {code, what + ": " + std::strerror(why)};
}

[[nodiscard]] unique_fd make_memfd(std::size_t size, bool huge) noexcept {
  unique_fd fd(static_cast<int>(
      ::syscall(SYS_memfd_create, "orc", MFD_CLOEXEC | MFD_ALLOW_SEALING | (huge ? MFD_HUGETLB : 0u))));
  rlimit limit{};
  // Beyond the limit the kernel would not only refuse, but send SIGXFSZ.
  if (fd && ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && size > limit.rlim_cur) {
    errno = EFBIG;
    return {};
  }
  if (fd && ::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) fd.reset();
  return fd;
}

// Checks that the seals hold: a filesystem that ignores a seal would let a subscriber write.
[[nodiscard]] bool others_cannot_write(int fd, std::size_t size) noexcept {
  void* const probe = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (probe == MAP_FAILED) return errno == EPERM;
  ::munmap(probe, size);
  return false;
}

[[nodiscard]] expected<shared_memory> make(std::size_t size, others may, bool huge) {
  shared_memory made{make_memfd(size, huge), {}};
  const std::string what = "cannot make " + std::to_string(size) + " bytes of shared memory";
  if (!made.fd) return failed(what);
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, made.fd.get(), 0);
  if (at == MAP_FAILED) return failed(what);
  made.memory = mapping(at, size);
  const int seals = size_seals | F_SEAL_SEAL | (may == others::only_read ? F_SEAL_FUTURE_WRITE : 0);
  if (::fcntl(made.fd.get(), F_ADD_SEALS, seals) != 0)
    return error(errc::system_error,
                 "this system cannot share memory read-only (Linux 5.1 can): " + std::string(std::strerror(errno)));
  if (may == others::only_read && !others_cannot_write(made.fd.get(), size))
    return error(errc::system_error, "this system does not keep others from writing to sealed memory");
  return made;
}

}  // namespace

mapping::~mapping() {
  if (at_ != nullptr) ::munmap(at_, size_);
}

void mapping::trim(std::size_t size) noexcept {
  if (size >= size_ || ::munmap(bytes() + size, size_ - size) != 0) return;
  size_ = size;
  if (size == 0) at_ = nullptr;
}

expected<shared_memory> make_shared_memory(std::size_t size, others may, bool huge_pages) {
  expected<shared_memory> made = error(errc::no_memory);
  if (huge_pages) made = make((size + huge_page - 1) / huge_page * huge_page, may, true);
  if (!made) made = make((size + page_size - 1) / page_size * page_size, may, false);
  if (made && huge_pages) ::madvise(made->memory.bytes(), made->memory.size(), MADV_HUGEPAGE);
  return made;
}

result take_memory(const shared_memory& of, std::uint64_t at, std::uint64_t size, bool lock) {
  if (size == 0) return {};
  // Allocates here, so that this call fails and not the later write (SIGBUS).
  int rc = 0;
  do rc = ::fallocate(of.fd.get(), 0, static_cast<off_t>(at), static_cast<off_t>(size));
  while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EOPNOTSUPP) return failed("cannot take " + std::to_string(size) + " bytes of shared memory");
  const std::uint64_t begin = at / page_size * page_size;
  std::byte* const from = of.memory.bytes() + begin;
  const std::uint64_t bytes = std::min<std::uint64_t>(at + size, of.memory.size()) - begin;
  (void)::madvise(from, bytes, MADV_POPULATE_WRITE);  // Linux 5.14; the first write does the same
  if (lock && ::mlock(from, bytes) != 0)
    return {errc::no_permission, std::string("cannot lock memory: ") + std::strerror(errno) +
                                     "; raise the limit (ulimit -l, or CAP_IPC_LOCK)"};
  return {};
}

result can_share_memory() {
  static std::atomic<bool> works{false};
  if (works.load(std::memory_order_relaxed)) return {};
  const auto made = make_shared_memory(4096, others::only_read);
  if (made) {
    works.store(true, std::memory_order_relaxed);
    return {};
  }
  const error& why = made.error();
  const bool passing = why.code() == errc::no_descriptors || why.code() == errc::no_memory;
  return passing ? why : error(errc::system_error, why.message());
}

mapping map_read_only(int fd, std::size_t size) {
  struct stat found {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  // The last seal also keeps the publisher from removing pages, which would give us SIGBUS.
  constexpr int needed = size_seals | F_SEAL_FUTURE_WRITE;
  if (seals < 0 || (seals & needed) != needed || ::fstat(fd, &found) != 0) return {};
  if (static_cast<std::size_t>(found.st_size) < size) return {};
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? mapping() : mapping(at, size);
}

mapping map_writable(int fd, std::size_t size) {
  struct stat found {};
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(fd, &found) != 0) return {};
  if (static_cast<std::size_t>(found.st_size) < size) return {};
  void* const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return at == MAP_FAILED ? mapping() : mapping(at, size);
}

}  // namespace orc::detail::shm
