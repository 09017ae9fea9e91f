#include "protobuf/protobuf_writer.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace orc::types::detail {
namespace {

using nlohmann::json;
using pb_field = pb::FieldDescriptor;

template <class T>
bool integer(const json& from, const enumeration* names, T& number, encode_state& state) {
  std::uint64_t found = 0;
  using limits = std::numeric_limits<T>;
  if (!encode_integer(from, static_cast<std::int64_t>(limits::min()), static_cast<std::uint64_t>(limits::max()), names,
                      found, state)) {
    return false;
  }
  number = static_cast<T>(found);
  return true;
}

}  // namespace

bool protobuf_writer::write(const json& from) {
  const auto root = schema_.new_root();
  if (!from.is_null() && !message(from, *root)) return false;
  std::vector<std::string> missing;
  root->FindInitializationErrors(&missing);
  if (!missing.empty()) return state_.fail("lacks the required field `" + shown(missing.front()) + "`");
  std::string made;
  {
    pb::io::StringOutputStream stream(&made);
    pb::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    if (root->ByteSizeLong() > state_.max_bytes()) return state_.too_large();
    root->SerializePartialToCodedStream(&coded);
  }
  std::size_t at = 0;
  if (!state_.grow(made.size(), at)) return false;
  if (!made.empty()) std::memcpy(state_.bytes.data() + at, made.data(), made.size());
  return true;
}

bool protobuf_writer::message(const json& from, pb::Message& to) {
  const auto& type = *to.GetDescriptor();
  if (!state_.enter() || !state_.spend(1 + schema_.bytes_of(type) / 64) || !expect_object(from, state_)) return false;
  for (const auto& [name, element] : from.items()) {
    const pb_field* of = schema_.find(type, name);
    if (!of) return state_.fail("has no field `" + shown(name) + "`; its fields are " + names_of(type).text());
    if (element.is_null()) continue;
    state_.here.push(name_of(schema_, *of));
    if (const auto* oneof = of->real_containing_oneof()) {
      if (to.GetReflection()->HasOneof(to, oneof)) {
        return state_.fail("is in the oneof `" + shown(oneof->name()) + "`, of which another field is given too");
      }
    }
    if (!field(element, *of, to)) return false;
    state_.here.pop();
  }
  state_.leave();
  return true;
}

bool protobuf_writer::field(const json& from, const pb_field& of, pb::Message& to) {
  if (of.is_map()) return map(from, of, to);
  if (!of.is_repeated()) return value(from, of, to);
  std::string all;
  if (!expect_array(from, any_size, state_)) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    state_.here.push(i);
    if (!value(from[i], of, to)) return false;
    state_.here.pop();
  }
  return true;
}

bool protobuf_writer::map(const json& from, const pb_field& of, pb::Message& to) {
  if (!state_.enter() || !expect_object(from, state_)) return false;
  for (const auto& [name, element] : from.items()) {
    state_.here.push(std::string_view(name));
    pb::Message& entry = *to.GetReflection()->AddMessage(&to, &of);
    const auto& type = *entry.GetDescriptor();
    if (!key(name, *type.map_key(), entry)) return false;
    if (!element.is_null() && !value(element, *type.map_value(), entry)) return false;
    state_.here.pop();
  }
  state_.leave();
  return true;
}

bool protobuf_writer::key(const std::string& name, const pb_field& of, pb::Message& to) {
  if (of.cpp_type() == pb_field::CPPTYPE_STRING) return value(json(name), of, to);
  if (of.cpp_type() == pb_field::CPPTYPE_BOOL) {
    if (name != "true" && name != "false") return state_.fail("is a key; it must be true or false");
    return value(json(name == "true"), of, to);
  }
  const bool negative = name.starts_with('-');
  std::int64_t number = 0;
  std::uint64_t natural = 0;
  const char* end = name.data() + name.size();
  const auto read = negative ? std::from_chars(name.data(), end, number) : std::from_chars(name.data(), end, natural);
  if (read.ec != std::errc() || read.ptr != end) return state_.fail("is a key; it must be an integer");
  return value(negative ? json(number) : json(natural), of, to);
}

bool protobuf_writer::bytes(const json& from, std::string& to) {
  if (from.is_null()) return true;
  if (!expect_array(from, any_size, state_)) return false;
  to.resize(from.size());
  const std::size_t size = to.size();
  return encode_numbers(from, {&size, 1}, field_kind::uint8, nullptr, false, reinterpret_cast<std::byte*>(to.data()),
                        state_);
}

bool protobuf_writer::value(const json& from, const pb_field& of, pb::Message& to) {
  const auto& reflection = *to.GetReflection();
  const auto set = [&](auto number, auto setter, auto adder) {
    of.is_repeated() ? (reflection.*adder)(&to, &of, number) : (reflection.*setter)(&to, &of, number);
    return true;
  };
  using pb::Reflection;
  switch (of.cpp_type()) {
    case pb_field::CPPTYPE_INT32: {
      std::int32_t number = 0;
      return integer(from, schema_.info(of).names, number, state_) &&
             set(number, &Reflection::SetInt32, &Reflection::AddInt32);
    }
    case pb_field::CPPTYPE_INT64: {
      std::int64_t number = 0;
      return integer(from, nullptr, number, state_) && set(number, &Reflection::SetInt64, &Reflection::AddInt64);
    }
    case pb_field::CPPTYPE_UINT32: {
      std::uint32_t number = 0;
      return integer(from, nullptr, number, state_) && set(number, &Reflection::SetUInt32, &Reflection::AddUInt32);
    }
    case pb_field::CPPTYPE_UINT64: {
      std::uint64_t number = 0;
      return integer(from, nullptr, number, state_) && set(number, &Reflection::SetUInt64, &Reflection::AddUInt64);
    }
    case pb_field::CPPTYPE_ENUM: {
      std::int32_t number = 0;
      if (!integer(from, schema_.info(of).names, number, state_)) return false;
      if (!reflection.SupportsUnknownEnumValues() && !of.enum_type()->FindValueByNumber(number)) {
        if (from.is_null()) return true;
        return state_.fail("is " + std::to_string(number) + ", which is no value of the enumeration");
      }
      return set(number, &Reflection::SetEnumValue, &Reflection::AddEnumValue);
    }
    case pb_field::CPPTYPE_BOOL: {
      bool flag = false;
      return encode_boolean(from, flag, state_) && set(flag, &Reflection::SetBool, &Reflection::AddBool);
    }
    case pb_field::CPPTYPE_FLOAT: {
      float number = 0;
      return encode_number(from, field_kind::float32, nullptr, false, reinterpret_cast<std::byte*>(&number), state_) &&
             set(number, &Reflection::SetFloat, &Reflection::AddFloat);
    }
    case pb_field::CPPTYPE_DOUBLE: {
      double number = 0;
      return encode_real(from, number, state_) && set(number, &Reflection::SetDouble, &Reflection::AddDouble);
    }
    case pb_field::CPPTYPE_MESSAGE: {
      pb::Message& inner = of.is_repeated() ? *reflection.AddMessage(&to, &of) : *reflection.MutableMessage(&to, &of);
      return from.is_null() || message(from, inner);
    }
    default: break;
  }
  std::string made;
  if (of.type() == pb_field::TYPE_BYTES) {
    if (!bytes(from, made)) return false;
  } else {
    std::string_view text;
    if (!encode_text(from, text, state_)) return false;
    made = text;
  }
  of.is_repeated() ? reflection.AddString(&to, &of, std::move(made)) : reflection.SetString(&to, &of, std::move(made));
  return true;
}

}  // namespace orc::types::detail
