// A file that is there when it is complete, and not at all before.
#pragma once

#include <string>

#include "orc/result.h"

namespace orc::cli {

// Is written under another name in the same directory. commit() gives it its own; without commit() it is removed.
class output_file {
 public:
  // `force`: a file of that name is replaced.
  output_file(std::string path, bool force);
  ~output_file();
  output_file(const output_file&) = delete;
  output_file& operator=(const output_file&) = delete;

  // Call first. - bad_argument: a file of that name exists and `force` is not set, or it is no ordinary file.
  [[nodiscard]] result check() const;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Where to write: a new file, which is not there yet (O_EXCL).
  [[nodiscard]] const std::string& temporary() const noexcept { return temporary_; }
  // - bad_argument: a file of that name has come to exist. - system_error.
  result commit();
  // The failure with the file's own name in place of the temporary one.
  [[nodiscard]] result renamed(const result& failure) const;

 private:
  std::string path_;
  std::string temporary_;
  bool force_;
  bool committed_ = false;
};

}  // namespace orc::cli
