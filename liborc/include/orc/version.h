// Version of the headers, and of the library that is linked.
#pragma once

#define ORC_VERSION_MAJOR 0
#define ORC_VERSION_MINOR 1
#define ORC_VERSION_PATCH 0

#define ORC_API __attribute__((visibility("default")))

namespace orc {

// "0.1.0": the library in use, which may be newer than these headers.
[[nodiscard]] ORC_API const char* version() noexcept;

}  // namespace orc
