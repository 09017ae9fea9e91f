// What a killed measurement leaves is removed by the next one.
#include "tools/support/scratch_dir.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/files/temporary_directory.h"
#include "support/as_nobody.h"
#include "support/catch.h"

using namespace orc::test;

TEST_CASE("scratch dir: what one process cannot remove, a later one can", "[unit]") {
  namespace fs = std::filesystem;
  if (::geteuid() != 0) return skip("only root can become another user");
  const orc::detail::temporary_directory scratch;
  REQUIRE(::chmod(scratch.path().c_str(), 0777) == 0);
  const std::string said = text_for_nobody([&] {
    const fs::path left = scratch.path() / "orc-bench-left";
    const fs::path stuck = left / "stuck";
    ::mkdir(left.c_str(), 0700);
    ::mkdir(stuck.c_str(), 0700);
    std::ofstream(left / ".orc-bench-lock") << "";
    std::ofstream(stuck / "file") << "mine";
    ::chmod(stuck.c_str(), 0500);
    ::setenv("TMPDIR", scratch.path().c_str(), 1);
    { const orc::bench::scratch_dir first; }
    std::string found = fs::exists(stuck / "file") ? "kept" : "removed";
    ::chmod(stuck.c_str(), 0700);
    { const orc::bench::scratch_dir second; }
    return found + (fs::exists(left) ? ", kept" : ", removed");
  });
  CHECK(said == "kept, removed");
}
