// Reads LCM event logs, also damaged ones: after damage it goes on at the next event.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "blocks/merged_reader.h"
#include "files/file_window.h"
#include "lcm_log/lcm_log_format.h"

namespace orc::recording::detail {

class lcm_log_reader final : public merged_reader {
 public:
  explicit lcm_log_reader(std::unique_ptr<input_file> file) : merged_reader(std::move(file)) {}

  // Reads the heads of all events, and keeps a little of each megabyte: where it is, its times and channels.
  result open();
  result read_attachment(std::size_t index, std::vector<std::byte>& data) override;
  result check(std::vector<std::string>& problems) override;

 private:
  struct event {
    lcm_event_head_fields head;
    std::uint64_t offset = 0;
    channel_id channel = 0;
    bool is_cut = false;  // ends where the disk cannot read: alone in its block
  };

  result load(const block& which, block_content& to) override;
  [[nodiscard]] sample sample_at(const block_content& content, const block_entry& entry) const override;

  [[nodiscard]] std::optional<lcm_event_head_fields> head_at(file_window& window, std::uint64_t offset) const;
  // Whether an event begins there, or the file ends.
  [[nodiscard]] bool is_border(std::span<const std::byte> there, std::uint64_t offset) const noexcept;
  // The event there ends at a border; looks with small reads, for guesses.
  [[nodiscard]] bool is_event(std::uint64_t offset) const;
  // The next place at or after this one where an event is that ends at a border. The size of the file if there is none.
  [[nodiscard]] std::uint64_t resync(file_window& window, std::uint64_t offset) const;
  [[nodiscard]] std::optional<channel_id> channel_named(std::string_view name);
  void note_damage(std::uint64_t from, std::uint64_t to);
  void add(const event& found, std::vector<block>& blocks);

  std::unordered_map<std::string, channel_id> names_;
  std::vector<bool> in_block_;
};

}  // namespace orc::recording::detail
