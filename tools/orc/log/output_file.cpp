#include "tools/orc/log/output_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "tools/orc/text.h"

namespace orc::cli {

namespace {

// Nobody can guess it: in a directory that others may write, a link of that name could lead anywhere.
std::string temporary_name(const std::string& path) {
  const std::filesystem::path whole(path);
  std::random_device random;
  const std::string name =
      "." + whole.filename().string() + "." + std::to_string(random()) + std::to_string(random()) + ".part";
  return (whole.parent_path() / name).string();
}

result exists(const std::string& path) {
  return {errc::bad_argument, escaped(path) + " exists already: choose another name, or replace it with --force"};
}

}  // namespace

output_file::output_file(std::string path, bool force)
    : path_(std::move(path)), temporary_(temporary_name(path_)), force_(force) {}

output_file::~output_file() {
  if (!committed_) unlink(temporary_.c_str());
}

result output_file::check() const {
  struct stat there {};
  if (stat(path_.c_str(), &there) != 0) return {};
  if (!S_ISREG(there.st_mode))
    return {errc::bad_argument, escaped(path_) + " is no ordinary file: choose another name"};
  return force_ ? result() : exists(path_);
}

result output_file::commit() {
  int failed = renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), force_ ? 0 : RENAME_NOREPLACE);
  if (failed != 0 && errno == EINVAL) failed = rename(temporary_.c_str(), path_.c_str());  // a file system without it
  if (failed != 0 && errno == EEXIST) return exists(path_);
  if (failed != 0)
    return {errc::system_error, "cannot write " + escaped(path_) + ": " + std::generic_category().message(errno)};
  committed_ = true;
  return {};
}

result output_file::renamed(const result& failure) const {
  std::string text = failure.error().message();
  if (const std::size_t at = text.find(temporary_); at != std::string::npos) text.replace(at, temporary_.size(), path_);
  return {failure.code(), std::move(text)};
}

}  // namespace orc::cli
