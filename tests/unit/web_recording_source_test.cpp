// Recordings that play for clients.
#include "tools/web/recorded/recording_source.h"

#include <memory>
#include <string>

#include "base/files/temporary_directory.h"
#include "support/recording_file.h"
#include "support/wait_until.h"

namespace {

using namespace orc;
using test::ms_ns;
using test::recorded_at_ns;
using test::wait_until;
using web::feed_state;
using web::open_feed;

std::unique_ptr<web::recording_source> opened(const std::string& path) {
  std::unique_ptr<web::recording_source> made;
  REQUIRE(web::recording_source::open(
      {path}, [] {}, made));
  return made;
}

std::string newest_text(const open_feed& of) {
  const auto sample = of->newest();
  return sample ? std::string(reinterpret_cast<const char*>(sample->data.data()), sample->data.size()) : "";
}

}  // namespace

TEST_CASE("web recording: a jump back hides what was recorded later", "[web]") {
  const detail::temporary_directory dir;
  const std::string path = dir.file("run.mcap");
  test::recording_file(path)
      .sample("whole", 0, "first")
      .sample("late", 500, "later")
      .sample("whole", 1000, "last")
      .sample("whole", 2000, "end")
      .close();
  const auto source = opened(path);
  const open_feed whole(*source, "whole", web::interest::samples);
  const open_feed late(*source, "late", web::interest::samples);
  CHECK(late->state().what == feed_state::kind::waiting);
  source->seek(recorded_at_ns + 1500 * ms_ns);
  REQUIRE(wait_until([&] { return newest_text(whole) == "last" && newest_text(late) == "later"; }));
  CHECK(late->state().what == feed_state::kind::up);
  source->seek(recorded_at_ns + 100 * ms_ns);
  REQUIRE(wait_until([&] { return newest_text(whole) == "first" && !late->newest(); }));
  CHECK(whole->state().what == feed_state::kind::up);
  REQUIRE(wait_until([&] { return late->state().what == feed_state::kind::waiting; }));
  source->seek(recorded_at_ns + 1500 * ms_ns);
  REQUIRE(wait_until([&] { return newest_text(late) == "later"; }));
  CHECK(late->state().what == feed_state::kind::up);
}

TEST_CASE("web recording: a damaged chunk is reported", "[web]") {
  const detail::temporary_directory dir;
  const std::string path = dir.file("run.mcap");
  test::recording_file file(path);
  for (int i = 0; i < 3; ++i) {
    file.sample("topic", i * 1000, "sample " + std::to_string(i));
    REQUIRE(file.writer().flush());
  }
  file.close();
  std::string bytes = test::file_bytes(path);
  const auto at = bytes.find("sample 1");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'S';
  test::write_file(path, bytes);
  const auto source = opened(path);
  REQUIRE(wait_until([&] { return !source->status().problem.empty(); }));
  CHECK(source->status().problem.find("run.mcap") != std::string::npos);
}
