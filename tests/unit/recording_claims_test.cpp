// The summary section of an MCAP file is compared with the data section: statistics and indexes, field by field.
#include <algorithm>
#include <cstring>
#include <string>

#include "support/recordings.h"

using namespace orc;
using namespace orc::test;
using namespace orc::recording;
using orc::detail::temporary_directory;

namespace {

// As the format numbers them.
enum class opcode : std::uint8_t {
  chunk_index = 0x08,
  attachment_index = 0x0A,
  statistics = 0x0B,
  metadata_index = 0x0D,
  summary_offset = 0x0E
};

// Two channels with 6 and 4 samples in two chunks, an attachment and a metadata record. Its summary has no checksum, so
// that a test can change it.
std::vector<std::byte> made_file() {
  const temporary_directory dir;
  const auto path = dir.file("a.mcap");
  std::unique_ptr<writer> to;
  require_ok(create_mcap(path, {}, to));
  channel_id arm = 0;
  channel_id hand = 0;
  require_ok(to->add_channel(json_channel("arm"), arm));
  require_ok(to->add_channel(json_channel("hand", "robot.Hand"), hand));
  require_ok(to->add_metadata("robot", {{"name", "arm"}}));
  for (std::uint64_t n = 0; n < 10; ++n) {
    require_ok(to->write(numbered_sample(n < 6 ? arm : hand, n, 10)));
    if (n == 4) require_ok(to->flush());
  }
  require_ok(
      to->add_attachment({"camera.yaml", "text/yaml", recording_start, recording_start}, std::vector<std::byte>(30)));
  require_ok(to->close());
  auto bytes = bytes_of_file(path);
  std::fill_n(bytes.end() - 12, 4, std::byte{});
  return bytes;
}

struct record_at {
  opcode code;
  std::size_t content;
  std::size_t size;
};

std::vector<record_at> summary_of(const std::vector<std::byte>& bytes) {
  std::uint64_t at = 0;
  std::memcpy(&at, &bytes[bytes.size() - 28], sizeof at);
  std::vector<record_at> all;
  while (at < bytes.size() - 37) {
    std::uint64_t size = 0;
    std::memcpy(&size, &bytes[at + 1], sizeof size);
    all.push_back({static_cast<opcode>(bytes[at]), at + 9, size});
    at += 9 + size;
  }
  return all;
}

}  // namespace

TEST_CASE("recording claims: each byte of statistics and indexes is compared with the data", "[unit]") {
  const auto made = made_file();
  REQUIRE(problems_of(*open_bytes(made)).empty());
  const std::vector compared = {opcode::statistics, opcode::chunk_index, opcode::attachment_index,
                                opcode::metadata_index, opcode::summary_offset};
  std::size_t kinds = 0;
  for (const auto kind : compared) {
    bool any = false;
    for (const auto& [code, content, size] : summary_of(made)) {
      if (code != kind) continue;
      any = true;
      for (std::size_t i = content; i < content + size; ++i) {
        INFO("record of kind " << static_cast<int>(code) << ", byte " << i - content << " of " << size);
        auto bytes = made;
        bytes[i] ^= std::byte{1};
        const auto from = open_bytes(bytes);
        REQUIRE(from != nullptr);
        CHECK_FALSE(problems_of(*from).empty());
      }
    }
    kinds += any ? 1 : 0;
  }
  CHECK(kinds == compared.size());
}

TEST_CASE("recording claims: wrong counts of channels are named, whatever their sum", "[unit]") {
  auto bytes = made_file();
  for (const auto& [code, content, size] : summary_of(bytes)) {
    if (code != opcode::statistics) continue;
    // The last 20 bytes: two channels with their counts.
    REQUIRE(bytes[content + size - 18] == std::byte{6});
    bytes[content + size - 18] = std::byte{7};
    bytes[content + size - 8] = std::byte{3};
  }
  CHECK(problems_of(*open_bytes(bytes)) ==
        std::vector<std::string>{"the statistics count 7 messages of channel arm, and there are 6",
                                 "the statistics count 3 messages of channel hand, and there are 4"});
}
