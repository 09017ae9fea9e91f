#include "schema/protobuf/protobuf_schema.h"

#include <algorithm>
#include <set>

#include "base/text/printable.h"
#include "schema/limits.h"
#include "schema/protobuf/protobuf_wire.h"

namespace orc::detail {
namespace {

// Numbers of fields in descriptor.proto.
enum file_set_field : std::uint32_t { set_file = 1 };
enum file_field : std::uint32_t {
  file_name = 1,
  file_package = 2,
  file_message = 4,
  file_enum = 5,
  file_extension = 7,
  file_options = 8,
  file_syntax = 12
};
enum message_field : std::uint32_t {
  message_name = 1,
  message_field_list = 2,
  message_nested = 3,
  message_enum = 4,
  message_extension = 6,
  message_options = 7,
  message_oneof = 8
};
enum options_field : std::uint32_t { options_map_entry = 7 };
// `features` in the options of each.
enum features_field : std::uint32_t { features_of_message = 12, features_of_field = 21, features_of_file = 50 };
enum feature : std::uint32_t { feature_presence = 1, feature_message_encoding = 5 };
enum presence : std::uint64_t { presence_required = 3 };
enum message_encoding : std::uint64_t { encoding_delimited = 2 };
enum field_field : std::uint32_t {
  field_name = 1,
  field_extendee = 2,
  field_number = 3,
  field_label = 4,
  field_type = 5,
  field_type_name = 6,
  field_default = 7,
  field_options = 8,
  field_oneof = 9,
  field_proto3_optional = 17
};
enum enum_field : std::uint32_t { enum_name = 1, enum_value_list = 2 };
enum value_field : std::uint32_t { value_name = 1, value_number = 2 };

constexpr std::int32_t max_number = 536'870'911;

// The features of editions that decide what bytes mean. A definition has those of the one around it, unless it has its
// own.
struct features {
  bool is_edition = false;  // of the file; else it can have none
  bool required = false;
  bool delimited = false;
};

// Reads depth first. Records of an unexpected wire type are treated as absent.
class protobuf_parser {
 public:
  expected<protobuf_types> parse(std::string_view bytes, std::string_view root) {
    each(bytes, 0, [&](const protobuf_record& record, std::size_t at) {
      if (record.number == set_file && record.is_content) file(record.content, at);
    });
    if (!failed()) extend();
    if (!failed()) resolve();
    if (!failed()) find_root(root);
    if (failed()) return bad_schema(why_);
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool failed() const noexcept { return !why_.empty(); }
  void fail(const std::string& why) {
    if (!failed()) why_ = why;
  }
  void fail_at(std::size_t at, const std::string& why) { fail("byte " + std::to_string(at) + ": " + why); }
  static std::string quoted(std::string_view text) { return "`" + escaped(text.substr(0, 255)) + "`"; }

  // Calls `use` with each record of a message and the place of its content.
  template <typename Use>
  void each(std::string_view message, std::size_t at, Use use) {
    protobuf_reader reader(message, at);
    protobuf_record record;
    while (!failed() && reader.next(record)) {
      use(record, record.is_content ? reader.offset_of(record.content) : reader.offset());
    }
    if (reader.failed()) fail_at(reader.offset(), "not a FileDescriptorSet");
  }

  void count_one(std::size_t at) {
    if (++counted_ > max_schema_fields) fail_at(at, "more than 65536 messages, fields and values");
  }

  std::string name_of(const protobuf_record& record, std::size_t at) {
    const bool fits = record.is_content && !record.content.empty() && record.content.size() <= max_schema_name_bytes;
    if (!fits) fail_at(at, "a name has 1 to 255 bytes");
    return std::string(fits ? record.content : std::string_view());
  }

  static std::string joined(const std::string& scope, const std::string& name) {
    return scope.empty() ? name : scope + "." + name;
  }

  void file(std::string_view bytes, std::size_t at) {
    // The package may stand behind the messages.
    std::string package;
    std::string name;
    features all;
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (!record.is_content) return;
      if (record.number == file_package) package = record.content;
      if (record.number == file_name) name = record.content;
      if (record.number == file_syntax) all.is_edition = record.content == "editions";
      if (record.number == file_options) read_features(record.content, place, features_of_file, all);
    });
    if (package.size() > max_schema_name_bytes) fail_at(at, "a package has at most 255 bytes");
    if (failed() || !files_.insert(name).second) return;
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (!record.is_content) return;
      if (record.number == file_message) message(record.content, place, package, all, 1);
      if (record.number == file_enum) enumeration(record.content, place, package);
      if (record.number == file_extension) extension(record.content, place, all);
    });
  }

  // Changes `to` where the options of a definition say so.
  void read_features(std::string_view options, std::size_t at, std::uint32_t number, features& to) {
    each(options, at, [&](const protobuf_record& record, std::size_t place) {
      if (record.number != number || !record.is_content) return;
      each(record.content, place, [&](const protobuf_record& one, std::size_t) {
        if (one.number == feature_presence) to.required = one.value == presence_required;
        if (one.number == feature_message_encoding) to.delimited = one.value == encoding_delimited;
      });
    });
  }

  // Returns the name of a definition, which its own fields need before they are read.
  std::string find_name(std::string_view bytes, std::size_t at, const std::string& scope) {
    std::string name;
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (record.number == message_name) name = name_of(record, place);
    });
    if (name.empty()) fail_at(at, "a name is missing");
    auto full = joined(scope, name);
    if (full.size() > max_schema_name_bytes) fail_at(at, "a full name has at most 255 bytes");
    return full;
  }

  void message(std::string_view bytes, std::size_t at, const std::string& scope, features all, std::size_t level) {
    count_one(at);
    if (level > max_struct_levels) return fail_at(at, "messages are defined more than 32 levels deep");
    protobuf_message made;
    made.name = find_name(bytes, at, scope);
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (record.number != message_options || !record.is_content) return;
      made.is_map_entry = is_map_entry(record.content, place);
      read_features(record.content, place, features_of_message, all);
    });
    if (failed()) return;
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (!record.is_content) return;
      switch (record.number) {
        case message_field_list: made.fields.push_back(field(record.content, place, all)); break;
        case message_nested: message(record.content, place, made.name, all, level + 1); break;
        case message_enum: enumeration(record.content, place, made.name); break;
        case message_extension: extension(record.content, place, all); break;
        case message_oneof: made.oneofs.push_back(oneof(record.content, place)); break;
        default: break;
      }
    });
    sort_fields(made, at);
    for (const auto& field : made.fields) {
      if (field.oneof && *field.oneof >= made.oneofs.size()) fail_at(at, "a field is in an unknown oneof");
    }
    if (failed()) return;
    if (!messages_.emplace("." + made.name, made_.messages.size()).second) {
      fail_at(at, quoted(made.name) + " is defined twice");
    }
    made_.messages.push_back(std::move(made));
  }

  void sort_fields(protobuf_message& of, std::size_t at) {
    auto& fields = of.fields;
    std::sort(fields.begin(), fields.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
    const auto twice = std::adjacent_find(fields.begin(), fields.end(),
                                          [](const auto& a, const auto& b) { return a.number == b.number; });
    if (twice == fields.end()) return;
    fail_at(at, quoted(of.name) + " has two fields with number " + std::to_string(twice->number));
  }

  // Its message may stand behind it, or in another file.
  void extension(std::string_view bytes, std::size_t at, const features& all) {
    std::string of;
    each(bytes, at, [&](const protobuf_record& record, std::size_t) {
      if (record.number == field_extendee) of = record.content.substr(0, max_schema_name_bytes + 2);
    });
    auto made = field(bytes, at, all);
    made.oneof.reset();
    extensions_[of].push_back({std::move(made), at});
  }

  // Adds the extensions to the fields of their messages. Those of messages that are not there do not matter.
  void extend() {
    for (auto& [name, extensions] : extensions_) {
      const auto found = messages_.find(name);
      if (found == messages_.end()) continue;
      auto& message = made_.messages[found->second];
      for (auto& each : extensions) message.fields.push_back(std::move(each.field));
      sort_fields(message, extensions.front().at);
    }
  }

  bool is_map_entry(std::string_view bytes, std::size_t at) {
    bool found = false;
    each(bytes, at, [&](const protobuf_record& record, std::size_t) {
      if (record.number == options_map_entry) found = record.value != 0;
    });
    return found;
  }

  std::string oneof(std::string_view bytes, std::size_t at) {
    std::string name;
    count_one(at);
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (record.number == message_name) name = name_of(record, place);
    });
    return name;
  }

  protobuf_field field(std::string_view bytes, std::size_t at, features own) {
    protobuf_field made;
    count_one(at);
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      switch (record.number) {
        case field_name: made.name = name_of(record, place); break;
        case field_number: made.number = static_cast<std::int32_t>(record.value); break;
        case field_label:
          if (record.value < 1 || record.value > 3) return fail_at(place, "an unknown label");
          made.label = static_cast<protobuf_label>(record.value);
          break;
        case field_type:
          if (record.value < 1 || record.value > 18) return fail_at(place, "an unknown type");
          made.kind = static_cast<protobuf_kind>(record.value);
          break;
        case field_type_name: made.type_name = record.content.substr(0, max_schema_name_bytes + 2); break;
        case field_default:
          if (record.is_content) made.default_value = std::string(record.content);
          break;
        case field_options:
          if (record.is_content) read_features(record.content, place, features_of_field, own);
          break;
        case field_oneof: made.oneof = record.value; break;
        case field_proto3_optional: made.has_presence = record.value != 0; break;
        default: break;
      }
    });
    if (own.is_edition && own.required && made.label == protobuf_label::optional) {
      made.label = protobuf_label::required;
    }
    made.is_delimited = own.is_edition && own.delimited;
    if (made.name.empty()) fail_at(at, "a field has no name");
    if (made.number < 1 || made.number > max_number) fail_at(at, "a field has no number from 1 to 536870911");
    return made;
  }

  void enumeration(std::string_view bytes, std::size_t at, const std::string& scope) {
    count_one(at);
    protobuf_enum made;
    made.name = find_name(bytes, at, scope);
    each(bytes, at, [&](const protobuf_record& record, std::size_t place) {
      if (record.number != enum_value_list || !record.is_content) return;
      count_one(place);
      std::pair<std::string, std::int32_t> value;
      each(record.content, place, [&](const protobuf_record& part, std::size_t where) {
        if (part.number == value_name) value.first = name_of(part, where);
        if (part.number == value_number) value.second = static_cast<std::int32_t>(part.value);
      });
      made.values.push_back(std::move(value));
    });
    if (failed()) return;
    if (!enumerations_.emplace("." + made.name, made_.enumerations.size()).second) {
      return fail_at(at, quoted(made.name) + " is defined twice");
    }
    made_.enumerations.push_back(std::move(made));
  }

  void resolve() {
    for (auto& message : made_.messages) {
      for (auto& field : message.fields) resolve(message, field);
    }
  }

  void resolve(const protobuf_message& message, protobuf_field& field) {
    const auto found_message = messages_.find(field.type_name);
    const auto found_enum = enumerations_.find(field.type_name);
    if (field.kind == protobuf_kind::unknown) {
      if (found_message != messages_.end()) field.kind = protobuf_kind::message;
      if (found_enum != enumerations_.end()) field.kind = protobuf_kind::enumeration;
    }
    bool known = field.kind != protobuf_kind::unknown;
    if (field.kind == protobuf_kind::message || field.kind == protobuf_kind::group) {
      known = found_message != messages_.end();
      if (known) field.type = found_message->second;
      const bool is_map = message.is_map_entry || (known && made_.messages[field.type].is_map_entry);
      if (field.is_delimited && !is_map) field.kind = protobuf_kind::group;  // the same bytes
    } else if (field.kind == protobuf_kind::enumeration) {
      known = found_enum != enumerations_.end();
      if (known) field.type = found_enum->second;
    }
    if (!known) {
      fail("type " + quoted(field.type_name) + " of field " + quoted(message.name + "." + field.name) +
           " is not defined");
    }
  }

  void find_root(std::string_view name) {
    const auto found = messages_.find("." + std::string(name));
    if (found == messages_.end()) return fail("message " + quoted(name) + " is not defined");
    made_.root = found->second;
  }

  struct placed_extension {
    protobuf_field field;
    std::size_t at = 0;
  };

  protobuf_types made_;
  std::set<std::string> files_;
  std::map<std::string, std::vector<placed_extension>> extensions_;  // by the message, with a dot in front
  std::map<std::string, std::size_t> messages_;                      // by name with a dot in front
  std::map<std::string, std::size_t> enumerations_;
  std::size_t counted_ = 0;
  std::string why_;
};

}  // namespace

expected<protobuf_types> parse_protobuf_schema(std::string_view bytes, std::string_view name) {
  return protobuf_parser().parse(bytes, name);
}

}  // namespace orc::detail
