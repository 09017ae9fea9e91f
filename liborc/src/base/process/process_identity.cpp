#include "base/process/process_identity.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string_view>

namespace orc::detail {
namespace {

std::optional<std::string> small_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  char buffer[1024];
  ssize_t got = 0;
  do got = read(fd, buffer, sizeof buffer);
  while (got < 0 && errno == EINTR);
  close(fd);
  if (got < 0) return std::nullopt;
  return std::string(buffer, static_cast<std::size_t>(got));
}

struct stat_fields {
  char state = '?';
  std::uint64_t start_time = 0;
};

// The command name (field 2) is in parentheses and may contain anything. So count fields from the last ')'.
std::optional<stat_fields> parse_stat(std::string_view text) {
  const auto name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 3) return std::nullopt;
  text.remove_prefix(name_end + 2);
  stat_fields fields;
  fields.state = text.front();
  for (int field = 3; field < 22; ++field) {
    const auto space = text.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    text.remove_prefix(space + 1);
  }
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), fields.start_time);
  if (parsed.ec != std::errc()) return std::nullopt;
  return fields;
}

std::optional<stat_fields> read_stat(std::uint32_t pid) {
  const auto text = small_file("/proc/" + std::to_string(pid) + "/stat");
  return text ? parse_stat(*text) : std::nullopt;
}

// A main thread that called pthread_exit shows as a zombie while other threads run. A directory's link count is 2 +
// entries.
// entries.
bool has_other_threads(std::uint32_t pid) {
  struct stat task {};
  return stat(("/proc/" + std::to_string(pid) + "/task").c_str(), &task) == 0 && task.st_nlink > 3;
}

bool representable(std::uint32_t pid) {
  return pid != 0 && pid <= static_cast<std::uint32_t>(std::numeric_limits<pid_t>::max());
}

}  // namespace

std::string host_identity() {
  const auto boot = small_file("/proc/sys/kernel/random/boot_id");
  char link[64];
  const ssize_t size = readlink("/proc/self/ns/pid", link, sizeof link);  // "pid:[4026531836]"
  if (!boot || boot->size() < 36 || size <= 0) return {};
  const std::string_view space(link, static_cast<std::size_t>(size));
  const auto open_bracket = space.find('[');
  const auto close_bracket = space.find(']');
  if (open_bracket == std::string_view::npos || close_bracket == std::string_view::npos) return {};
  return boot->substr(0, 36) + ":" + std::string(space.substr(open_bracket + 1, close_bracket - open_bracket - 1));
}

std::optional<std::uint64_t> process_start_time(std::uint32_t pid) {
  const auto fields = read_stat(pid);
  return fields ? std::optional(fields->start_time) : std::nullopt;
}

process_state check_process(std::uint32_t pid, std::uint64_t start_time) {
  if (!representable(pid)) return process_state::unknown;
  if (pid_is_gone(pid)) return process_state::dead;
  const auto fields = read_stat(pid);
  if (!fields || start_time == 0) return process_state::unknown;
  if (fields->start_time != start_time) return process_state::dead;  // another process has the pid now
  const bool ended = fields->state == 'Z' || fields->state == 'X';
  return ended && !has_other_threads(pid) ? process_state::dead : process_state::alive;
}

bool pid_is_gone(std::uint32_t pid) {
  return representable(pid) && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

}  // namespace orc::detail
