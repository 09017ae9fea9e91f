#include "tools/web/recorded/recorded_channels.h"

#include <algorithm>
#include <utility>

namespace orc::web {

channel_list recorded_channels::newest() {
  const auto added = of_.channels_after(known_);
  if (added.empty()) return newest_;
  known_ += added.size();
  auto channels = std::make_shared<foxglove_channels>(*newest_.channels);
  auto problems = std::make_shared<std::vector<std::string>>();
  if (newest_.problems) *problems = *newest_.problems;
  for (const recording::channel& each : added) add(each, *channels, *problems);
  newest_ = {newest_.number + 1, std::move(channels), std::move(problems)};
  return newest_;
}

void recorded_channels::add(const recording::channel& recorded, foxglove_channels& to,
                            std::vector<std::string>& problems) {
  if (recorded.type.empty()) return;
  const std::uint64_t hash = hash_of(recorded.type);
  const auto is_same = [&](const auto& each) { return each->topic == recorded.topic && each->type->hash == hash; };
  if (std::any_of(to.begin(), to.end(), is_same)) return;
  const auto [at, is_new] = types_.try_emplace(hash);
  if (is_new) {
    std::string problem;
    at->second = make_foxglove_type(recorded.type, *schemas_, problem);
    if (!at->second && problems.size() < max_problems)
      problems.push_back("topic '" + recorded.topic + "' is not shown: " + problem);
  }
  if (!at->second || to.size() == max_channels) return;
  const auto id = static_cast<std::uint32_t>(to.size() + 1);
  to.push_back(std::make_shared<const foxglove_channel>(foxglove_channel{id, recorded.topic, at->second}));
}

}  // namespace orc::web
