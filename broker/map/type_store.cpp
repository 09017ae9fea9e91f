#include "broker/map/type_store.h"

#include <iterator>
#include <tuple>
#include <utility>

#include "base/text/printable.h"

namespace orc {
namespace {

wire::error refused(std::string text) { return {wire::error_code::bad_request, std::move(text)}; }

std::string hex(std::uint64_t hash) { return "0x" + wire::id{hash, 0}.hex().substr(0, 16); }

std::string named(const wire::type_reference& type) {
  return type.name.empty() ? "an unnamed type" : "type \"" + type.name + "\"";
}

wire::error wrong_hash(const wire::type_reference& type, std::uint64_t computed) {
  return refused("the hash of " + named(type) + " is " + hex(computed) + ", not " + hex(type.hash) +
                 ": schemas/PROTOCOL.md, \"Types\", says how to compute it");
}

}  // namespace

bool type_store::by_hash::operator()(const wire::type_reference& a, const wire::type_reference& b) const noexcept {
  const auto key = [](const wire::type_reference& of) {
    return std::tie(of.hash, of.schema_size, of.name, of.schema_encoding, of.message_encoding);
  };
  return key(a) < key(b);
}

std::size_t type_store::bytes_of(const wire::type_reference& type, bool with_schema) noexcept {
  return bytes_per_type + type.name.size() + type.schema_encoding.size() + type.message_encoding.size() +
         (with_schema ? type.schema_size : 0);
}

type_store::done type_store::check(const wire::type_reference& type) {
  for (const std::string* const text : {&type.name, &type.schema_encoding, &type.message_encoding}) {
    const auto shown = detail::escaped(*text, detail::backslashes::kept);
    if (shown != *text)
      return refused("a name or encoding of a type has characters that cannot be printed: \"" + shown + "\"");
  }
  if (type.schema_size != 0) return wire::ack{};
  detail::type_hasher hash(type.name, type.schema_encoding, type.message_encoding, 0);
  const auto computed = hash.finish();
  if (computed != type.hash) return wrong_hash(type, computed);
  return wire::ack{};
}

type_store::cost type_store::cost_of(const wire::type_reference& type, const user& by) const {
  const auto known = types_.find(type);
  if (known == types_.end()) return {bytes_of(type, false), bytes_of(type, false)};
  const auto& [reference, kept] = *known;
  return {0, kept.uses_.contains(by.by_) ? 0 : bytes_of(reference, kept.complete_)};
}

detail::expected<const type_store::entry*, wire::error> type_store::claim(const wire::type_reference& type, user& by) {
  const auto known = by.types_.find(type.hash);
  if (known != by.types_.end() && known->second.type->reference() != type) {
    return refused("this participant has another type with the hash " + hex(type.hash) + ": " +
                   named(known->second.type->reference()));
  }
  if (type.schema_size == 0 && !types_.contains(type) && complete_.contains(type.hash))
    return refused("another type has the hash " + hex(type.hash));
  const auto made = types_.try_emplace(type);
  const table::iterator at = made.first;
  const bool first = made.second;
  entry& kept = at->second;
  bool first_of_client = false;
  try {
    if (first && type.schema_size == 0) {
      complete_.emplace(type.hash, &kept);
      kept.complete_ = true;
    }
    const auto [of_client, added] = kept.uses_.try_emplace(by.by_, 0);
    first_of_client = added;
    auto& mine = by.types_[type.hash];  // the last allocation
    mine.type = &kept;
    ++mine.count;
    ++of_client->second;
  } catch (...) {
    if (first_of_client) kept.uses_.erase(by.by_);
    if (first && kept.complete_) complete_.erase(type.hash);
    if (first) types_.erase(at);
    throw;
  }
  kept.reference_ = &at->first;
  const std::size_t size = bytes_of(at->first, kept.complete_);
  if (first) bytes_ += size;
  if (first_of_client) by.by_->description_bytes += size;
  return &kept;
}

void type_store::release(const entry& type, user& by) noexcept {
  const auto mine = by.types_.find(type.reference().hash);
  if (--mine->second.count == 0) {
    if (by.running_ && (*by.running_)->type == &type) drop_upload(by);
    by.types_.erase(mine);
  }
  const auto at = types_.find(type.reference());
  auto& kept = at->second;
  const std::size_t size = bytes_of(at->first, kept.complete_);
  const auto of_client = kept.uses_.find(by.by_);
  if (--of_client->second > 0) return;
  kept.uses_.erase(of_client);
  by.by_->description_bytes -= size;
  if (!kept.uses_.empty()) return;
  bytes_ -= size;
  if (kept.complete_) complete_.erase(at->first.hash);
  types_.erase(at);
}

std::optional<type_store::done> type_store::look_at(const wire::schema_part& part, user& by) {
  const auto mine = by.types_.find(part.hash);
  if (mine == by.types_.end())
    return refused("no topic of this participant has this type: its hash is " + hex(part.hash));
  const entry& type = *mine->second.type;
  const bool begins = part.offset == 0;
  if (by.running_ && (*by.running_)->type->complete()) drop_upload(by);
  if (type.complete()) {
    if (begins) drop_upload(by);
    return wire::ack{};
  }
  const bool goes_on = !begins && by.running_ && (*by.running_)->type == &type;
  const std::size_t expected = goes_on ? (*by.running_)->bytes.size() : std::size_t{0};
  const auto of_type = " of the schema of " + named(type.reference());
  if (part.offset != expected) {
    return refused("a part" + of_type + " begins at byte " + std::to_string(part.offset) +
                   ", the next one is at byte " + std::to_string(expected));
  }
  if (part.bytes.empty()) return refused("an empty part" + of_type);
  if (expected + part.bytes.size() > type.reference().schema_size) {
    return refused("a part" + of_type + " ends at byte " + std::to_string(expected + part.bytes.size()) +
                   ", the schema has " + std::to_string(type.reference().schema_size) + " bytes");
  }
  if (begins) drop_upload(by);
  return std::nullopt;
}

type_store::done type_store::add(const wire::schema_part& part, user& by, time now) {
  if (!by.running_) {
    const entry* const type = by.types_.at(part.hash).type;
    const auto& [name, schema_encoding, message_encoding, hash, schema_size] = type->reference();
    uploads_.push_back({&by, type, {}, {name, schema_encoding, message_encoding, schema_size}, now});
    by.running_ = std::prev(uploads_.end());
  }
  auto& running = **by.running_;
  running.bytes += part.bytes;
  running.hash.add(part.bytes);
  running.progress = now;
  uploads_.splice(uploads_.end(), uploads_, *by.running_);
  bytes_ += part.bytes.size();
  by.by_->description_bytes += part.bytes.size();
  if (running.bytes.size() < running.type->reference().schema_size) return wire::ack{};
  try {
    auto result = complete(running);
    drop_upload(by);
    return result;
  } catch (...) {
    drop_upload(by);
    throw;
  }
}

type_store::done type_store::complete(user::upload& finished) {
  const auto& reference = finished.type->reference();
  const auto computed = finished.hash.finish();
  if (computed != reference.hash) return wrong_hash(reference, computed);
  std::string schema = finished.bytes;  // without the room that a growing string keeps
  if (!complete_.try_emplace(reference.hash, finished.type).second)
    return refused("another type has the hash " + hex(reference.hash));
  auto& kept = types_.find(reference)->second;
  kept.schema_ = std::move(schema);
  kept.complete_ = true;
  bytes_ += reference.schema_size;
  for (const auto& [client, uses] : kept.uses_) client->description_bytes += reference.schema_size;
  return wire::ack{};
}

void type_store::drop_upload(user& by) noexcept {
  if (!by.running_) return;
  const std::size_t size = (*by.running_)->bytes.size();
  bytes_ -= size;
  by.by_->description_bytes -= size;
  uploads_.erase(*by.running_);
  by.running_.reset();
}

void type_store::drop_stalled(time now, std::size_t most) noexcept {
  for (; most > 0 && !uploads_.empty() && uploads_.front().progress + patience_ <= now; --most)
    drop_upload(*uploads_.front().by);
}

detail::expected<wire::schema_part, wire::error> type_store::read(const wire::get_schema& what) const {
  const auto known = complete_.find(what.hash);
  if (known == complete_.end()) {
    return wire::error{wire::error_code::unknown_schema, "the broker has no schema of the type " + hex(what.hash)};
  }
  const auto& schema = known->second->schema_;
  if (what.offset > schema.size()) {
    return refused("the schema of the type " + hex(what.hash) + " has " + std::to_string(schema.size()) +
                   " bytes: byte " + std::to_string(what.offset) + " is past its end");
  }
  return wire::schema_part{what.hash, what.offset, schema.substr(what.offset, wire::max_schema_part)};
}

}  // namespace orc
