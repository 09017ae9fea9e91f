// Encodings cdr and json: samples that the decoder component makes from JSON, as `orc topic pub` does.
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "every_cdr_json_text.h"
#include "every_json_json_text.h"
#include "every_msg_text.h"
#include "orc/types/decoder.h"
#include "orc/types/json.h"
#include "typed_peer/peer.h"

namespace orc::test {

namespace {

type_description cdr_type() { return {"typed_ros/msg/Every", "ros2msg", "cdr", every_msg_text}; }
type_description json_type() { return {"typed_json.Every", "", "json", ""}; }

result publish(participant& by, const std::string& topic, const type_description& type, std::string_view values) {
  std::unique_ptr<types::decoder> encoder;
  if (auto made = types::decoder::make(type, encoder); !made) return made;
  std::vector<std::byte> sample;
  if (auto encoded = types::from_json(*encoder, values, sample); !encoded) return encoded;
  topic_options options;
  options.type = type;
  if (auto registered = by.register_topic(topic, options).result(); !registered) return registered;
  return by.publisher(topic).send(sample.data(), sample.size());
}

result receive(participant& by, const std::string& topic, const type_description& type, message& sample) {
  request_options options;
  options.type = type;
  options.connected_within = std::chrono::milliseconds(patience_ms);
  if (auto requested = by.request_topic(topic, options).result(); !requested) return requested;
  sample = by.subscriber(topic).recv(patience_ms);
  return sample ? result() : result(sample.status());
}

result receive_cdr(participant& by, const std::string& topic, json& values) {
  message sample;
  if (auto received = receive(by, topic, cdr_type(), sample); !received) return received;
  std::unique_ptr<types::decoder> decoder;
  if (auto made = types::decoder::make(cdr_type(), decoder); !made) return made;
  std::string text;
  if (auto decoded = types::to_json(*decoder, sample.bytes(), {}, text); !decoded) return decoded;
  values = json::parse(text);
  return {};
}

result receive_json(participant& by, const std::string& topic, json& values) {
  message sample;
  if (auto received = receive(by, topic, json_type(), sample); !received) return received;
  values = json::parse(std::string_view(static_cast<const char*>(sample.data()), sample.size()));
  return {};
}

}  // namespace

const encoding cdr_encoding{
    "cdr",
    [](participant& by, const std::string& topic) { return publish(by, topic, cdr_type(), every_cdr_json_text); },
    receive_cdr};

const encoding json_encoding{
    "json",
    [](participant& by, const std::string& topic) { return publish(by, topic, json_type(), every_json_json_text); },
    receive_json};

}  // namespace orc::test
