#include "tools/support/scratch_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace orc::bench {

namespace {

constexpr const char* scratch_prefix = "orc-bench-";
constexpr const char* lock_name = ".orc-bench-lock";
constexpr const char* unlocked_name = ".orc-bench-lock-new";
constexpr int max_looked_at = 100'000;  // entries of the temporary directory
constexpr int max_removed = 64;         // directories, so that a start does not take long

[[nodiscard]] detail::unique_fd open_in(const detail::unique_fd& directory, const char* name, int flags) {
  return detail::unique_fd(::openat(directory.get(), name, flags | O_CLOEXEC | O_NOFOLLOW, 0600));
}

[[nodiscard]] detail::unique_fd open_directory(const std::filesystem::path& path) {
  return detail::unique_fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
}

// The file gets its name when it is locked: whoever finds it unlocked knows that its process has ended. Without a lock,
// as on some network file systems, it never gets the name, and the directory stays.
[[nodiscard]] detail::unique_fd lock_directory(const std::filesystem::path& path) {
  const detail::unique_fd directory = open_directory(path);
  detail::unique_fd lock = open_in(directory, unlocked_name, O_RDWR | O_CREAT | O_EXCL);
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 ||
      ::renameat(directory.get(), unlocked_name, directory.get(), lock_name) != 0)
    return {};
  return lock;
}

// Only this user can have changed what is in it.
[[nodiscard]] bool is_own(const detail::unique_fd& directory) {
  struct stat found {};
  return ::fstat(directory.get(), &found) == 0 && found.st_uid == ::geteuid() && (found.st_mode & 0777) == 0700;
}

// By the descriptor, so that a directory that takes the name meanwhile keeps its files.
bool remove_if_abandoned(const std::filesystem::path& path) {
  const detail::unique_fd directory = open_directory(path);
  if (!directory || !is_own(directory)) return false;
  const detail::unique_fd lock = open_in(directory, lock_name, O_RDONLY | O_NONBLOCK);
  if (!lock || ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) return false;
  std::error_code problem;
  std::filesystem::directory_iterator each("/proc/self/fd/" + std::to_string(directory.get()), problem);
  while (!problem && each != std::filesystem::directory_iterator()) {
    if (each->path().filename() != lock_name) std::filesystem::remove_all(each->path(), problem);
    if (!problem) each.increment(problem);
  }
  // The lock's file goes last: while it is there, the next process can go on.
  return !problem && ::unlinkat(directory.get(), lock_name, 0) == 0 && ::rmdir(path.c_str()) == 0;
}

void remove_abandoned(const std::filesystem::path& in) {
  std::error_code problem;
  int looked_at = 0;
  int removed = 0;
  for (std::filesystem::directory_iterator each(in, problem), end;
       each != end && !problem && looked_at < max_looked_at && removed < max_removed;
       each.increment(problem), ++looked_at) {
    if (each->path().filename().string().starts_with(scratch_prefix) && remove_if_abandoned(each->path())) ++removed;
  }
}

[[nodiscard]] std::optional<detail::temporary_directory> make_directory() {
  const std::filesystem::path in = std::filesystem::temp_directory_path();
  remove_abandoned(in);
  return detail::temporary_directory::make((in / scratch_prefix).string());
}

}  // namespace

scratch_dir::scratch_dir() : directory_(make_directory()) {
  if (directory_) lock_ = lock_directory(directory_->path());
  ::setenv("XDG_RUNTIME_DIR", path().c_str(), 1);
  ::unsetenv("ORC_BROKER");
  ::unsetenv("ORC_TRANSPORTS");
}

}  // namespace orc::bench
