// Figures as short texts for cells of a table. A figure that is not known is "-".
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/view/figures.h"

namespace orc::cli {

[[nodiscard]] std::string rate_text(const std::optional<double>& hz);  // "1000.0", "12.5k", "0"
[[nodiscard]] std::string bandwidth_text(const std::optional<double>& bytes_per_s);
[[nodiscard]] std::string span_text(const std::optional<std::chrono::nanoseconds>& span);  // "45.2 µs", "12 min"
[[nodiscard]] std::string count_text(std::uint64_t count);                                 // "999999", "1.2M"

// "ipc", "ipc 2,tcp 1": the transports in use; without a subscription those that are offered, in brackets and without
// inproc beside others.
[[nodiscard]] std::string transports_text(const view::topic_figures& topic);
[[nodiscard]] std::string publisher_text(const view::topic_figures& topic);
[[nodiscard]] std::string host_text(const std::string& host);  // "3f2a91c0 (here)"

// Whether each of the words in `filter` occurs in the text, upper and lower case being equal.
[[nodiscard]] bool matches_filter(std::string_view text, std::string_view filter);

}  // namespace orc::cli
