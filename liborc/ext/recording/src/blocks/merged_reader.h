// Reads blocks as one stream of samples in the order of time: what the formats share. Blocks may overlap in time.
#pragma once

#include <deque>
#include <memory>
#include <queue>
#include <vector>

#include "blocks/block.h"
#include "blocks/block_cache.h"
#include "files/input_file.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {

class merged_reader : public reader {
 public:
  [[nodiscard]] const recording::summary& summary() const noexcept override { return summary_; }
  [[nodiscard]] const std::vector<channel>& channels() const noexcept override { return channels_; }
  [[nodiscard]] const std::vector<named_metadata>& metadata() const noexcept override { return metadata_; }
  [[nodiscard]] const std::vector<attachment>& attachments() const noexcept override { return attachments_; }

  void select(const std::vector<bool>& by_channel) override;
  result seek(std::int64_t received_ns) override;
  result next(sample& found) override;
  result last_before(channel_id which, std::int64_t received_ns, sample& found, std::vector<std::byte>& data) override;

 protected:
  explicit merged_reader(std::unique_ptr<input_file> file);

  // Reads a block and finds its samples, in any order. An error means that the block is broken, and says where.
  virtual result load(const block& which, block_content& to) = 0;
  // The sample whose record is there.
  [[nodiscard]] virtual sample sample_at(const block_content& content, const block_entry& entry) const = 0;

  [[nodiscard]] const input_file& file() const noexcept { return *file_; }
  // Takes the blocks when all are known; then reading can begin.
  void set_blocks(std::vector<block> blocks);

  recording::summary summary_;
  std::vector<channel> channels_;
  std::vector<named_metadata> metadata_;
  std::vector<attachment> attachments_;

 private:
  // A block that has samples to come, and the place of the next one.
  struct open_block {
    sample_place next;
    std::size_t which = 0;
    std::size_t entry = 0;
    bool operator>(const open_block& other) const noexcept { return next > other.next; }
  };

  [[nodiscard]] bool is_selected(channel_id which) const noexcept;
  [[nodiscard]] bool is_wanted(std::size_t which) const noexcept;
  result content_of(std::size_t which, std::shared_ptr<const block_content>& found);
  // Finds the first wanted entry from `entry` on and puts the block among the open ones, if there is one.
  void advance(std::size_t which, const block_content& content, std::size_t entry);
  result open_next();
  void restart();
  void index_channels();
  void add_to_index(std::size_t which, channel_id has);
  void learn_channels(std::size_t which, const block_content& content);

  std::unique_ptr<input_file> file_;
  std::vector<block> blocks_;  // by first time, then by offset
  block_cache cache_;
  std::vector<bool> selected_;  // empty: all

  sample_place from_;  // next() returns nothing before it
  std::size_t unopened_ = 0;
  std::priority_queue<open_block, std::vector<open_block>, std::greater<>> open_;
  std::shared_ptr<const block_content> held_;  // what next() returned a view of

  // For last_before(): the blocks of each channel in their order, with the latest time of it and all before.
  struct block_of_channel {
    std::size_t which = 0;
    std::int64_t last_so_far = 0;
  };
  std::deque<std::vector<block_of_channel>> of_channel_;  // references stay valid while it grows
  // A block had a channel that the index does not say of it, so the others may have some as well until they are loaded.
  bool index_lacks_ = false;
  std::vector<bool> loaded_;  // by block
};

}  // namespace orc::recording::detail
