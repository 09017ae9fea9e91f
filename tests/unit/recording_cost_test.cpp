// What recordings ask of the disk.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

std::atomic<int> waits_for_disk{0};

// Counts what is read of the bytes of a file.
class counted_file final : public recording::detail::input_file {
 public:
  counted_file(std::vector<std::byte> bytes, std::uint64_t& count)
      : input_file("counted", bytes.size()), whole_(input_file::of_bytes("counted", std::move(bytes))), count_(count) {}
  result read(std::uint64_t offset, std::span<std::byte> to) const override {
    count_ += to.size();
    return whole_->read(offset, to);
  }

 private:
  std::unique_ptr<input_file> whole_;
  std::uint64_t& count_;
};

}  // namespace

// In place of the C library's, in this program.
extern "C" int fdatasync(int fd) {
  ++waits_for_disk;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}

TEST_CASE("recording cost: many metadata records wait for the disk once", "[unit]") {
  const temporary_directory dir;
  std::unique_ptr<writer> to;
  require_ok(create_mcap(dir.file("a.mcap"), {.sync = true}, to));
  require_ok(to->flush());
  waits_for_disk = 0;
  for (int i = 0; i < 100; ++i) require_ok(to->add_metadata("orc.drops", {{"count", "1"}}));
  require_ok(to->flush());
  CHECK(waits_for_disk == 1);
  require_ok(to->flush());
  CHECK(waits_for_disk == 1);
  channel_id which = 0;
  require_ok(to->add_channel(json_channel("pose"), which));
  require_ok(to->write(numbered_sample(which, 0, 100)));
  require_ok(to->flush());
  CHECK(waits_for_disk == 2);
}

TEST_CASE("recording cost: opening a file with many metadata records reads these alone", "[unit]") {
  const temporary_directory dir;
  std::unique_ptr<writer> to;
  require_ok(create_mcap(dir.file("a.mcap"), {}, to));
  channel_id which = 0;
  require_ok(to->add_channel(json_channel("pose"), which));
  for (std::uint64_t i = 0; i < 50; ++i) {
    require_ok(to->add_metadata("orc.drops", {{"count", "1"}}));
    require_ok(to->write(numbered_sample(which, i, 100'000)));
  }
  require_ok(to->close());
  std::uint64_t count = 0;
  std::unique_ptr<reader> from;
  require_ok(
      recording::detail::open_file(std::make_unique<counted_file>(bytes_of_file(dir.file("a.mcap")), count), from));
  CHECK(from->metadata().size() == 50);
  CHECK(count < 1'000'000);
}
