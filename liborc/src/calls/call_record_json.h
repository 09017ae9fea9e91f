// A call_record as the JSON of schemas/PROTOCOL.md, "Recorded calls"; read_call_record reads it.
#pragma once

#include <string>

#include "orc/calls/call_record.h"

namespace orc::detail {

// At most max_call_record_bytes, if payloads and texts are as long as call_record.h says.
[[nodiscard]] std::string to_json(const call_record& record);

}  // namespace orc::detail
