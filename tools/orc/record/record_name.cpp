#include "tools/orc/record/record_name.h"

#include <ctime>
#include <filesystem>

#include "tools/orc/record/record_files.h"

namespace orc::cli {

std::string recording_name(const record_options& options) {
  const char* const extension = options.format == record_format::lcm ? ".log" : ".mcap";
  if (!options.output.empty()) {
    const std::filesystem::path path(options.output);
    return path.has_extension() ? options.output : options.output + extension;
  }
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  char text[64];
  std::strftime(text, sizeof text, "orc_%Y-%m-%d_%H-%M-%S", &local);
  return std::string(text) + extension;
}

std::string free_name(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return path;
  const std::string extension = std::filesystem::path(path).extension().string();
  const std::string base = path.substr(0, path.size() - extension.size());
  for (unsigned i = 1;; ++i) {
    std::string name = split_name(base, i, extension);
    if (!std::filesystem::exists(name, ignored)) return name;
  }
}

}  // namespace orc::cli
