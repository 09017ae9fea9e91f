// The version of these headers, and of the linked library. It is stated here only: the build and the Python package
// read these lines.
#pragma once

// Grows when programs have to change.
#define ORC_VERSION_MAJOR 0
// Grows with additions.
#define ORC_VERSION_MINOR 2
// Grows with corrections.
#define ORC_VERSION_PATCH 0

// Makes a name visible outside of the library.
#define ORC_API __attribute__((visibility("default")))

namespace orc {

// Returns the version of the library in use, such as "0.2.0". It may be newer than these headers.
[[nodiscard]] ORC_API const char* version() noexcept;

}  // namespace orc
