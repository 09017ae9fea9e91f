#include "mcap/mcap_catalog.h"

namespace orc::recording::detail {
namespace {

// Of all schemas and channels in memory. Each channel has a copy of its schema, so a small file could ask for a lot.
constexpr std::size_t max_bytes = std::size_t{256} << 20;

}  // namespace

bool mcap_catalog::spend(std::size_t bytes) noexcept {
  if (bytes > max_bytes - bytes_) return false;
  bytes_ += bytes;
  return true;
}

std::string mcap_catalog::add(const schema_record& found) {
  if (found.id == 0) return {};  // the format says: ignore it
  const auto known = schemas_.find(found.id);
  if (known != schemas_.end()) {
    if (known->second.equals(found.name, found.encoding, found.schema)) return {};
    return "schema " + std::to_string(found.id) + " is there twice, and differs";
  }
  if (!spend(found.name.size() + found.encoding.size() + found.schema.size() + sizeof(schema))) {
    return "the schemas have more than " + std::to_string(max_bytes) + " bytes";
  }
  schemas_.emplace(found.id, schema{std::string(found.name), std::string(found.encoding), std::string(found.schema)});
  const auto [first, last] = waiting_.equal_range(found.id);
  const std::size_t size = found.name.size() + found.encoding.size() + found.schema.size();
  for (auto each = first; each != last && spend(size); ++each) {
    type_description& type = channels_[each->second].type;
    type.name = found.name;
    type.schema_encoding = found.encoding;
    type.schema = found.schema;
  }
  waiting_.erase(first, last);
  return {};
}

std::string mcap_catalog::add(const channel_record& found) {
  channel made;
  made.topic = found.topic;
  made.type.message_encoding = found.message_encoding;
  made.metadata = found.metadata;
  const auto of_it = schemas_.find(found.schema_id);
  if (found.schema_id != 0) {
    if (of_it != schemas_.end()) {
      made.type.name = of_it->second.name;
      made.type.schema_encoding = of_it->second.encoding;
      made.type.schema = of_it->second.bytes;
    }
  }
  if (const auto known = ids_.find(found.id); known != ids_.end()) {
    if (channels_[known->second] == made) return {};
    return "channel " + std::to_string(found.id) + " is there twice, and differs";
  }
  std::size_t bytes = sizeof(channel) + made.topic.size() + made.type.name.size() + made.type.schema.size() +
                      made.type.schema_encoding.size() + made.type.message_encoding.size();
  for (const auto& [key, value] : made.metadata) bytes += key.size() + value.size() + 96;  // and the map's own
  if (channels_.size() >= max_channels || !spend(bytes)) return "there are too many channels";
  const auto id = static_cast<channel_id>(channels_.size());
  if (found.schema_id != 0 && of_it == schemas_.end()) waiting_.emplace(found.schema_id, id);
  ids_.emplace(found.id, id);
  channels_.push_back(std::move(made));
  return {};
}

std::string mcap_catalog::lacks() const {
  if (waiting_.empty()) return {};
  const auto& [schema, id] = *waiting_.begin();
  return "channel '" + channels_[id].topic + "' has schema " + std::to_string(schema) + ", which is not there";
}

std::string mcap_catalog::add(const record& found) {
  if (found.code == opcode::schema) {
    schema_record made;
    return parse(found.content, made) ? add(made) : "a schema record is too short";
  }
  if (found.code == opcode::channel) {
    channel_record made;
    return parse(found.content, made) ? add(made) : "a channel record is too short";
  }
  return {};
}

bool mcap_catalog::contradicts(const record& found) const {
  if (found.code == opcode::schema) {
    schema_record made;
    if (!parse(found.content, made)) return false;
    const auto known = schemas_.find(made.id);
    return known != schemas_.end() && !known->second.equals(made.name, made.encoding, made.schema);
  }
  channel_record made;
  if (found.code != opcode::channel || !parse(found.content, made)) return false;
  const auto known = ids_.find(made.id);
  if (known == ids_.end()) return false;
  const channel& is = channels_[known->second];
  if (is.topic != made.topic || is.type.message_encoding != made.message_encoding) return true;
  const auto typed = schemas_.find(made.schema_id);
  const bool is_typed = !is.type.name.empty() || !is.type.schema.empty();
  return is_typed && typed != schemas_.end() &&
         !typed->second.equals(is.type.name, is.type.schema_encoding, is.type.schema);
}

std::optional<channel_id> mcap_catalog::find(std::uint16_t number_in_file) const noexcept {
  const auto found = ids_.find(number_in_file);
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

}  // namespace orc::recording::detail
