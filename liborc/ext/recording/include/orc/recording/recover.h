// Copies what can be read of a broken recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "orc/recording/reader.h"
#include "orc/recording/writer.h"
#include "orc/result.h"

namespace orc::recording {

struct recovered {
  std::uint64_t samples = 0;  // that the new file has
  std::size_t topics = 0;     // with samples
  std::uint64_t metadata = 0;
  std::uint64_t attachments = 0;
  std::uint64_t missing_samples = 0;  // that the file counts, and the new one does not have
  losses left_out = {};               // chunks, channels, metadata records and attachments
};

// Copies all samples, channels, metadata records and attachments that can be read, and that the format of the new file
// has. Goes on behind what cannot be read, and behind what the new file cannot have, such as a topic with a name that
// is too long. Does not close `to`. Ends early, with ok, when `stopped` returns true; it is called before each sample.
// - The errors of the writer that are not about one record, as system_error.
result recover(reader& from, writer& to, recovered& found, const std::function<bool()>& stopped = {});

}  // namespace orc::recording
