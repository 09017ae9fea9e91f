// The files below / in which the kernel shows what a machine is, for `orc doctor --realtime` and its tests.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace orc::cli {

class machine {
 public:
  // `root` stands for the directory /.
  explicit machine(std::string root) : root_(std::move(root)) {}

  // Without the space at its end, the first MiB. Nothing: there is no such file.
  [[nodiscard]] std::optional<std::string> text(const std::string& path) const;
  [[nodiscard]] std::optional<std::int64_t> number(const std::string& path) const;
  // Names in a directory that begin so, sorted.
  [[nodiscard]] std::vector<std::string> entries(const std::string& directory, const std::string& beginning) const;
  // Nothing: it is no number.
  [[nodiscard]] static std::optional<std::int64_t> to_number(const std::string& text);

 private:
  const std::string root_;
};

[[nodiscard]] inline bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// The commands that add an option to the kernel's command line, on Debian, and start again.
[[nodiscard]] std::string boot_with(const std::string& option);

}  // namespace orc::cli
