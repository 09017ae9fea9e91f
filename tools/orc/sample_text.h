// How `orc topic echo` shows a sample.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "number_layout.h"
#include "orc/message.h"

namespace orc::cli {

struct payload_style {
  enum class form { automatic, text, hex };
  form shown = form::automatic;
  std::optional<number_layout> numbers;  // of a sample that has its size; others are shown in hex, with a remark
};

// "seq=12 age_us=45.2 size=5 missed=0 text=hello", "... hex=00ff" or "... numbers=0.5 -1". Text is escaped to stay on
// one line. Unless `full`, long text and hex are cut and the number of bytes left out is told: "hex=0011...(+936)".
[[nodiscard]] std::string sample_line(const message& sample, const payload_style& style, bool full);

// "seq=12 age_us=45.2 size=5 missed=0".
[[nodiscard]] std::string sample_head(const message& sample);

// The same as a JSON object, always with the whole payload as "text", "hex" or "numbers".
[[nodiscard]] std::string sample_json(const std::string& topic, const message& sample, const payload_style& style);

// The same for a decoded sample: `value` is JSON.
[[nodiscard]] std::string typed_json(const std::string& topic, const message& sample, const std::string& type,
                                     const std::string& value);
// The same for some of its fields.
[[nodiscard]] std::string fields_json(const std::string& topic, const message& sample,
                                      const std::vector<std::string>& fields, const std::vector<std::string>& values);

}  // namespace orc::cli
