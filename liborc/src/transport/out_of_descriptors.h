// The error of whatever opens a descriptor and gets none.
#pragma once

#include "orc/result.h"

namespace orc::detail {

[[nodiscard]] inline error out_of_descriptors() {
  return {errc::no_descriptors, "out of file descriptors: raise the limit (ulimit -n)"};
}

}  // namespace orc::detail
