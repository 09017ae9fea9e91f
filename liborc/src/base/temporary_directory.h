// A directory of one's own, gone with everything in it when its owner is.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

namespace orc::detail {

class temporary_directory {
 public:
  // Makes `prefix` followed by six characters, with mode 0700. Nothing, with errno: it cannot be made.
  [[nodiscard]] static std::optional<temporary_directory> make(std::string prefix);

  // The same in /tmp, with a name that is short enough for socket paths (108 bytes). Throws std::system_error.
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
