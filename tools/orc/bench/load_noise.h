// What keeps the machine busy while `orc bench load` measures: processes that end with this one, also when it is
// killed, and leave nothing behind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/process/child_process.h"
#include "tools/command_line/cli_fwd.h"

namespace orc::cli {

enum class load : std::uint8_t { none, cpu, memory, disk, network, all };
inline constexpr std::array load_names{"none", "cpu", "memory", "disk", "network", "all"};
[[nodiscard]] inline std::string_view name_of(load what) noexcept { return load_names[static_cast<std::size_t>(what)]; }

class noise {
 public:
  // Starts the processes: one that computes for each core, one for each other kind. Throws std::system_error.
  explicit noise(load what);
  // One that has ended, which none does by itself; nothing: they all run.
  [[nodiscard]] std::optional<load> ended() noexcept;

 private:
  struct process {
    load kind;
    detail::child_process child;
  };
  std::vector<process> processes_;
};

// The processes themselves, a hidden subcommand.
void add_load_noise(CLI::App& bench_command, int& exit_code);

}  // namespace orc::cli
