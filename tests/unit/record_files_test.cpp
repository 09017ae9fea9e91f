// The files of one recording: when a new one begins, what waits for its type, and what no file can hold.
#include "tools/orc/record/record_files.h"

#include <sys/mman.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "support/recordings.h"
#include "support/small_disk.h"

using namespace orc;
using namespace orc::cli;
using namespace orc::test;

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t second_ns = 1'000'000'000;

class recording_run {
 public:
  explicit recording_run(record_options options = {})
      : options_(std::move(options)),
        files_(options_, progress, [this](const std::string& text) { notes.push_back(text); }) {
    const result opened = files_.open(file(options_.format == record_format::lcm ? "run.log" : "run.mcap"));
    INFO(opened.error().message());
    REQUIRE(opened);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  record_files& operator*() { return files_; }
  record_files* operator->() { return &files_; }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(directory_.path().string()), fs::directory_iterator()));
  }

  record_progress progress;
  std::vector<std::string> notes;

 private:
  const detail::temporary_directory directory_;
  const record_options options_;
  record_files files_;
};

struct contents {
  bool closed = false;
  std::vector<recording::channel> channels;
  std::vector<recording::named_metadata> metadata;
  std::vector<owned_sample> samples;
  std::vector<std::string> problems;

  [[nodiscard]] std::vector<owned_sample> of(const std::string& topic) const {
    std::vector<owned_sample> found;
    for (const auto& each : samples)
      if (channels.at(each.channel).topic == topic) found.push_back(each);
    return found;
  }
  // The values of an entry of "orc.drops".
  [[nodiscard]] std::vector<std::string> drops(const std::string& key) const {
    std::vector<std::string> found;
    for (const auto& each : metadata)
      if (each.name == "orc.drops") found.push_back(each.entries.at(key));
    return found;
  }
};

contents read_file(const std::string& path) {
  const auto from = open_recording(path);
  contents found;
  found.samples = rest_of(*from);
  found.closed = from->summary().closed;
  found.channels = from->channels();
  found.metadata = from->metadata();
  found.problems = problems_of(*from);
  return found;
}

std::uint64_t samples_in(const std::string& path) { return open_recording(path)->summary().samples; }

std::shared_ptr<record_source> known_source(const std::string& topic) {
  auto made = std::make_shared<record_source>(topic, 1);
  recording::channel channel;
  channel.topic = topic;
  made->describe(channel, true);
  return made;
}

record_sample sample_of(const std::shared_ptr<record_source>& source, std::size_t size, record_moment when) {
  record_sample made;
  made.source = source;
  auto* const bytes = new std::byte[size]();
  made.copy = std::shared_ptr<const std::byte[]>(bytes);
  made.size = size;
  made.received = when;
  return made;
}

// Never touched, so it takes no memory.
record_sample huge_sample(const std::shared_ptr<record_source>& source, std::size_t size) {
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(at != MAP_FAILED);
  record_sample made = sample_of(source, 1, record_moment::now());
  made.copy = std::shared_ptr<const std::byte[]>(
      static_cast<const std::byte*>(at), [size](const std::byte* p) { ::munmap(const_cast<std::byte*>(p), size); });
  made.size = size;
  return made;
}

}  // namespace

TEST_CASE("record files: the wall clock does not split", "[unit]") {
  record_options options;
  options.split.time = std::chrono::seconds(10);
  recording_run run(options);
  const auto topic = known_source("topic");
  REQUIRE(run->write(sample_of(topic, 10, {1'000 * second_ns, 1 * second_ns})));
  REQUIRE(run->write(sample_of(topic, 10, {900'000 * second_ns, 2 * second_ns})));  // the clock was set forward
  REQUIRE(run->tick({900'001 * second_ns, 3 * second_ns}));
  REQUIRE(run->write(sample_of(topic, 10, {1 * second_ns, 4 * second_ns})));  // and back
  CHECK(run.files() == 1);
  REQUIRE(run->tick({9 * second_ns, 12 * second_ns}));
  CHECK(run.files() == 2);
  REQUIRE(run->close());
  CHECK(read_file(run.file("run_0000.mcap")).samples.size() == 3);
}

TEST_CASE("record files: a topic whose type is not known holds up no other one", "[unit]") {
  recording_run run;
  const auto known = known_source("known");
  const auto late = std::make_shared<record_source>("late", 2);
  const record_moment now = record_moment::now();
  REQUIRE(run->write(sample_of(late, 10, now)));
  REQUIRE(run->write(sample_of(known, 10, now)));
  REQUIRE(run->write(sample_of(late, 20, now)));
  REQUIRE(run->tick(now));
  CHECK(samples_in(run.file("run.mcap")) == 1);
  recording::channel channel;
  channel.topic = "late";
  channel.type.name = "Late";
  channel.type.schema_encoding = "jsonschema";
  channel.type.message_encoding = "json";
  channel.type.schema = "{}";
  late->describe(channel, true);
  REQUIRE(run->tick(now));
  CHECK(samples_in(run.file("run.mcap")) == 3);
  REQUIRE(run->close());
  const contents found = read_file(run.file("run.mcap"));
  CHECK(found.problems.empty());
  const auto samples = found.of("late");
  REQUIRE(samples.size() == 2);
  CHECK(samples.front().data.size() == 10);
  for (const auto& each : samples) CHECK(found.channels.at(each.channel).type == channel.type);
}

TEST_CASE("record files: a type that does not come in time is left out", "[unit]") {
  recording_run run;
  const auto silent = std::make_shared<record_source>("silent", 1);
  record_moment long_ago = record_moment::now();
  long_ago.steady_ns -= 10 * second_ns;
  REQUIRE(run->write(sample_of(silent, 10, long_ago)));
  REQUIRE(run->tick(record_moment::now()));
  CHECK(samples_in(run.file("run.mcap")) == 1);
}

TEST_CASE("record files: a sample that the format cannot hold is counted and noted, and the others go on", "[unit]") {
  recording_run run;
  const auto topic = known_source("camera");
  REQUIRE(run->write(sample_of(topic, 10, record_moment::now())));
  for (int i = 0; i < 2; ++i) REQUIRE(run->write(huge_sample(topic, (std::size_t{512} << 20) + 1)));
  REQUIRE(run->write(sample_of(topic, 10, record_moment::now())));
  REQUIRE(run->close());
  const contents found = read_file(run.file("run.mcap"));
  CHECK(found.problems.empty());
  CHECK(found.of("camera").size() == 2);
  CHECK(found.drops("topic") == std::vector<std::string>{"camera"});
  CHECK(found.drops("count") == std::vector<std::string>{"2"});
  REQUIRE(found.drops("reason").size() == 1);
  CHECK_THAT(found.drops("reason").front(), contains("536870913 bytes is too large"));
  CHECK(run.progress.refused == 2);
  REQUIRE(run.notes.size() == 1);
  CHECK_THAT(run.notes.front(), contains("loses samples of 'camera'"));
}

TEST_CASE("record files: a channel that an LCM log cannot name ends no recording", "[unit]") {
  record_options options;
  options.format = record_format::lcm;
  recording_run run(options);
  REQUIRE(run->write(sample_of(known_source(std::string(1'000, 'x')), 10, record_moment::now())));
  REQUIRE(run->write(sample_of(known_source("short"), 10, record_moment::now())));
  REQUIRE(run->close());
  CHECK(read_file(run.file("run.log")).samples.size() == 1);
  CHECK(run.progress.refused == 1);
}

TEST_CASE("record files: --max-size bounds all files, also when they split by time alone", "[unit]") {
  record_options options;
  options.split.time = std::chrono::hours(1);
  options.max_size = 100'000;
  recording_run run(options);
  const auto topic = known_source("topic");
  for (std::int64_t i = 0; i < 500; ++i)
    REQUIRE(run->write(sample_of(topic, 1'000, {i * second_ns, i * second_ns + 1})));
  REQUIRE(run->close());
  CHECK(run.files() >= 2);
  CHECK_FALSE(fs::exists(run.file("run_0000.mcap")));
  std::uintmax_t bytes = 0;
  for (const auto& each : fs::directory_iterator(fs::path(run.file("x")).parent_path())) bytes += each.file_size();
  CHECK(bytes > 50'000);
  CHECK(bytes <= 100'000);
}

TEST_CASE("record files: a disk that is full when a split begins is said to be full, and no empty file is left",
          "[unit]") {
  const detail::temporary_directory dir;
  if (std::string why; !mount_small(dir.path().string(), why)) return skip(why);
  record_options options;
  options.format = GENERATE(record_format::mcap, record_format::lcm);
  options.split.time = std::chrono::seconds(10);
  const std::string extension = options.format == record_format::lcm ? ".log" : ".mcap";
  record_progress progress;
  record_files files(options, progress, [](const std::string&) {});
  REQUIRE(files.open(dir.file("run" + extension)));
  const auto topic = known_source("topic");
  REQUIRE(files.write(sample_of(topic, 10, {1, 1})));
  REQUIRE(files.tick({2, 2}));
  take_all_space(dir.file("all"));
  result done = files.tick({11 * second_ns, 11 * second_ns});
  if (done) done = files.tick({11 * second_ns, 11 * second_ns});  // an LCM log begins with its first sample
  CHECK_FALSE(done);
  CHECK(files.is_full());
  static_cast<void>(files.close());
  CHECK(files.path() == dir.file("run_0000" + extension));
  CHECK(progress.files == 1);
  CHECK_FALSE(fs::exists(dir.file("run_0001" + extension)));
  const contents found = read_file(dir.file("run_0000" + extension));
  CHECK(found.closed);
  CHECK(found.samples.size() == 1);
}
