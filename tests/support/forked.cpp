#include "support/forked.h"

#include <unistd.h>

namespace orc::test {

namespace {

bool in_child = false;

}  // namespace

void forked::is_copy() { in_child = true; }

}  // namespace orc::test

#if defined(__SANITIZE_THREAD__)
// ThreadSanitizer reports and goes on, and says at the end of the process that something was wrong. A child that is
// killed would never get there.
extern "C" void __tsan_on_report(void*);
extern "C" void __tsan_on_report(void*) {
  if (orc::test::in_child) ::_exit(66);
}
#endif
