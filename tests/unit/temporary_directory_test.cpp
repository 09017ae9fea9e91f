#include "base/files/temporary_directory.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>

#include "support/catch.h"

using orc::detail::temporary_directory;

TEST_CASE("temporary directory: ours alone, and gone with what is in it", "[unit]") {
  std::filesystem::path path;
  {
    const temporary_directory directory;
    path = directory.path();
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0700);
    std::ofstream(directory.file("a")) << "b";
    CHECK(std::filesystem::exists(path / "a"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("temporary directory: moving one hands it over", "[unit]") {
  std::filesystem::path path;
  {
    auto made = temporary_directory::make("/tmp/orc-test-");
    REQUIRE(made);
    const temporary_directory other = std::move(*made);
    made.reset();
    path = other.path();
    CHECK(path.string().starts_with("/tmp/orc-test-"));
    CHECK(std::filesystem::exists(path));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("temporary directory: where there can be none, errno says why", "[unit]") {
  CHECK_FALSE(temporary_directory::make("/nonexistent/orc-"));
  CHECK(errno == ENOENT);
}
