// Recordings that end anywhere, and whose bits are flipped.
#include <algorithm>
#include <random>

#include "support/budget.h"
#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

struct made_file {
  std::vector<std::byte> bytes;
  std::vector<owned_sample> samples;
  // The sizes of the file after each chunk, and how many samples it had then.
  std::vector<std::pair<std::uint64_t, std::size_t>> whole;
};

made_file make(std::size_t samples, compression which, std::size_t per_chunk) {
  const temporary_directory dir;
  const auto path = dir.file("a");
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {.compression = which}, to));
  made_file made;
  made.whole.emplace_back(to->bytes(), 0);
  channel_id channels[3] = {};
  for (int i = 0; i < 3; ++i) {
    require_ok(to->add_channel(json_channel("topic" + std::to_string(i), "type" + std::to_string(i)), channels[i]));
  }
  for (std::size_t n = 0; n < samples; ++n) {
    made.samples.push_back(numbered_sample(channels[n % 3], n, n % 40));
    require_ok(to->write(made.samples.back()));
    if ((n + 1) % per_chunk == 0) {
      require_ok(to->flush());
      made.whole.emplace_back(to->bytes(), n + 1);
    }
  }
  require_ok(to->close());
  made.bytes = bytes_of_file(path);
  return made;
}

// All whole chunks are read, and nothing that was not written. The message indexes behind a chunk may be missing.
void check_cut(const made_file& made, std::size_t length, bool check_all = true) {
  INFO("cut after " << length << " of " << made.bytes.size() << " bytes");
  const auto from = open_bytes({made.bytes.begin(), made.bytes.begin() + static_cast<long>(length)});
  if (length < 8) {
    REQUIRE(from == nullptr);
    return;
  }
  REQUIRE(from != nullptr);
  const auto got = rest_of(*from);
  std::size_t least = 0;
  for (const auto& [size, count] : made.whole) {
    if (size <= length) least = count;
  }
  REQUIRE(got.size() >= least);
  REQUIRE(got.size() <= made.samples.size());
  REQUIRE(std::equal(got.begin(), got.end(), made.samples.begin()));
  REQUIRE(from->summary().samples == got.size());
  REQUIRE(from->summary().readable_bytes <= length);
  REQUIRE(from->summary().closed == (length == made.bytes.size()));
  if (check_all) REQUIRE(problems_of(*from).empty() == from->summary().closed);
}

}  // namespace

TEST_CASE("recording torn: a file that ends anywhere is readable up to its last whole chunk", "[unit]") {
  const auto which = GENERATE(compression::none, compression::lz4, compression::zstd);
  const auto made = make(30, which, 5);
  for (std::size_t length = 0; length <= made.bytes.size(); ++length) check_cut(made, length);
}

TEST_CASE("recording torn: 10,000 random lengths of a larger file", "[unit]") {
  const auto made = make(600, compression::none, 25);
  std::mt19937 random(15);
  std::uniform_int_distribution<std::size_t> lengths(0, made.bytes.size());
  for (std::size_t i = 0; i < rounds(10'000, 10'000); ++i) check_cut(made, lengths(random), i % 20 == 0);
}

TEST_CASE("recording torn: next() goes on behind a chunk with a flipped bit", "[unit]") {
  const auto which = GENERATE(compression::none, compression::lz4, compression::zstd);
  const auto made = make(60, which, 10);
  // Where the third chunk's data is: not in its head, and not in its message indexes.
  const std::size_t start = made.whole[2].first;
  for (std::size_t at = start + 70; at < start + 170; at += 3) {
    INFO("bit of byte " << at);
    auto bytes = made.bytes;
    bytes[at] ^= std::byte{0x10};
    for (const bool with_summary : {true, false}) {
      if (!with_summary) bytes.resize(bytes.size() - 1);
      const auto from = open_bytes(bytes);
      REQUIRE(from != nullptr);
      std::size_t broken = 0;
      const auto got = rest_of(*from, &broken);
      CHECK(broken == 1);
      auto expected = made.samples;
      expected.erase(expected.begin() + 20, expected.begin() + 30);
      CHECK(got == expected);
      CHECK_FALSE(problems_of(*from).empty());
      // What was latched before is found all the same.
      sample s;
      std::vector<std::byte> kept;
      require_ok(from->last_before(0, made.samples[29].received_ns, s, kept));
      CHECK(owned(s) == made.samples[18]);
    }
  }
}

TEST_CASE("recording torn: every flipped bit is harmless, and found where a checksum or a claim covers it", "[unit]") {
  const auto made = make(20, compression::none, 5);
  std::size_t silent = 0;
  for (std::size_t at = 0; at < made.bytes.size(); ++at) {
    auto bytes = made.bytes;
    bytes[at] ^= std::byte{0x04};
    const auto from = open_bytes(bytes);
    if (from == nullptr) {
      REQUIRE(at < 8);
      continue;
    }
    std::size_t broken = 0;
    const auto got = rest_of(*from, &broken);
    // Nothing is invented: each sample that is returned was written.
    for (const auto& s : got) REQUIRE(std::find(made.samples.begin(), made.samples.end(), s) != made.samples.end());
    if (problems_of(*from).empty()) ++silent;
  }
  // The header record, the offsets and lengths in the summary's own index, and data_end have no second copy.
  CHECK(silent < made.bytes.size() / 10);
}
