// The value of a call that a test needs, or an exception with the reason why there is none.
#pragma once

#include <stdexcept>
#include <utility>

#include "base/expected.h"

namespace orc::test {

template <typename T>
[[nodiscard]] T value_of(detail::expected<T> made) {
  if (!made) throw std::runtime_error(made.error().message());
  return *std::move(made);
}

}  // namespace orc::test
