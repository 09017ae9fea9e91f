#include "tools/web/foxglove/foxglove_channels.h"

#include <algorithm>
#include <utility>

namespace orc::web {

std::shared_ptr<const foxglove_channel> find_channel(const foxglove_channels& channels, std::uint32_t id) {
  const auto at = std::lower_bound(channels.begin(), channels.end(), id,
                                   [](const auto& each, std::uint32_t wanted) { return each->id < wanted; });
  return at != channels.end() && (*at)->id == id ? *at : nullptr;
}

bool channel_registry::set(const std::string& topic, const std::shared_ptr<const foxglove_type>& type) {
  const auto at = by_topic_.find(topic);
  if (at != by_topic_.end() && at->second->type->hash == type->hash) return true;
  remove(topic);
  if (by_topic_.size() == max_channels) return false;
  auto made = std::make_shared<const foxglove_channel>(foxglove_channel{++last_id_, topic, type});
  by_id_.emplace(made->id, made);
  by_topic_.emplace(topic, std::move(made));
  changed_ = true;
  return true;
}

void channel_registry::remove(const std::string& topic) {
  const auto at = by_topic_.find(topic);
  if (at == by_topic_.end()) return;
  by_id_.erase(at->second->id);
  by_topic_.erase(at);
  changed_ = true;
}

void channel_registry::clear() {
  by_id_.clear();
  by_topic_.clear();
  changed_ = true;
}

std::shared_ptr<const foxglove_channels> channel_registry::take() {
  auto made = std::make_shared<foxglove_channels>();
  made->reserve(by_id_.size());
  for (const auto& [id, channel] : by_id_) made->push_back(channel);
  changed_ = false;
  return made;
}

}  // namespace orc::web
