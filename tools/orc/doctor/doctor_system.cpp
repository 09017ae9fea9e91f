// orc doctor: versions, limits of the process, clock.
#include <sys/resource.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <zmq.hpp>

#include "base/process/environment.h"
#include "orc/version.h"
#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_conversation.h"
#include "tools/orc/text.h"
#include "wire/control.h"

namespace orc::cli {

namespace {

std::string own_version() {
  return std::to_string(ORC_VERSION_MAJOR) + "." + std::to_string(ORC_VERSION_MINOR) + "." +
         std::to_string(ORC_VERSION_PATCH);
}

// A number of a file such as /proc/meminfo: what follows the name.
std::optional<std::uint64_t> number_after(const char* path, const std::string& name) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == name && file >> number) return number;
  }
  return std::nullopt;
}

// An administrator may do so without a limit.
bool may_lock_memory() {
  constexpr int cap_ipc_lock = 14;
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    if (word != "CapEff:") continue;
    std::string bits;
    file >> bits;
    return (std::strtoull(bits.c_str(), nullptr, 16) >> cap_ipc_lock & 1) != 0;
  }
  return false;
}

void check_locked_memory(const examine& add) {
  constexpr rlim_t enough = 64 * 1024 * 1024;
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return;
  finding result{severity::ok, "locked memory", "", {}};
  if (may_lock_memory() || limit.rlim_cur == RLIM_INFINITY) {
    result.found = "no limit";
  } else {
    result.found = size_text(static_cast<double>(limit.rlim_cur));
    if (limit.rlim_cur < enough) {
      result.level = severity::note;
      result.found += ": topics with shared_memory_options::lock that need more are refused";
      result.fixes = raise_limit('l', "memlock", RLIM_INFINITY, limit);
    }
  }
  add(std::move(result));
}

void check_open_files(const examine& add) {
  constexpr rlim_t usual = 1024;
  constexpr rlim_t least = 64;  // a participant has about twenty, and two or so for each topic and peer
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  finding result{severity::ok, "open files", unlimited ? "no limit" : "at most " + std::to_string(limit.rlim_cur), {}};
  if (!unlimited && limit.rlim_cur < usual) {
    result.level = limit.rlim_cur < least ? severity::fail : severity::note;
    result.found += " in a program: each topic and each peer takes some";
    result.fixes = raise_limit('n', "nofile", 4096, limit);
  }
  add(std::move(result));
}

void check_huge_pages(const examine& add) {
  const auto free = number_after("/proc/meminfo", "HugePages_Free:");
  const auto kb = number_after("/proc/meminfo", "Hugepagesize:");
  if (!free || !kb) {
    add({severity::fail, "huge pages", "this kernel has none", {}});
  } else if (*free == 0) {
    add({severity::fail, "huge pages", "none is free: shared memory takes ordinary pages",
         set_kernel_parameter("vm.nr_hugepages", "128")});
  } else {
    add({severity::ok,
         "huge pages",
         std::to_string(*free) + " free ones of " + size_text(static_cast<double>(*kb) * 1024),
         {}});
  }
}

void check_data_ports(const examine& add) {
  const auto text = detail::environment("ORC_PORTS");
  if (text.empty()) return;
  std::uint16_t port = 0;
  const auto door = listen_on_data_port(port);
  if (!door)
    add({severity::fail, "data ports", door.error().message(), {}});
  else
    add({severity::ok, "data ports", text + " (ORC_PORTS): port " + std::to_string(port) + " is free", {}});
}

}  // namespace

void check_versions(const examine& add) {
  int major = 0;
  int minor = 0;
  int patch = 0;
  zmq_version(&major, &minor, &patch);
  utsname system{};
  ::uname(&system);
  finding result{severity::ok, "versions", "", {}};
  result.found = "orc " + own_version() + ", liborc " + orc::version() + ", protocol " +
                 std::to_string(wire::protocol_version) + ", libzmq " + std::to_string(major) + "." +
                 std::to_string(minor) + "." + std::to_string(patch) + ", " + system.sysname + " " + system.release +
                 " " + system.machine;
  if (own_version() != orc::version()) {
    result.level = severity::note;
    result.found += ": the program and the library are of two builds";
  }
  int kernel_major = 0;
  int kernel_minor = 0;
  if (std::sscanf(system.release, "%d.%d", &kernel_major, &kernel_minor) == 2 &&
      (kernel_major < 5 || (kernel_major == 5 && kernel_minor < 1))) {
    result.level = severity::note;
    result.found += ": shared memory needs Linux 5.1";
  }
  add(std::move(result));
}

void check_limits(const examine& add, bool huge_pages) {
  check_locked_memory(add);
  check_open_files(add);
  check_data_ports(add);
  if (huge_pages) check_huge_pages(add);
}

void check_clock(const examine& add) {
  timex state{};  // asks, sets nothing
  const int answer = ::adjtimex(&state);
  if (answer < 0) {
    add({severity::note, "clock", "the kernel does not tell whether it is synchronised", {}});
  } else if (answer == TIME_ERROR || (state.status & STA_UNSYNC) != 0) {
    add({severity::note,
         "clock",
         "not synchronised: ages of samples from other hosts are as wrong as the clocks differ",
         {as_root("timedatectl set-ntp true")}});
  } else {
    add({severity::ok, "clock", "synchronised, by its own estimate to " + duration_text(state.esterror * 1000), {}});
  }
}

}  // namespace orc::cli
