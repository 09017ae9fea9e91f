// The C++ end of bindings/python/tests/test_typed_crosswise.py: one sample per encoding, published and received.
//
// The values are those of tests/types/every/*.json. Each encoding fills and reads its class through the members that
// its own generator made.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "orc/typed.h"
#include "typed_peer/plain.h"

namespace orc::test {

// How one encoding takes part.
struct encoding {
  std::string_view name;
  // Publishes the sample; the topic stays registered.
  result (*publish)(participant& by, const std::string& topic);
  // Receives one sample and reads its values.
  result (*receive)(participant& by, const std::string& topic, json& values);
};

extern const encoding struct_encoding;
extern const encoding lcm_encoding;
extern const encoding flatbuffer_encoding;
extern const encoding protobuf_encoding;
extern const encoding cdr_encoding;
extern const encoding json_encoding;

inline constexpr int patience_ms = 30'000;

template <class T, class Value>
result publish_value(participant& by, const std::string& topic, const Value& value) {
  auto to = by.register_topic<T>(topic);
  return to.result() ? to.send(value) : to.result();
}

template <class T>
result receive_value(participant& by, const std::string& topic, json& values, json (*read)(const T&)) {
  request_options options;
  options.connected_within = std::chrono::milliseconds(patience_ms);
  auto from = by.request_topic<T>(topic, std::move(options));
  if (!from.result()) return from.result();
  const auto sample = from.recv(patience_ms);
  if (!sample) return sample.status();
  values = read(*sample);
  return {};
}

}  // namespace orc::test
