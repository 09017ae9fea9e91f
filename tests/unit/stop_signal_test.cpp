#include "base/process/stop_signal.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "support/budget.h"
#include "support/catch.h"

using namespace std::chrono_literals;
using orc::detail::child_process;
using orc::detail::stop_signal;
using orc::detail::unique_fd;
using orc::test::patience;

TEST_CASE("stop signal: closing goes on whatever comes, and a later Ctrl-C ends the process", "[unit]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const unique_fd ready(ends[0]);
  const unique_fd say(ends[1]);
  const bool gone = GENERATE(false, true);  // its object, while the program still closes
  auto program = child_process::run([&] {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGHUP, SIG_DFL);
    {
      const stop_signal stop;
      (void)!::write(say.get(), "x", 1);
      (void)stop.wait_until(stop_signal::clock::time_point::max());
      while (!gone) ::pause();
    }
    for (;;) ::pause();
    return 0;
  });
  char byte = 0;
  REQUIRE(::read(ready.get(), &byte, 1) == 1);
  const auto first = stop_signal::clock::now();
  while (!program.wait(1ms) && stop_signal::clock::now() - first < patience)
    for (const int number : {SIGTERM, SIGHUP, SIGINT}) program.send_signal(number);
  REQUIRE(program.status());
  CHECK(WIFSIGNALED(*program.status()));
  CHECK(WTERMSIG(*program.status()) == SIGINT);
  CHECK(stop_signal::clock::now() - first >= stop_signal::patience);
}
