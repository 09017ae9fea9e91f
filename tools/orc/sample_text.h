// How `orc topic echo` shows a sample.
#pragma once

#include <string>

#include "orc/message.h"

namespace orc::cli {

enum class payload_style { automatic, text, hex };

// "seq=12 age_us=45.2 size=5 missed=0 text=hello" or "... hex=00ff". Text is escaped to stay on one line. Unless
// `full`, long payloads are cut and the number of bytes left out is told: "hex=0011...(+936)".
[[nodiscard]] std::string sample_line(const message& sample, payload_style style, bool full);

// The same as a JSON object, always with the whole payload as "text" or "hex".
[[nodiscard]] std::string sample_json(const std::string& topic, const message& sample, payload_style style);

}  // namespace orc::cli
