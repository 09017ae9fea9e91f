// The version of these headers, and of the linked library.
#pragma once

// Stated here only: the build and the Python package read these lines.
#define ORC_VERSION_MAJOR 0
#define ORC_VERSION_MINOR 1
#define ORC_VERSION_PATCH 0

#define ORC_API __attribute__((visibility("default")))

namespace orc {

// Returns the version of the library in use, such as "0.1.0". It may be newer than these headers.
[[nodiscard]] ORC_API const char* version() noexcept;

}  // namespace orc
