// What a program says of a path that its user may not use.
#include "base/denied_path.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "support/catch.h"
#include "support/forked.h"
#include "support/temp_dir.h"

using namespace orc::test;

namespace {

constexpr uid_t nobody = 65534;

// What a process of the user nobody, of no other group, says.
std::string said_to_nobody(const std::string& path) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  forked child([&] {
    if (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0) return;
    const std::string text = orc::detail::why_denied(path);
    if (::write(ends[1], text.data(), text.size()) < 0) return;
  });
  ::close(ends[1]);
  std::string text;
  std::array<char, 4096> bytes{};
  for (ssize_t n = 0; (n = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    text.append(bytes.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  child.wait();
  return text;
}

}  // namespace

TEST_CASE("denied path: the text names the owner and the remedy", "[unit]") {
  if (::geteuid() != 0) return skip("only root can become another user");
  const temp_dir scratch;
  const std::string top = scratch.path().string();
  const std::string inner = top + "/inner";
  const std::string file = inner + "/broker";
  REQUIRE(::chmod(top.c_str(), 0755) == 0);
  REQUIRE(::mkdir(inner.c_str(), 0700) == 0);
  ::close(::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  std::string expected;
  SECTION("a directory that its group may enter: join the group") {
    REQUIRE(::chmod(inner.c_str(), 0750) == 0);
    expected = "Permission denied: " + inner +
               " belongs to root, group root; run 'sudo usermod -aG root nobody' and log in again";
  }
  SECTION("a directory of another user alone: take a directory of your own") {
    expected = "Permission denied: " + inner + " belongs to root, group root; set XDG_RUNTIME_DIR to ";
  }
  SECTION("a file that its group may write: join the group") {
    REQUIRE(::chmod(inner.c_str(), 0755) == 0);
    REQUIRE(::chmod(file.c_str(), 0660) == 0);
    expected = "Permission denied: " + file +
               " belongs to root, group root; run 'sudo usermod -aG root nobody' and log in again";
  }
  SECTION("a file that is not there yet: where it would be made") {
    REQUIRE(::chmod(inner.c_str(), 0755) == 0);
    REQUIRE(::unlink(file.c_str()) == 0);
    expected = "Permission denied: " + inner + " belongs to root, group root; set XDG_RUNTIME_DIR to ";
  }
  const std::string said = said_to_nobody(file);
  INFO(said);
  CHECK(said.starts_with(expected));
}

TEST_CASE("denied path: a user without a name is a number", "[unit]") {
  if (::geteuid() != 0) return skip("only root can give a directory away");
  const temp_dir scratch;
  const std::string path = scratch.path().string();
  REQUIRE(::chown(path.c_str(), 54321, 54322) == 0);
  CHECK(orc::detail::ownership_text(path) == path + " belongs to 54321, group 54322");
}
