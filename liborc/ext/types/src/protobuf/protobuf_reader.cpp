#include "protobuf/protobuf_reader.h"

#include <unordered_map>
#include <vector>

namespace orc::types::detail {
namespace {

using pb_field = pb::FieldDescriptor;

bool is_number(const pb_field& of) {
  return of.cpp_type() != pb_field::CPPTYPE_STRING && of.cpp_type() != pb_field::CPPTYPE_MESSAGE;
}

// Of several entries with one key the last counts.
std::vector<int> last_entries(const pb::Message& from, const pb_field& of) {
  const auto& reflection = *from.GetReflection();
  const int count = reflection.FieldSize(from, &of);
  std::unordered_map<std::string, std::size_t> places;
  std::vector<int> last;
  for (int i = 0; i < count; ++i) {
    const auto [place, added] = places.emplace(key_of(reflection.GetRepeatedMessage(from, &of, i)), last.size());
    if (added) {
      last.push_back(i);
    } else {
      last[place->second] = i;
    }
  }
  return last;
}

}  // namespace

std::string key_of(const pb::Message& entry) {
  const pb_field& key = *entry.GetDescriptor()->map_key();
  const auto& reflection = *entry.GetReflection();
  switch (key.cpp_type()) {
    case pb_field::CPPTYPE_STRING: return reflection.GetString(entry, &key);
    case pb_field::CPPTYPE_BOOL: return reflection.GetBool(entry, &key) ? "true" : "false";
    case pb_field::CPPTYPE_INT32: return std::to_string(reflection.GetInt32(entry, &key));
    case pb_field::CPPTYPE_INT64: return std::to_string(reflection.GetInt64(entry, &key));
    case pb_field::CPPTYPE_UINT32: return std::to_string(reflection.GetUInt32(entry, &key));
    default: return std::to_string(reflection.GetUInt64(entry, &key));
  }
}

bool protobuf_reader::walk(const pb::Message& root, path_parts path) {
  const pb::Message* in = &root;
  const pb_field* of = nullptr;
  while (!path.empty()) {
    of = schema_.find(*in->GetDescriptor(), static_cast<int>(path.front().field));
    const auto& reflection = *in->GetReflection();
    state_.here.push(name_of(schema_, *of));
    path = path.subspan(1);
    if (schema_.has_presence(*of) && !reflection.HasField(*in, of)) return true;
    if (path.empty()) return field(*in, *of);
    if (of->is_map()) {
      const pb::Message* chosen = nullptr;
      for (int i = 0; i < reflection.FieldSize(*in, of); ++i) {
        const auto& entry = reflection.GetRepeatedMessage(*in, of, i);
        if (key_of(entry) == path.front().name) chosen = &entry;
      }
      state_.here.push(path.front().name);
      if (!chosen) return true;
      in = chosen;
      of = chosen->GetDescriptor()->map_value();
      path = path.subspan(1);
      if (path.empty()) return singular(*in, *of);
      in = &chosen->GetReflection()->GetMessage(*chosen, of);
    } else if (of->is_repeated()) {
      const std::size_t index = path.front().index;
      const auto count = static_cast<std::size_t>(reflection.FieldSize(*in, of));
      state_.here.push(index);
      if (index >= count) return state_.fail(0, "is beyond the end of an array of " + std::to_string(count));
      path = path.subspan(1);
      if (path.empty())
        return is_number(*of) ? number_element(*in, *of, index) : element(*in, *of, static_cast<int>(index));
      in = &reflection.GetRepeatedMessage(*in, of, static_cast<int>(index));
    } else {
      in = &reflection.GetMessage(*in, of);
    }
  }
  return message(*in);
}

bool protobuf_reader::message(const pb::Message& from) {
  if (!state_.enter(0) || !state_.spend(1, 0)) return false;
  const auto& type = *from.GetDescriptor();
  state_.to.begin_structure();
  for (int i = 0; i < type.field_count(); ++i) {
    if (!member(from, *type.field(i))) return false;
  }
  for (const auto* each : schema_.extensions_of(type)) {
    const bool absent = each->is_repeated() && from.GetReflection()->FieldSize(from, each) == 0;
    if (!absent && !member(from, *each)) return false;
  }
  state_.to.end_structure();
  state_.leave();
  return true;
}

// One field with its name, if the message has it.
bool protobuf_reader::member(const pb::Message& from, const pb_field& of) {
  if (!state_.spend(1, 0)) return false;
  if (schema_.has_presence(of) && !from.GetReflection()->HasField(from, &of)) return true;
  const auto& info = schema_.info(of);
  const step answer = state_.to.field(info);
  if (answer != step::enter) return answer == step::skip;
  state_.here.push(info.name);
  if (!field(from, of)) return false;
  state_.here.pop();
  return true;
}

bool protobuf_reader::field(const pb::Message& from, const pb_field& of) {
  if (of.is_map()) return map(from, of);
  if (!of.is_repeated()) return singular(from, of);
  return is_number(of) ? number_array_of(from, of) : repeated(from, of);
}

bool protobuf_reader::text_or_bytes(const pb_field& of, const std::string& value) {
  if (of.type() == pb_field::TYPE_BYTES) {
    state_.to.bytes(std::as_bytes(std::span(value)));
  } else {
    state_.to.text(value);
  }
  return true;
}

bool protobuf_reader::singular(const pb::Message& from, const pb_field& of) {
  const auto& reflection = *from.GetReflection();
  switch (of.cpp_type()) {
    case pb_field::CPPTYPE_INT32: state_.to.signed_integer(reflection.GetInt32(from, &of)); break;
    case pb_field::CPPTYPE_INT64: state_.to.signed_integer(reflection.GetInt64(from, &of)); break;
    case pb_field::CPPTYPE_UINT32: state_.to.unsigned_integer(reflection.GetUInt32(from, &of)); break;
    case pb_field::CPPTYPE_UINT64: state_.to.unsigned_integer(reflection.GetUInt64(from, &of)); break;
    case pb_field::CPPTYPE_FLOAT: state_.to.float32(reflection.GetFloat(from, &of)); break;
    case pb_field::CPPTYPE_DOUBLE: state_.to.float64(reflection.GetDouble(from, &of)); break;
    case pb_field::CPPTYPE_BOOL: state_.to.boolean(reflection.GetBool(from, &of)); break;
    case pb_field::CPPTYPE_ENUM: state_.to.signed_integer(reflection.GetEnumValue(from, &of)); break;
    case pb_field::CPPTYPE_MESSAGE: return message(reflection.GetMessage(from, &of));
    default: {
      std::string scratch;
      return text_or_bytes(of, reflection.GetStringReference(from, &of, &scratch));
    }
  }
  return true;
}

bool protobuf_reader::element(const pb::Message& from, const pb_field& of, int index) {
  const auto& reflection = *from.GetReflection();
  if (of.cpp_type() == pb_field::CPPTYPE_MESSAGE) return message(reflection.GetRepeatedMessage(from, &of, index));
  std::string scratch;
  return text_or_bytes(of, reflection.GetRepeatedStringReference(from, &of, index, &scratch));
}

bool protobuf_reader::number_element(const pb::Message& from, const pb_field& of, std::size_t at) {
  const auto& reflection = *from.GetReflection();
  const int index = static_cast<int>(at);
  switch (of.cpp_type()) {
    case pb_field::CPPTYPE_INT32: state_.to.signed_integer(reflection.GetRepeatedInt32(from, &of, index)); break;
    case pb_field::CPPTYPE_INT64: state_.to.signed_integer(reflection.GetRepeatedInt64(from, &of, index)); break;
    case pb_field::CPPTYPE_UINT32: state_.to.unsigned_integer(reflection.GetRepeatedUInt32(from, &of, index)); break;
    case pb_field::CPPTYPE_UINT64: state_.to.unsigned_integer(reflection.GetRepeatedUInt64(from, &of, index)); break;
    case pb_field::CPPTYPE_FLOAT: state_.to.float32(reflection.GetRepeatedFloat(from, &of, index)); break;
    case pb_field::CPPTYPE_DOUBLE: state_.to.float64(reflection.GetRepeatedDouble(from, &of, index)); break;
    case pb_field::CPPTYPE_BOOL: state_.to.boolean(reflection.GetRepeatedBool(from, &of, index)); break;
    default: state_.to.signed_integer(reflection.GetRepeatedEnumValue(from, &of, index)); break;
  }
  return true;
}

bool protobuf_reader::repeated(const pb::Message& from, const pb_field& of) {
  const int count = from.GetReflection()->FieldSize(from, &of);
  if (!state_.spend(static_cast<std::size_t>(count), 0) || !state_.enter(0)) return false;
  const step answer = state_.to.begin_array(static_cast<std::size_t>(count));
  if (answer == step::stop) return false;
  if (answer == step::enter) {
    for (int i = 0; i < count; ++i) {
      state_.here.push(static_cast<std::size_t>(i));
      if (!element(from, of, i)) return false;
      state_.here.pop();
    }
    state_.to.end_array();
  }
  state_.leave();
  return true;
}

bool protobuf_reader::number_array_of(const pb::Message& from, const pb_field& of) {
  const auto& reflection = *from.GetReflection();
  // T: as protobuf has them; U: as they are shown
  const auto visit = [&]<class T, class U>(const T&, const U&, field_kind kind) {
    const auto all = reflection.GetRepeatedFieldRef<T>(from, &of);
    std::vector<U> copied;
    copied.reserve(static_cast<std::size_t>(all.size()));
    for (int i = 0; i < all.size(); ++i) copied.push_back(static_cast<U>(all.Get(i)));
    const std::size_t size = copied.size();
    return state_.to.numbers({kind, std::as_bytes(std::span(copied)), {&size, 1}, false}) != step::stop;
  };
  switch (of.cpp_type()) {
    case pb_field::CPPTYPE_INT64: return visit(std::int64_t{}, std::int64_t{}, field_kind::int64);
    case pb_field::CPPTYPE_UINT32: return visit(std::uint32_t{}, std::uint32_t{}, field_kind::uint32);
    case pb_field::CPPTYPE_UINT64: return visit(std::uint64_t{}, std::uint64_t{}, field_kind::uint64);
    case pb_field::CPPTYPE_FLOAT: return visit(float{}, float{}, field_kind::float32);
    case pb_field::CPPTYPE_DOUBLE: return visit(double{}, double{}, field_kind::float64);
    case pb_field::CPPTYPE_BOOL: return visit(bool{}, std::uint8_t{}, field_kind::boolean);
    default: return visit(std::int32_t{}, std::int32_t{}, field_kind::int32);  // also enumerations
  }
}

bool protobuf_reader::map(const pb::Message& from, const pb_field& of) {
  const std::vector<int> entries = last_entries(from, of);
  if (!state_.spend(entries.size(), 0) || !state_.enter(0)) return false;
  state_.to.begin_structure();
  for (const int each : entries) {
    const auto& entry = from.GetReflection()->GetRepeatedMessage(from, &of, each);
    const std::string key = key_of(entry);
    field_info info = schema_.info(of);
    info.name = key;
    const step answer = state_.to.field(info);
    if (answer == step::stop) return false;
    if (answer == step::skip) continue;
    state_.here.push(std::string_view(key));
    if (!singular(entry, *entry.GetDescriptor()->map_value())) return false;
    state_.here.pop();
  }
  state_.to.end_structure();
  state_.leave();
  return true;
}

}  // namespace orc::types::detail
