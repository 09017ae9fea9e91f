#include "tools/orc/bench/load_noise.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/files/unique_fd.h"
#include "tools/orc/exit_code.h"
#include "tools/support/cpu.h"

namespace orc::cli {

namespace {

constexpr std::size_t memory_bytes = 64 << 20;  // more than the caches
constexpr std::size_t block_bytes = 1 << 20;
constexpr off_t file_bytes = 128 << 20;
constexpr std::size_t datagram_bytes = 1400;

[[noreturn]] void compute() {
  volatile double value = 1;
  for (;;) value = value * 1.0000001 + 0.5;
}

// Reads and writes far apart places, so that each is a miss of the caches.
int thrash() {
  std::vector<std::uint64_t> all(memory_bytes / sizeof(std::uint64_t));
  std::uint64_t at = 1;
  for (;;) {
    at = at * 6364136223846793005ULL + 1442695040888963407ULL;
    all[(at >> 20) % all.size()] += at;
  }
}

// Over and over the same file, which has no name any more.
int write_disk() {
  std::string path = (std::filesystem::temp_directory_path() / "orc-bench-load-XXXXXX").string();
  const detail::unique_fd file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file || ::unlink(path.c_str()) != 0) return exit_code::failed;
  const std::vector<char> block(block_bytes, 'o');
  for (off_t at = 0;; at = (at + static_cast<off_t>(block_bytes)) % file_bytes) {
    if (::pwrite(file.get(), block.data(), block.size(), at) < 0 || ::fdatasync(file.get()) != 0)
      return exit_code::failed;
  }
}

// Datagrams to itself over the loopback.
int flood() {
  const detail::unique_fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  auto* const address = reinterpret_cast<sockaddr*>(&here);
  if (!socket || ::bind(socket.get(), address, size) != 0 || ::getsockname(socket.get(), address, &size) != 0)
    return exit_code::failed;
  std::array<char, datagram_bytes> datagram{};
  for (;;) {
    for (int n = 0; n < 64; ++n) (void)::sendto(socket.get(), datagram.data(), datagram.size(), 0, address, size);
    while (::recv(socket.get(), datagram.data(), datagram.size(), 0) > 0) {
    }
  }
}

int run(load what) {
  switch (what) {
    case load::cpu: compute();
    case load::memory: return thrash();
    case load::disk: return write_disk();
    case load::network: return flood();
    case load::none:
    case load::all: break;
  }
  return exit_code::usage;
}

}  // namespace

noise::noise(load what) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto start = [&](load kind) {
    processes_.push_back(
        {kind, detail::child_process::start({self, "bench", "load-noise", std::string(name_of(kind))})});
  };
  const bool all = what == load::all;
  if (all || what == load::cpu)
    for (std::size_t n = 0; n < bench::allowed_cpus().size(); ++n) start(load::cpu);
  for (const load kind : {load::memory, load::disk, load::network})
    if (all || what == kind) start(kind);
}

std::optional<load> noise::ended() noexcept {
  for (auto& each : processes_)
    if (each.child.status()) return each.kind;
  return std::nullopt;
}

void add_load_noise(CLI::App& bench_command, int& exit_code) {
  CLI::App* const command = bench_command.add_subcommand("load-noise", "A load of load")->group("");
  const auto name = std::make_shared<std::string>();
  command->add_option("kind", *name)->required();
  command->callback([name, &exit_code] {
    for (std::size_t n = 0; n < load_names.size(); ++n)
      if (*name == load_names[n]) exit_code = run(static_cast<load>(n));
  });
}

}  // namespace orc::cli
