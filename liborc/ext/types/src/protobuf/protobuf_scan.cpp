#include "protobuf/protobuf_scan.h"

#include <algorithm>

#include "json/utf8.h"
#include "sequential/scalar.h"

namespace orc::types::detail {
namespace {

enum wire_type : std::uint32_t { wire_varint = 0, wire_fixed64, wire_delimited, wire_group, wire_end, wire_fixed32 };

bool is_utf8(std::string_view text) {
  bool valid = true;
  for (std::size_t at = 0; valid && at < text.size();) next_character(text, at, valid);
  return valid;
}

}  // namespace

bool protobuf_scan::varint(std::size_t end, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (at_ >= end) return state_.fail(at_, "ends within a number");
    const auto byte = std::to_integer<std::uint64_t>(sample_[at_++]);
    if (shift < 64) number |= (byte & 0x7fU) << shift;
    if (byte < 0x80) return true;
  }
  return state_.fail(at_, "has a number of more than 10 bytes");
}

bool protobuf_scan::skip(std::size_t bytes, std::size_t end) {
  if (bytes > end - at_) {
    return state_.fail(at_,
                       "needs " + std::to_string(bytes) + " bytes, there are " + std::to_string(end - at_) + " more");
  }
  at_ += bytes;
  return true;
}

bool protobuf_scan::spend(std::size_t bytes) {
  if (bytes > memory_left_) return state_.fail(at_, "the sample would need too much memory");
  memory_left_ -= bytes;
  return true;
}

bool protobuf_scan::message(const pb::Descriptor& type, std::size_t end, std::uint32_t group) {
  if (!state_.enter(at_) || !spend(schema_.bytes_of(type))) return false;
  while (at_ < end) {
    std::uint64_t tag = 0;
    if (!varint(end, tag)) return false;
    const auto number = static_cast<std::uint32_t>(tag >> 3U);
    const auto wire = static_cast<std::uint32_t>(tag & 7U);
    if (tag > UINT32_MAX || number == 0) return state_.fail(at_, "has an impossible field number");
    if (wire == wire_end) {
      if (number != group) return state_.fail(at_, "has an end of a group that did not begin");
      state_.leave();
      return true;
    }
    const auto* field = schema_.find(type, static_cast<int>(number));
    if (field) state_.here.push(name_of(schema_, *field));
    if (!value(field, wire, number, end)) return false;
    if (field) state_.here.pop();
  }
  if (group != 0) return state_.fail(at_, "ends within a group");
  state_.leave();
  return true;
}

bool protobuf_scan::unknown_group(std::size_t end, std::uint32_t group) {
  if (!state_.enter(at_)) return false;
  while (at_ < end) {
    std::uint64_t tag = 0;
    if (!varint(end, tag)) return false;
    const auto number = static_cast<std::uint32_t>(tag >> 3U);
    const auto wire = static_cast<std::uint32_t>(tag & 7U);
    if (tag > UINT32_MAX || number == 0) return state_.fail(at_, "has an impossible field number");
    if (wire == wire_end) {
      state_.leave();
      return number == group || state_.fail(at_, "has an end of a group that did not begin");
    }
    if (!value(nullptr, wire, number, end)) return false;
  }
  return state_.fail(at_, "ends within a group");
}

bool protobuf_scan::value(const pb::FieldDescriptor* field, std::uint32_t wire, std::uint32_t number, std::size_t end) {
  std::uint64_t ignored = 0;
  if (!field && !spend(32)) return false;  // kept as an unknown field
  switch (wire) {
    case wire_varint: return varint(end, ignored);
    case wire_fixed64: return skip(8, end);
    case wire_fixed32: return skip(4, end);
    case wire_delimited: return delimited(field, end);
    case wire_group: {
      const bool known = field && field->type() == pb::FieldDescriptor::TYPE_GROUP;
      return known ? message(*field->message_type(), end, number) : unknown_group(end, number);
    }
    default: return state_.fail(at_, "has an unknown wire type");
  }
}

bool protobuf_scan::delimited(const pb::FieldDescriptor* field, std::size_t end) {
  std::uint64_t size = 0;
  if (!varint(end, size)) return false;
  const std::size_t start = at_;
  if (!skip(static_cast<std::size_t>(size), end)) return false;
  if (!spend(static_cast<std::size_t>(size) + 48)) return false;
  if (!field) return true;
  if (schema_.is_checked_text(*field) && !is_utf8(text_of(sample_.subspan(start, at_ - start)))) {
    return state_.fail(start, "is no UTF-8");
  }
  if (field->is_packable()) return spend(8 * static_cast<std::size_t>(size));
  if (field->type() != pb::FieldDescriptor::TYPE_MESSAGE) return true;
  const std::size_t behind = at_;
  at_ = start;
  return message(*field->message_type(), behind, 0);
}

}  // namespace orc::types::detail
