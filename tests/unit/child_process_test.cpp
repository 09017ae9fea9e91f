#include "base/process/child_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/files/unique_fd.h"
#include "support/budget.h"
#include "support/catch.h"

using orc::detail::child_process;
using orc::detail::unique_fd;
using orc::test::patience;

TEST_CASE("child process: what its body returns is its exit code", "[unit]") {
  auto child = child_process::run([] { return 3; });
  const auto status = child.wait(patience);
  REQUIRE(status);
  CHECK(WIFEXITED(*status));
  CHECK(WEXITSTATUS(*status) == 3);
  CHECK(child.status() == status);
  CHECK_FALSE(child.send_signal(SIGTERM));
}

TEST_CASE("child process: a program gets its variables and streams", "[unit]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const unique_fd out(ends[0]);
  unique_fd in(ends[1]);
  auto child =
      child_process::start({"sh", "-c", "printf %s \"$ORC_TEST_WORD\""}, {"ORC_TEST_WORD=heard"}, {-1, in.get(), -1});
  in.reset();
  CHECK(child.wait(patience) == 0);
  char said[16] = {};
  CHECK(::read(out.get(), said, sizeof said) == 5);
  CHECK(std::string(said) == "heard");
}

TEST_CASE("child process: a program that is not there ends with 127", "[unit]") {
  auto child = child_process::start({"/nonexistent/program"});
  const auto status = child.wait(patience);
  REQUIRE(status);
  CHECK(WEXITSTATUS(*status) == 127);
}

TEST_CASE("child process: frozen it stays, killed it is reaped", "[unit]") {
  auto child = child_process::start({"sleep", "1000"});
  const pid_t pid = child.pid();
  REQUIRE(child.freeze());
  CHECK_FALSE(child.status());
  child.kill();
  REQUIRE(child.status());
  CHECK(WTERMSIG(*child.status()) == SIGKILL);
  CHECK(::kill(pid, 0) != 0);
}

TEST_CASE("child process: it ends with its owner, which may be another one by then", "[unit]") {
  pid_t pid = -1;
  {
    child_process owner;
    {
      auto child = child_process::start({"sleep", "1000"});
      pid = child.pid();
      owner = std::move(child);
    }
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) != 0);
}
