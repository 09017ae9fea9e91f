#include "files/file_window.h"

#include <algorithm>

namespace orc::recording::detail {

bool file_window::fill(std::uint64_t offset, std::uint64_t bytes) {
  start_ = offset;
  buffer_.resize(static_cast<std::size_t>(std::min(bytes, file_.size() - offset)));
  status_ = file_.read(offset, {buffer_.data(), buffer_.size()});
  if (!status_) buffer_.clear();
  return static_cast<bool>(status_);
}

std::span<const std::byte> file_window::at(std::uint64_t offset, std::size_t bytes) {
  status_ = {};
  if (offset >= file_.size()) return {};
  bytes = static_cast<std::size_t>(std::min<std::uint64_t>({bytes, max_bytes, file_.size() - offset}));
  if (offset < start_ || offset + bytes > start_ + buffer_.size()) {
    bool done = offset >= careful_until_ && fill(offset, max_bytes);
    if (!done) {
      careful_until_ = std::max(careful_until_, offset + max_bytes);
      done = fill(offset, bytes + page_bytes - (offset + bytes) % page_bytes);
    }
    // The page behind what is asked for is no reason to have none.
    if (!done && !fill(offset, bytes)) return {};
  }
  return buffer_.bytes().subspan(static_cast<std::size_t>(offset - start_), bytes);
}

}  // namespace orc::recording::detail
