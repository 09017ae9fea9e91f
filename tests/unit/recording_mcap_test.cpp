// MCAP files, written and read again.
#include <algorithm>
#include <map>

#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

std::unique_ptr<writer> new_mcap(const std::string& path, const mcap_options& options) {
  std::unique_ptr<writer> made;
  require_ok(create_mcap(path, options, made));
  return made;
}

channel_id add(writer& to, const channel& added) {
  channel_id made = 0;
  require_ok(to.add_channel(added, made));
  return made;
}

const std::vector<std::byte> attached(3000, std::byte{42});

// Samples of every kind: empty, small, on the border to large, larger than a chunk; typed and untyped.
std::vector<owned_sample> write_all_kinds(const std::string& path, const mcap_options& options) {
  std::vector<owned_sample> written;
  auto to = new_mcap(path, options);
  const auto pose = add(*to, json_channel("pose"));
  require_ok(to->add_metadata("robot", {{"name", "arm"}, {"site", ""}}));
  const auto raw = add(*to, {"raw", {}, {}});
  const std::size_t sizes[] = {0, 1, 100, 65'535, 65'536, 1000, 300'000, 7};
  for (std::uint64_t n = 0; n < 64; ++n) {
    written.push_back(numbered_sample(n % 3 == 0 ? raw : pose, n, sizes[n % std::size(sizes)]));
    require_ok(to->write(written.back()));
    if (n == 30)
      require_ok(to->add_attachment({"camera.yaml", "text/yaml", recording_start, recording_start}, attached));
    if (n == 40) require_ok(to->flush());
  }
  add(*to, json_channel("silent"));
  require_ok(to->close());
  return written;
}

}  // namespace

TEST_CASE("recording mcap: what is written is read, with each option", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  const auto which = GENERATE(compression::none, compression::lz4, compression::zstd);
  const auto chunk_bytes = GENERATE(std::size_t{1}, std::size_t{5000}, std::size_t{1} << 20);
  const bool sync = GENERATE(false, true);
  const auto written = write_all_kinds(path, {.compression = which, .chunk_bytes = chunk_bytes, .sync = sync});

  const auto from = open_recording(path);
  const auto& about = from->summary();
  CHECK(about.format == "mcap");
  CHECK(about.library == std::string("orc ") + version());
  CHECK(about.closed);
  CHECK(about.samples == 64);
  CHECK(about.samples_of == std::vector<std::uint64_t>{42, 22, 0});
  CHECK(about.first_ns == recording_start);
  CHECK(about.last_ns == recording_start + 63'000'000);
  CHECK(about.bytes == about.readable_bytes);
  REQUIRE(from->channels().size() == 3);
  CHECK(from->channels()[0] == json_channel("pose"));
  CHECK(from->channels()[1] == channel{"raw", {}, {}});
  CHECK(from->channels()[2] == json_channel("silent"));
  CHECK(rest_of(*from) == written);
  REQUIRE(from->metadata().size() == 1);
  CHECK(from->metadata()[0].entries == std::map<std::string, std::string>{{"name", "arm"}, {"site", ""}});
  REQUIRE(from->attachments().size() == 1);
  CHECK(from->attachments()[0].name == "camera.yaml");
  CHECK(from->attachments()[0].size == attached.size());
  std::vector<std::byte> data;
  require_ok(from->read_attachment(0, data));
  CHECK(data == attached);
  CHECK(from->read_attachment(1, data).code() == errc::bad_argument);
  CHECK(problems_of(*from).empty());
}

TEST_CASE("recording mcap: seek, select and last_before", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  const auto written = write_all_kinds(path, {.chunk_bytes = 3000});
  const auto from = open_recording(path);
  for (const int n : {63, 0, 17, 40, 1}) {
    require_ok(from->seek(recording_start + n * 1'000'000));
    CHECK(rest_of(*from) == std::vector<owned_sample>(written.begin() + n, written.end()));
    require_ok(from->seek(recording_start + n * 1'000'000 - 999'999));
    sample s;
    require_ok(from->next(s));
    CHECK(owned(s) == written[static_cast<std::size_t>(n)]);

    std::vector<std::byte> kept;
    for (const channel_id which : {channel_id{0}, channel_id{1}}) {
      int newest = n;
      while (newest >= 0 && written[static_cast<std::size_t>(newest)].channel != which) --newest;
      const auto got = from->last_before(which, recording_start + n * 1'000'000 + 5, s, kept);
      if (newest < 0) {
        CHECK(got.code() == errc::nothing_new);
      } else {
        require_ok(got);
        CHECK(owned(s) == written[static_cast<std::size_t>(newest)]);
      }
    }
    CHECK(from->last_before(2, INT64_MAX, s, kept).code() == errc::nothing_new);
    // Neither call moved next().
    if (n < 63) {
      require_ok(from->next(s));
      CHECK(owned(s) == written[static_cast<std::size_t>(n) + 1]);
    }
  }
  require_ok(from->seek(recording_start + 63'000'001));
  CHECK(rest_of(*from).empty());

  from->select({false, true});
  require_ok(from->seek(0));
  std::vector<owned_sample> of_raw;
  std::copy_if(written.begin(), written.end(), std::back_inserter(of_raw),
               [](const auto& s) { return s.channel == 1; });
  CHECK(rest_of(*from) == of_raw);
  from->select({});
  require_ok(from->seek(recording_start + 60'000'000));
  sample s;
  require_ok(from->next(s));
  from->select({true, false});  // goes on from here
  const auto rest = rest_of(*from);
  REQUIRE(rest.size() == 2);
  CHECK(rest[0] == written[61]);
}

TEST_CASE("recording mcap: samples out of order, and chunks that overlap, are read in the order of time", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  auto to = new_mcap(path, {.chunk_bytes = 700, .chunk_ns = INT64_MAX});
  const auto which = add(*to, json_channel("pose"));
  std::vector<owned_sample> written;
  for (std::uint64_t n = 0; n < 200; ++n) {
    written.push_back(numbered_sample(which, (n * 77) % 200, 50));
    if (n % 10 == 0) written.back().received_ns = recording_start;  // equal times keep the order of the file
    require_ok(to->write(written.back()));
  }
  require_ok(to->close());
  std::stable_sort(written.begin(), written.end(),
                   [](const auto& a, const auto& b) { return a.received_ns < b.received_ns; });
  const auto from = open_recording(path);
  REQUIRE(from->summary().chunks > 10);
  CHECK(rest_of(*from) == written);
  CHECK(problems_of(*from).empty());
}

TEST_CASE("recording mcap: a chunk ends after chunk_bytes and after chunk_ns", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  auto to = new_mcap(path, {.chunk_bytes = 10'000, .chunk_ns = 50'000'000});
  const auto which = add(*to, json_channel("pose"));
  for (std::uint64_t n = 0; n < 100; ++n) require_ok(to->write(numbered_sample(which, n, 10)));
  require_ok(to->close());
  CHECK(open_recording(path)->summary().chunks == 2);  // 50 ms each
}

TEST_CASE("recording mcap: what a writer refuses", "[unit]") {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  auto to = new_mcap(path, {});
  std::unique_ptr<writer> other;
  const auto there = create_mcap(path, {}, other);
  CHECK(there.code() == errc::bad_argument);
  CHECK_THAT(there.error().message(), contains("--force"));
  CHECK(to->write(numbered_sample(0, 0, 1)).code() == errc::bad_argument);
  require_ok(to->close());
  CHECK(to->close().code() == errc::closed);
  CHECK(to->flush().code() == errc::closed);
  CHECK(create_mcap(dir.file("no/a.mcap"), {}, other).code() == errc::system_error);
  CHECK(create_mcap("/dev/null", {.overwrite = true}, other).code() == errc::bad_argument);
  require_ok(create_mcap(path, {.overwrite = true}, other));
}
