// The protocol's message "system".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/view/figures.h"

namespace orc::web {

// `figures` may be null: no broker has answered yet. Figures that are not known are null, times are in seconds.
[[nodiscard]] std::string system_text(const view::system_figures* figures, const std::string& problem,
                                      std::int64_t now_ns);

// A topic of a recording, as far as the file says without reading all its samples.
struct recorded_figures {
  std::string name = {};
  std::optional<topic_type> type = {};              // nothing: untyped
  std::optional<participant_state> publisher = {};  // its name and pid; nothing: not in the file
  std::uint64_t samples = 0;
  std::optional<double> rate_hz = {};         // on average
  std::optional<std::size_t> last_size = {};  // bytes of the last sample
  std::optional<std::uint64_t> missed = {};   // that the recorder did not receive or could not write
};

// The same message for a recording.
[[nodiscard]] std::string recording_text(const std::vector<recorded_figures>& topics, std::int64_t now_ns);

}  // namespace orc::web
