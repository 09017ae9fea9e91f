// orc doctor: the commands that fix a finding.
#include <sys/resource.h>
#include <unistd.h>

#include "tools/orc/doctor/doctor.h"

namespace orc::cli {

std::string as_root(const std::string& command) { return (::geteuid() == 0 ? "" : "sudo ") + command; }

std::string shell_word(const std::string& text) {
  constexpr const char* harmless = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!text.empty() && text.find_first_not_of(harmless) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> set_kernel_parameter(const std::string& name, const std::string& value) {
  const std::string setting = name + "=" + value;
  return {as_root("sysctl -w " + setting), "echo " + setting + " | " + as_root("tee -a /etc/sysctl.d/60-orc.conf")};
}

std::vector<std::string> raise_limit(char letter, const char* name, rlim_t to, const rlimit& now) {
  const std::string value = to == RLIM_INFINITY ? "unlimited" : std::to_string(to);
  std::vector<std::string> fixes;
  if (::geteuid() == 0 || now.rlim_max >= to) fixes.push_back(std::string("ulimit -") + letter + " " + value);
  fixes.push_back("echo '* - " + std::string(name) + " " + value + "' | " +
                  as_root("tee -a /etc/security/limits.d/60-orc.conf"));
  return fixes;
}

}  // namespace orc::cli
