// What the summary section of an MCAP file claims about the data section, against what is there.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "mcap/mcap_blocks.h"
#include "mcap/mcap_catalog.h"

namespace orc::recording::detail {

// What is in the data section.
struct mcap_facts {
  struct chunk {
    std::uint64_t length = 0;
    std::int64_t first = 0;  // times of its messages
    std::int64_t last = 0;
    std::string compression = {};
    std::uint64_t size = 0;  // of its records, compressed
    std::uint64_t uncompressed = 0;
    std::vector<channel_id> channels = {};                // with messages
    std::map<std::uint16_t, std::uint64_t> indexes = {};  // places of its message indexes, by number of the channel
    std::uint64_t index_length = 0;
  };
  struct attachment {
    std::uint64_t length = 0;
    std::uint64_t log_time = 0;
    std::uint64_t create_time = 0;
    std::uint64_t size = 0;
    std::string name = {};
    std::string media_type = {};
    bool operator==(const attachment&) const = default;
  };
  struct metadata {
    std::uint64_t length = 0;
    std::string name = {};
    bool operator==(const metadata&) const = default;
  };

  std::map<std::uint64_t, chunk> chunks = {};  // by offset, as the others
  std::map<std::uint64_t, attachment> attachments = {};
  std::map<std::uint64_t, metadata> metadata_records = {};
  std::vector<std::uint64_t> counts = {};  // messages, by channel
  std::uint64_t messages = 0;
  std::int64_t first = 0;  // times of all messages
  std::int64_t last = 0;

  void count(channel_id which, std::int64_t time);
};

// Takes the records of the summary section one after the other, then end(). `catalog` has the data section's channels.
class mcap_claims {
 public:
  mcap_claims(const mcap_facts& facts, const std::vector<channel>& channels, const mcap_catalog& catalog)
      : facts_(facts), channels_(channels), catalog_(catalog) {}

  void take(const record_place& found, std::span<const std::byte> content);
  // What is wrong, a sentence each.
  [[nodiscard]] const std::vector<std::string>& end();

 private:
  void note(std::string problem);
  // Finds what an index names, and notes what is wrong with that.
  template <class Fact>
  const Fact* fact_at(const std::map<std::uint64_t, Fact>& facts, std::uint64_t offset, const char* what);
  void take_chunk(byte_cursor from);
  void take_attachment(byte_cursor from);
  void take_metadata(byte_cursor from);
  void compare_statistics(const statistics_record& claimed);
  void take_group(byte_cursor from);

  const mcap_facts& facts_;
  const std::vector<channel>& channels_;
  const mcap_catalog& catalog_;
  std::vector<std::string> problems_;
  struct group {
    std::uint64_t offset = 0;
    std::uint64_t length = 0;
    std::uint64_t records = 0;
  };
  std::map<opcode, group> groups_;  // of the summary section
  std::set<std::uint64_t> places_;  // of what has an index
  std::optional<statistics_record> statistics_;
};

}  // namespace orc::recording::detail
