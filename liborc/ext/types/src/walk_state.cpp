#include "walk_state.h"

namespace orc::types::detail {

bool walk_state::fail(std::size_t byte, std::string_view sentence) {
  std::string text(encoding_);
  text += " sample, byte " + std::to_string(byte) + ": " + here.text() + ": ";
  text += sentence;
  outcome_ = result(errc::bad_argument, std::move(text));
  return false;
}

}  // namespace orc::types::detail
