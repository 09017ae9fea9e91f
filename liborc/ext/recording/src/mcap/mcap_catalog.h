// The schemas and channels of an MCAP file: its numbers, which any writer chose, and ours.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mcap/mcap_records.h"
#include "orc/recording/sample.h"

namespace orc::recording::detail {

class mcap_catalog {
 public:
  // Appends to these channels.
  explicit mcap_catalog(std::vector<channel>& channels) : channels_(channels) {}

  // Adds what is not known yet. Returns why the record is wrong, or "". A record of a known number must be equal; the
  // first one counts.
  std::string add(const schema_record& found);  // also gives channels before it their type
  std::string add(const channel_record& found);
  // Adds the record if it is a schema or a channel.
  std::string add(const record& found);
  // Whether a schema or channel of this number is known that has another topic or type. Samples behind such a record
  // belong to neither for sure.
  [[nodiscard]] bool contradicts(const record& found) const;
  [[nodiscard]] std::optional<channel_id> find(std::uint16_t number_in_file) const noexcept;
  // Of a channel whose schema has not come: what is wrong; "": each has come.
  [[nodiscard]] std::string lacks() const;
  [[nodiscard]] std::size_t schemas() const noexcept { return schemas_.size(); }

 private:
  struct schema {
    std::string name;
    std::string encoding;
    std::string bytes;

    [[nodiscard]] bool equals(std::string_view other_name, std::string_view other_encoding,
                              std::string_view other_bytes) const noexcept {
      return name == other_name && encoding == other_encoding && bytes == other_bytes;
    }
  };
  [[nodiscard]] bool spend(std::size_t bytes) noexcept;

  std::vector<channel>& channels_;
  std::unordered_map<std::uint16_t, schema> schemas_;
  std::unordered_map<std::uint16_t, channel_id> ids_;
  std::multimap<std::uint16_t, channel_id> waiting_;  // channels by the number of the schema that has not come
  std::size_t bytes_ = 0;
};

}  // namespace orc::recording::detail
