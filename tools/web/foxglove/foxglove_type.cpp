#include "tools/web/foxglove/foxglove_type.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "json/base64.h"
#include "tools/web/foxglove/foxglove_message.h"
#include "tools/web/json_text.h"

namespace orc::web {

namespace {

struct encodings {
  std::string_view message;
  std::string_view schema;
};

// Viewers read samples of these as they are.
constexpr std::array<encodings, 9> read_by_viewers{{{"json", "jsonschema"},
                                                    {"json", ""},
                                                    {"protobuf", "protobuf"},
                                                    {"flatbuffer", "flatbuffer"},
                                                    {"cdr", "ros2msg"},
                                                    {"cdr", "ros2idl"},
                                                    {"cdr", "omgidl"},
                                                    {"ros1", "ros1msg"},
                                                    {"msgpack", ""}}};

[[nodiscard]] bool is_read_by_viewers(const type_description& type) {
  return std::any_of(read_by_viewers.begin(), read_by_viewers.end(), [&](const encodings& each) {
    return each.message == type.message_encoding && each.schema == type.schema_encoding;
  });
}

[[nodiscard]] std::string channel_text(std::string_view encoding, std::string_view name,
                                       std::string_view schema_encoding, std::string_view schema) {
  std::string text = R"(,"encoding":)";
  append_quoted(text, encoding);
  text += R"(,"schemaName":)";
  append_quoted(text, name);
  text += R"(,"schema":)";
  if (is_binary_schema(schema_encoding)) {
    text += '"';
    text += detail::base64(schema);
    text += '"';
  } else {
    append_quoted(text, schema);
  }
  if (schema_encoding.empty()) return text;
  text += R"(,"schemaEncoding":)";
  append_quoted(text, schema_encoding);
  return text;
}

// Returns whether it could be made; else `problem` says why not.
[[nodiscard]] bool make_transcoder(const type_description& type, foxglove_type& made, std::string& problem) {
  std::unique_ptr<types::decoder> decoder;
  if (const result done = types::decoder::make(type, decoder); !done) {
    problem = done.error().message();
    return false;
  }
  made.transcoder = cdr_transcoder::make(*decoder, type.name, problem);
  made.decoder = std::move(decoder);
  return made.transcoder != nullptr;
}

}  // namespace

std::shared_ptr<const foxglove_type> make_foxglove_type(const type_description& type, memory_budget& schemas,
                                                        std::string& problem) {
  auto made = std::make_shared<foxglove_type>();
  made->hash = hash_of(type);
  if (is_read_by_viewers(type)) {
    made->channel_text = channel_text(type.message_encoding, type.name, type.schema_encoding, type.schema);
  } else if (type.message_encoding == "struct" || type.message_encoding == "lcm") {
    if (!make_transcoder(type, *made, problem)) return nullptr;
    made->channel_text = channel_text("cdr", made->transcoder->schema_name(), "ros2msg", made->transcoder->schema());
  } else {
    problem = "viewers read no samples of encoding '" + type.message_encoding + "' with a schema of encoding '" +
              type.schema_encoding + "'";
    return nullptr;
  }
  made->channel_text.shrink_to_fit();
  // What is made of a schema to transcode takes about as much memory as its text.
  made->share = schemas.take(made->channel_text.capacity() * (made->transcoder ? 2 : 1));
  if (made->share) return made;
  problem = "the schemas of the other topics fill the memory for them";
  return nullptr;
}

}  // namespace orc::web
