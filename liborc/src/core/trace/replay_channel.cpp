#include "core/trace/replay_channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace orc::detail {

namespace {

[[nodiscard]] bool send_all(int socket, const void* data, std::size_t size) noexcept {
  const auto* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = ::send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

replay_channel::~replay_channel() {
  if (counters_ != nullptr) munmap(counters_, sizeof *counters_);
}

result replay_channel::open(const std::string& control) {
  int socket = -1;
  int memory = -1;
  char pace[16] = {};
  if (std::sscanf(control.c_str(), "%d,%d,%15s", &socket, &memory, pace) != 3)
    return {errc::bad_argument, "ORC_REPLAY is for `orc replay`, which starts the program"};
  struct stat status {};
  if (fstat(socket, &status) != 0 || !S_ISSOCK(status.st_mode))
    return {errc::bad_argument,
            "this process has not the descriptors of `orc replay`: it can replay the program that it starts, or what "
            "that program becomes by exec"};
  void* const at = mmap(nullptr, sizeof *counters_, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) return {errc::bad_argument, "cannot map the counters of `orc replay`"};
  counters_ = static_cast<wire::replay_counters*>(at);
  fcntl(socket, F_SETFD, FD_CLOEXEC);
  fcntl(memory, F_SETFD, FD_CLOEXEC);
  socket_.reset(socket);
  pace_ = std::strcmp(pace, "original") == 0 ? wire::replay_pace::original : wire::replay_pace::fast;
  const std::string pid = std::to_string(getpid());
  if (say(wire::replay_says::hello, 0, std::as_bytes(std::span(pid))) != wire::replay_answer::go)
    return {errc::refused, "another process of this program replays the trace already: a trace is of one process"};
  return {};
}

wire::replay_answer replay_channel::say(wire::replay_says kind, std::uint64_t position,
                                        std::span<const std::byte> bytes) noexcept {
  const wire::replay_word word{kind, 0, position, bytes.size()};
  if (!send_all(socket_.get(), &word, sizeof word) || !send_all(socket_.get(), bytes.data(), bytes.size()))
    return wire::replay_answer::stop;
  if (kind != wire::replay_says::hello && kind != wire::replay_says::differs) return wire::replay_answer::stop;
  wire::replay_answer answer{};
  for (;;) {
    const ssize_t got = recv(socket_.get(), &answer, sizeof answer, 0);
    if (got < 0 && errno == EINTR) continue;
    return got == 1 ? answer : wire::replay_answer::stop;
  }
}

}  // namespace orc::detail
