// How `orc topic echo` and `orc log echo` show a sample.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "orc/message.h"
#include "orc/recording/sample.h"
#include "orc/subscriber.h"
#include "tools/orc/sample/number_layout.h"
#include "tools/support/json.h"

namespace orc::cli {

struct payload_style {
  enum class form { automatic, text, hex };
  form shown = form::automatic;
  std::optional<number_layout> numbers;  // of a sample that has its size; others are shown in hex, with a remark
};

// What is shown of a sample beside its payload.
struct sample_labels {
  std::string topic;
  std::string line;  // "seq=12 age_us=45.2 size=5 missed=0"
  json_value json;   // the same, with the topic
};

// `from`: the publisher of a sample of a shared topic, which the labels then name ("publisher=gate (4711)").
[[nodiscard]] sample_labels labels_of(const std::string& topic, const message& sample, const publisher_info& from);
// "t=12.345678 topic=arm/state seq=12 size=5": seconds since `first_ns`.
[[nodiscard]] sample_labels labels_of(const std::string& topic, const recording::sample& sample, std::int64_t first_ns);

// The labels, then "text=hello", "hex=00ff" or "numbers=0.5 -1". Text is escaped to stay on one line. Unless `full`,
// long text and hex are cut and the number of bytes left out is told: "hex=0011...(+936)".
[[nodiscard]] std::string sample_line(const sample_labels& labels, std::span<const std::byte> sample,
                                      const payload_style& style, bool full);

// The same as a JSON object, always with the whole payload as "text", "hex" or "numbers".
[[nodiscard]] std::string sample_json(const sample_labels& labels, std::span<const std::byte> sample,
                                      const payload_style& style);

// The same for a decoded sample: `value` is JSON.
[[nodiscard]] std::string typed_json(const sample_labels& labels, const std::string& type, const std::string& value);
// The same for some of its fields.
[[nodiscard]] std::string fields_json(const sample_labels& labels, const std::vector<std::string>& fields,
                                      const std::vector<std::string>& values);

}  // namespace orc::cli
