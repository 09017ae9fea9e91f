#include "tools/orc/doctor/doctor_machine.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tools/orc/doctor/doctor.h"

namespace orc::cli {

namespace {

constexpr std::size_t longest_file = 1 << 20;

}  // namespace

std::optional<std::string> machine::text(const std::string& path) const {
  std::ifstream file(root_ + path);
  if (!file) return std::nullopt;
  std::string all;
  char byte = 0;
  while (all.size() < longest_file && file.get(byte)) all += byte;
  while (!all.empty() && std::isspace(static_cast<unsigned char>(all.back())) != 0) all.pop_back();
  return all;
}

std::optional<std::int64_t> machine::number(const std::string& path) const {
  const auto found = text(path);
  return found ? to_number(*found) : std::nullopt;
}

std::vector<std::string> machine::entries(const std::string& directory, const std::string& beginning) const {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator(root_ + directory, ignored))
    if (each.path().filename().string().starts_with(beginning)) found.push_back(each.path().filename().string());
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::int64_t> machine::to_number(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0) return std::nullopt;
  return value;
}

// Debian's grub reads this directory.
std::string boot_with(const std::string& option) {
  return "echo 'GRUB_CMDLINE_LINUX=\"$GRUB_CMDLINE_LINUX " + option + "\"' | " +
         as_root("tee -a /etc/default/grub.d/60-orc.cfg") + " && " + as_root("update-grub") + " && " +
         as_root("reboot");
}

}  // namespace orc::cli
