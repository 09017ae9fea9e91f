// Checks the options of a program's calls, before anything is done with them. An error says what is allowed.
#pragma once

#include "orc/options.h"
#include "orc/result.h"
#include "transport/transport.h"

namespace orc::detail {

// The error of a time below 0.
[[nodiscard]] result negative(const char* option);
// Whether this liborc has the transports that a program names. `there`: those it has.
[[nodiscard]] result available(transport_set wanted, const transport_list& there);
[[nodiscard]] result check_options(const topic_options& options, const transport_list& there, bool alone);
[[nodiscard]] result check_options(const request_options& options, const transport_list& there);

}  // namespace orc::detail
