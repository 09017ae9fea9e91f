// The robot that Listing 1 controls: starts the listing (argv[1]), feeds it positions, checks that each is answered by
// control == -2 * position, ends it with a negative position and returns 0 if it left with 0.
#include <orc.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

extern char** environ;

namespace {

using clock_type = std::chrono::steady_clock;
constexpr auto patience = std::chrono::seconds(20);

// Newest wins, and control of an earlier position may still be under way: only the matching one counts.
bool controlled(orc::participant& b, double position) {
  const auto deadline = clock_type::now() + patience;
  while (clock_type::now() < deadline) {
    auto msg = b.recv_msg("robot_control", 100);
    double control = 0;
    if (!msg || msg.size() != sizeof control) continue;
    std::memcpy(&control, msg.data(), sizeof control);
    if (control == -2.0 * position) return true;
    std::fprintf(stderr, "feeder: got %g, waiting for %g\n", control, -2.0 * position);
  }
  return false;
}

bool left_with_success(pid_t child) {
  const auto deadline = clock_type::now() + patience;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (clock_type::now() > deadline) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      std::fprintf(stderr, "feeder: the listing did not end after a negative position\n");
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  std::fprintf(stderr, "feeder: the listing left with status 0x%x\n", static_cast<unsigned>(status));
  return false;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: feeder LISTING\n");
    return 2;
  }
  char* child_argv[] = {argv[1], nullptr};
  pid_t child = 0;
  if (posix_spawn(&child, argv[1], nullptr, nullptr, child_argv, environ) != 0) {
    std::perror("feeder: posix_spawn");
    return 1;
  }

  bool good = true;
  {
    orc::participant b;
    good = b.register_topic("robot_position") && b.request_topic("robot_control");
    for (int i = 1; good && i <= 100; ++i) {
      const double position = 0.5 * i;
      good = static_cast<bool>(b.send_msg("robot_position", &position, sizeof position)) && controlled(b, position);
      if (!good) std::fprintf(stderr, "feeder: position %g was not answered\n", position);
    }
    const double end = -1;
    good = static_cast<bool>(b.send_msg("robot_position", &end, sizeof end)) && good;
    good = left_with_success(child) && good;
  }
  if (good) std::printf("100 positions controlled\n");
  return good ? 0 : 1;
}
