// What a program says of a path that its user may not use.
#include "base/files/denied_path.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/files/temporary_directory.h"
#include "support/as_nobody.h"
#include "support/catch.h"

using namespace orc::test;

TEST_CASE("denied path: the text names the owner and the remedy", "[unit]") {
  if (::geteuid() != 0) return skip("only root can become another user");
  const orc::detail::temporary_directory scratch;
  const std::string top = scratch.path().string();
  const std::string inner = top + "/inner";
  const std::string file = inner + "/broker";
  REQUIRE(::chmod(top.c_str(), 0755) == 0);
  REQUIRE(::mkdir(inner.c_str(), 0700) == 0);
  ::close(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  std::string expected;
  SECTION("a directory that its group may enter: join the group") {
    REQUIRE(::chown(inner.c_str(), 0, 54322) == 0);
    REQUIRE(::chmod(inner.c_str(), 0750) == 0);
    expected = "Permission denied: " + inner +
               " belongs to root, group 54322; run 'sudo usermod -aG 54322 nobody' and log in again";
  }
  SECTION("a group of the system gives away far more: another group, or another way") {
    REQUIRE(::chmod(inner.c_str(), 0750) == 0);
    expected = "Permission denied: " + inner +
               " belongs to root, group root; start the broker there with 'orc-broker --group'";
  }
  SECTION("a directory of another user alone: take a directory of your own") {
    expected = "Permission denied: " + inner + " belongs to root, group root; set XDG_RUNTIME_DIR to ";
  }
  SECTION("a file that its group may write: join the group") {
    REQUIRE(::chmod(inner.c_str(), 0755) == 0);
    REQUIRE(::chown(file.c_str(), 0, 54322) == 0);
    REQUIRE(::chmod(file.c_str(), 0660) == 0);
    expected = "Permission denied: " + file +
               " belongs to root, group 54322; run 'sudo usermod -aG 54322 nobody' and log in again";
  }
  SECTION("a file that is not there yet: where it would be made") {
    REQUIRE(::chmod(inner.c_str(), 0755) == 0);
    REQUIRE(::unlink(file.c_str()) == 0);
    expected = "Permission denied: " + inner + " belongs to root, group root; set XDG_RUNTIME_DIR to ";
  }
  const std::string said = text_for_nobody([&] { return orc::detail::why_denied(file); });
  INFO(said);
  CHECK(said.starts_with(expected));
}

TEST_CASE("denied path: a user without a name is a number", "[unit]") {
  if (::geteuid() != 0) return skip("only root can give a directory away");
  const orc::detail::temporary_directory scratch;
  const std::string path = scratch.path().string();
  REQUIRE(::chown(path.c_str(), 54321, 54322) == 0);
  CHECK(orc::detail::ownership_text(path) == path + " belongs to 54321, group 54322");
}
