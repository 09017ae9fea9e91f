// Reads MCAP files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "blocks/merged_reader.h"
#include "mcap/mcap_blocks.h"
#include "mcap/mcap_catalog.h"
#include "mcap/mcap_contents.h"

namespace orc::recording::detail {

class mcap_reader final : public merged_reader {
 public:
  explicit mcap_reader(std::unique_ptr<input_file> file) : merged_reader(std::move(file)) {}

  result open();
  result read_attachment(std::size_t index, std::vector<std::byte>& data) override;
  result check(std::vector<std::string>& problems) override;

 private:
  result load(const block& which, block_content& to) override;
  [[nodiscard]] sample sample_at(const block_content& content, const block_entry& entry) const override;
  void forget();

  std::optional<mcap_catalog> catalog_;
  std::optional<mcap_blocks> loader_;
  std::vector<attachment_place> attachment_places_;
  std::string no_summary_;  // what is broken in the summary, if something is
};

}  // namespace orc::recording::detail
