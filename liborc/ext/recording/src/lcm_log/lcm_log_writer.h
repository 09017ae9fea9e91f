// Writes LCM event logs.
#pragma once

#include <string>
#include <vector>

#include "bytes/byte_buffer.h"
#include "files/output_file.h"
#include "orc/recording/writer.h"

namespace orc::recording::detail {

class lcm_log_writer final : public writer {
 public:
  lcm_log_writer() = default;
  ~lcm_log_writer() override;
  lcm_log_writer(const lcm_log_writer&) = delete;
  lcm_log_writer& operator=(const lcm_log_writer&) = delete;

  result open(const std::string& path, bool overwrite) { return file_.open(path, overwrite); }

  result add_channel(const channel& added, channel_id& made) override;
  result write(const sample& s) override;
  result add_metadata(std::string_view, const std::map<std::string, std::string>&) override { return usable(); }
  result add_attachment(const attachment&, std::span<const std::byte>) override { return usable(); }
  result flush() override;
  result close() override;
  [[nodiscard]] bool is_full() const noexcept override { return file_.is_full(); }
  [[nodiscard]] std::uint64_t bytes() const noexcept override { return file_.size() + events_.size(); }

 private:
  [[nodiscard]] result usable() const;
  result append(std::span<const std::byte> tail);

  output_file file_;
  std::vector<std::string> names_;  // by channel
  byte_buffer events_;              // to be written
  std::int64_t first_ = 0;          // of those
  std::uint64_t number_ = 0;
  result status_;
  bool closed_ = false;
};

}  // namespace orc::recording::detail
