// The error when no descriptor is left.
#pragma once

#include "orc/result.h"

namespace orc::detail {

[[nodiscard]] inline error out_of_descriptors() {
  return {errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)"};
}

}  // namespace orc::detail
