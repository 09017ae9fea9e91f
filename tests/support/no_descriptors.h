// A process that is out of file descriptors.
#pragma once

#include <sys/resource.h>

#include "support/budget.h"

namespace orc::test {

// Why such a test is skipped under_address_sanitizer, which opens a pipe to find out whether an object's vtable can be
// read, and calls the object broken when it cannot.
inline constexpr const char* ubsan_needs_descriptors =
    "the check of vtables by UndefinedBehaviorSanitizer needs descriptors";

// No descriptor can be made while it lives. The open ones stay.
class no_descriptors {
 public:
  no_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }
  ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

 private:
  rlimit before_{};
};

}  // namespace orc::test
