// A temporary directory. The destructor removes it with everything in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace orc::detail {

class temporary_directory {
 public:
  // Makes a directory named `prefix` and six characters, with mode 0700. Nothing (with errno): it cannot be made.
  [[nodiscard]] static std::optional<temporary_directory> make(std::string prefix);

  // Makes one in /tmp, with a name short enough for socket paths (108 bytes). Throws std::system_error.
  temporary_directory();
  temporary_directory(temporary_directory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  temporary_directory& operator=(temporary_directory&&) = delete;
  ~temporary_directory();

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  explicit temporary_directory(std::string&& made) : path_(std::move(made)) {}

  std::filesystem::path path_;  // empty: moved from
};

}  // namespace orc::detail
