// The channels of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tools/web/foxglove/foxglove_channels.h"
#include "tools/web/memory_budget.h"
#include "tools/web/recorded/recording_source.h"

namespace orc::web {

// A topic whose type changed within the recording has a channel for each type.
class recorded_channels final : public channel_source {
 public:
  static constexpr std::size_t max_schema_bytes = std::size_t{64} << 20;  // of all types together
  static constexpr std::size_t max_channels = 20'000;
  static constexpr std::size_t max_problems = 64;

  explicit recorded_channels(recording_source& of) : of_(of) {}
  void open() override {}
  void close() noexcept override {}
  [[nodiscard]] channel_list newest() override;

 private:
  void add(const recording::channel& recorded, foxglove_channels& to, std::vector<std::string>& problems);

  recording_source& of_;
  const std::shared_ptr<memory_budget> schemas_ = std::make_shared<memory_budget>(max_schema_bytes);
  std::size_t known_ = 0;                                                // channels of the recording
  std::map<std::uint64_t, std::shared_ptr<const foxglove_type>> types_;  // by hash; null: not possible
  channel_list newest_ = {1, std::make_shared<const foxglove_channels>(), nullptr};
};

}  // namespace orc::web
