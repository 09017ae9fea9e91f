// What recover() and check() make of recordings that disks and strangers have damaged.
#include "orc/recording/recover.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "liborc/ext/recording/src/mcap/mcap_records.h"
#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using namespace orc::recording::detail;
using orc::detail::temporary_directory;

namespace {

constexpr std::uint64_t page = 4096;

// A file on a disk with pages that it cannot read.
class failing_file final : public input_file {
 public:
  failing_file(std::vector<std::byte> bytes, std::vector<std::uint64_t> pages)
      : input_file("failing", bytes.size()), bytes_(std::move(bytes)), pages_(std::move(pages)) {}

  result read(std::uint64_t offset, std::span<std::byte> to) const override {
    const bool fails = std::ranges::any_of(pages_, [&](std::uint64_t which) {
      return !to.empty() && offset < (which + 1) * page && offset + to.size() > which * page;
    });
    if (fails) return {errc::system_error, "cannot read failing: Input/output error"};
    REQUIRE(offset + to.size() <= bytes_.size());
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }

 private:
  std::vector<std::byte> bytes_;
  std::vector<std::uint64_t> pages_;
};

std::unique_ptr<reader> open_failing(std::vector<std::byte> bytes, std::vector<std::uint64_t> pages) {
  std::unique_ptr<reader> made;
  require_ok(open_file(std::make_unique<failing_file>(std::move(bytes), std::move(pages)), made));
  return made;
}

// 500 samples of 1,000 bytes in chunks of 10; an attachment in the middle, and metadata before and behind it.
std::vector<std::byte> long_recording(std::vector<owned_sample>& samples) {
  const temporary_directory dir;
  const auto path = dir.file("long.mcap");
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {.chunk_bytes = 10'500}, to));
  channel_id which = 0;
  require_ok(to->add_channel(json_channel("arm"), which));
  require_ok(to->add_metadata("first", {{"a", "1"}}));
  for (std::uint64_t n = 0; n < 500; ++n) {
    samples.push_back(numbered_sample(which, n, 1000));
    require_ok(to->write(samples.back()));
    if (n != 250) continue;
    require_ok(to->flush());
    const std::vector<std::byte> attached(20'000, std::byte{'@'});
    require_ok(to->add_attachment({"map", "image/png", recording_start, recording_start}, attached));
    require_ok(to->add_attachment({"note", "text/plain", recording_start, recording_start}, std::vector<std::byte>(5)));
    require_ok(to->add_metadata("second", {{"b", "2"}}));
  }
  require_ok(to->close());
  return bytes_of_file(path);
}

struct outcome {
  recovered found;
  std::vector<owned_sample> samples;
  std::vector<std::string> metadata;
  std::vector<std::string> attachments;
};

outcome recover_all(reader& from) {
  const temporary_directory dir;
  const auto path = dir.file("new.mcap");
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {}, to));
  outcome made;
  require_ok(recover(from, *to, made.found));
  require_ok(to->close());
  const auto whole = open_recording(path);
  CHECK(problems_of(*whole).empty());
  made.samples = rest_of(*whole);
  for (const auto& each : whole->metadata()) made.metadata.push_back(each.name);
  for (const auto& each : whole->attachments()) made.attachments.push_back(each.name);
  CHECK(made.found.samples == made.samples.size());
  CHECK(made.found.metadata == made.metadata.size());
  CHECK(made.found.attachments == made.attachments.size());
  return made;
}

std::uint64_t place_of(const std::vector<std::byte>& bytes, std::string_view text) {
  const auto wanted = std::as_bytes(std::span(text));
  return static_cast<std::uint64_t>(std::search(bytes.begin(), bytes.end(), wanted.begin(), wanted.end()) -
                                    bytes.begin());
}

// An MCAP file of these records, without chunks and without an end.
class bare_file {
 public:
  bare_file() {
    bytes_.put_bytes(std::as_bytes(std::span(mcap_magic)));
    record(opcode::header, [](byte_buffer& to) {
      to.put_string("");
      to.put_string("test");
    });
  }
  bare_file& record(opcode code, const std::function<void(byte_buffer&)>& content) {
    const std::size_t at = begin_record(bytes_, code);
    content(bytes_);
    end_record(bytes_, at);
    return *this;
  }
  bare_file& channel(std::uint16_t id, const std::string& topic) {
    put_channel(bytes_, id, 0, {topic, {}, {}});
    return *this;
  }
  bare_file& message(std::uint16_t channel, std::uint64_t time) {
    return record(opcode::message, [&](byte_buffer& to) {
      to.put(channel);
      to.put(std::uint32_t{1});
      to.put(time);
      to.put(time);
    });
  }
  // The head of a record that claims these many bytes.
  bare_file& claim(opcode code, std::uint64_t length) {
    bytes_.put(static_cast<std::uint8_t>(code));
    bytes_.put(length);
    return *this;
  }
  byte_buffer& raw() { return bytes_; }
  [[nodiscard]] std::vector<std::byte> bytes() const { return {bytes_.bytes().begin(), bytes_.bytes().end()}; }

 private:
  byte_buffer bytes_;
};

}  // namespace

TEST_CASE("recording recover: a torn file becomes a whole one", "[unit]") {
  std::vector<owned_sample> written;
  auto bytes = long_recording(written);
  bytes.resize(bytes.size() * 3 / 4);
  const auto from = open_bytes(bytes);
  CHECK_FALSE(from->summary().closed);
  const auto made = recover_all(*from);
  REQUIRE(made.samples.size() > 300);
  CHECK(std::equal(made.samples.begin(), made.samples.end(), written.begin()));
  CHECK(made.found.topics == 1);
  CHECK(made.metadata.size() == 2);
  CHECK(made.attachments.size() == 2);
  CHECK(made.found.left_out.count == 0);
}

TEST_CASE("recording recover: goes on behind chunks that the disk cannot read, and counts them", "[unit]") {
  std::vector<owned_sample> written;
  const auto bytes = long_recording(written);
  // A page within a chunk's data. A chunk has more than two pages, so one that begins early in a page ends elsewhere.
  const std::uint64_t bad = place_of(bytes, "map") / page / 2;
  const auto made = recover_all(*open_failing(bytes, {bad}));
  CHECK(made.found.missing_samples == written.size() - made.samples.size());
  CHECK(made.found.missing_samples > 0);
  CHECK(made.found.missing_samples <= 20);
  CHECK(made.found.left_out.count >= 1);
  CHECK(made.found.left_out.sentences.front() == "cannot read failing: Input/output error");
  CHECK(made.metadata.size() == 2);
  CHECK(made.attachments.size() == 2);
  CHECK(made.samples.back() == written.back());
}

TEST_CASE("recording recover: of a file without an index, too, up to where the next record begins", "[unit]") {
  std::vector<owned_sample> written;
  auto bytes = long_recording(written);
  bytes.resize(bytes.size() - 100);
  const auto at = place_of(bytes, "map");
  // In the middle of the attachment's 20,000 bytes.
  const std::uint64_t bad = at / page + 2;
  const auto made = recover_all(*open_failing(bytes, {bad}));
  CHECK(made.samples == written);
  CHECK(made.attachments == std::vector<std::string>{"note"});
  CHECK(made.metadata.size() == 2);
  CHECK(made.found.left_out.count == 1);

  // Where the lengths are: the rest is lost, and that is said.
  const std::uint64_t head = at - record_head - 20;
  const auto torn = open_failing(bytes, {head / page});
  CHECK(torn->summary().readable_bytes <= at);
  const auto half = recover_all(*torn);
  CHECK(half.samples.size() >= 240);
  CHECK(half.samples.size() <= 251);
  REQUIRE(half.found.left_out.count >= 1);
  CHECK_THAT(half.found.left_out.sentences.back(), contains("Input/output error"));
}

TEST_CASE("recording recover: an LCM log goes on behind a page that the disk cannot read", "[unit]") {
  const temporary_directory dir;
  std::unique_ptr<writer> to;
  require_ok(create_lcm_log(dir.file("a.lcm"), false, to));
  channel_id which = 0;
  require_ok(to->add_channel(json_channel("POSE"), which));
  for (std::uint64_t n = 0; n < 1000; ++n) require_ok(to->write(numbered_sample(which, n, 300)));
  require_ok(to->close());
  for (const std::uint64_t bad : {1U, 20U, 60U}) {
    const auto made = recover_all(*open_failing(bytes_of_file(dir.file("a.lcm")), {bad}));
    INFO("page " << bad);
    CHECK(made.samples.size() >= 980);
    CHECK(made.samples.size() < 1000);
    CHECK(made.samples.back().data == numbered_sample(which, 999, 300).data);
    CHECK(made.found.left_out.count >= 1);
    CHECK(made.found.left_out.count <= 2);
  }
}

TEST_CASE("recording recover: goes on behind a topic with a name that is too long", "[unit]") {
  const std::string name(70'000, 'n');
  const auto from = open_bytes(
      bare_file().channel(1, name).channel(2, "short").message(1, 1).message(2, 2).message(1, 3).message(2, 4).bytes());
  REQUIRE(from->summary().samples == 4);
  const auto made = recover_all(*from);
  CHECK(made.samples.size() == 2);
  CHECK(made.found.topics == 1);
  CHECK(made.found.missing_samples == 2);
  CHECK(made.found.left_out.count == 1);
  CHECK(made.found.left_out.sentences.at(0).size() < 300);
}

TEST_CASE("recording recover: reports each record that it leaves out", "[unit]") {
  const auto from = open_bytes(bare_file()
                                   .channel(1, "a")
                                   .record(opcode::metadata, [](byte_buffer& to) { to.put(std::uint32_t{99}); })
                                   .record(opcode::attachment, [](byte_buffer& to) { to.put(std::uint32_t{1}); })
                                   .message(1, 1)
                                   .message(7, 2)
                                   .bytes());
  const auto made = recover_all(*from);
  CHECK(made.samples.size() == 1);
  REQUIRE(made.found.left_out.count == 3);
  CHECK_THAT(made.found.left_out.sentences[0], contains("the metadata record at byte "));
  CHECK_THAT(made.found.left_out.sentences[1], contains("the attachment at byte "));
  CHECK_THAT(made.found.left_out.sentences[2], contains("the message at byte "));
}

TEST_CASE("recording recover: ends early when it is told to", "[unit]") {
  std::vector<owned_sample> written;
  const auto from = open_bytes(long_recording(written));
  const temporary_directory dir;
  std::unique_ptr<writer> to;
  require_ok(create_mcap(dir.file("new.mcap"), {}, to));
  recovered found;
  int calls = 0;
  require_ok(recover(*from, *to, found, [&] { return ++calls > 10; }));
  CHECK(found.samples == 10);
}

TEST_CASE("recording hostile: a claimed length takes no memory", "[unit]") {
  // Sparse: the file has the bytes that its records claim.
  constexpr std::uint64_t huge = std::uint64_t{1} << 40;
  for (const auto code : {opcode::metadata, opcode::schema, opcode::channel, opcode::attachment, opcode::chunk,
                          opcode::message, opcode::message_index, opcode{0x77}}) {
    INFO("opcode " << static_cast<int>(code));
    bare_file file;
    file.channel(1, "a").message(1, 1).claim(code, huge);
    if (code == opcode::attachment) {
      file.raw().put(std::uint64_t{1});
      file.raw().put(std::uint64_t{1});
      file.raw().put_string("name");
      file.raw().put_string("type");
      file.raw().put(huge - 100);
    }
    if (code == opcode::chunk) {
      for (const std::uint64_t each : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{100}}) file.raw().put(each);
      file.raw().put(std::uint32_t{0});
      file.raw().put_string("zstd");
      file.raw().put(huge - 100);
    }
    const temporary_directory dir;
    const auto path = dir.file("sparse.mcap");
    const auto bytes = file.bytes();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    std::filesystem::resize_file(path, huge * 2);
    const auto from = open_recording(path);
    CHECK_FALSE(problems_of(*from).empty());
    const auto made = recover_all(*from);
    CHECK(made.samples.size() == 1);
    CHECK(made.attachments.empty());
  }
}
