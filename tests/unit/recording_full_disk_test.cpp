// Recordings on a disk that is full.
#include <algorithm>

#include "support/recordings.h"
#include "support/small_disk.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

// Until the disk is full. Returns how many samples were accepted.
std::uint64_t fill(writer& to, std::size_t size) {
  channel_id which = 0;
  require_ok(to.add_channel(json_channel("pose"), which));
  for (std::uint64_t n = 0; n < 1'000'000; ++n) {
    const auto done = to.write(numbered_sample(which, n, size));
    if (done) continue;
    CHECK(done.code() == errc::system_error);
    CHECK_THAT(done.error().message(), contains("No space left on device"));
    CHECK(to.is_full());
    CHECK_FALSE(to.write(numbered_sample(which, n, size)));
    return n;
  }
  FAIL("the disk is never full");
  return 0;
}

}  // namespace

TEST_CASE("recording full disk: the file is closed properly and has all whole chunks", "[unit]") {
  const temporary_directory dir;
  if (std::string why; !mount_small(dir.path().string(), why)) return skip(why);
  const auto size = GENERATE(std::size_t{100}, std::size_t{5000}, std::size_t{70'000});
  const auto which = GENERATE(compression::none, compression::lz4);
  const auto path = dir.file(std::to_string(size) + std::to_string(static_cast<int>(which)));
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {.compression = which, .chunk_bytes = 20'000}, to));
  const auto accepted = fill(*to, size);
  CHECK_FALSE(to->close());  // says that samples were lost
  const auto from = open_recording(path);
  CHECK(from->summary().closed);
  CHECK(problems_of(*from).empty());
  const auto got = rest_of(*from);
  CHECK(got.size() == from->summary().samples);
  CHECK(got.size() <= accepted);
  // Only the open chunk is lost.
  CHECK((accepted - got.size()) * size <= std::max<std::size_t>(20'000, size));
  for (std::size_t n = 0; n < got.size(); ++n) REQUIRE(got[n].sequence == n);
  std::filesystem::remove(path);
}

TEST_CASE("recording full disk: an LCM log ends with a whole event", "[unit]") {
  const temporary_directory dir;
  if (std::string why; !mount_small(dir.path().string(), why)) return skip(why);
  const auto path = dir.file("a.lcm");
  std::unique_ptr<writer> to;
  require_ok(create_lcm_log(path, false, to));
  fill(*to, 3000);
  CHECK_FALSE(to->close());
}

TEST_CASE("recording full disk: no file is left when none can be begun", "[unit]") {
  const temporary_directory dir;
  if (std::string why; !mount_small(dir.path().string(), why)) return skip(why);
  take_all_space(dir.file("all"));
  std::unique_ptr<writer> to;
  bool full = false;
  const result made = create_mcap(dir.file("a.mcap"), {}, to, &full);
  CHECK_FALSE(made);
  CHECK_THAT(made.error().message(), contains("No space left on device"));
  CHECK(full);
  CHECK_FALSE(std::filesystem::exists(dir.file("a.mcap")));
}
