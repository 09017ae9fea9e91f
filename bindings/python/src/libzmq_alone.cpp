// Makes Debian's libzmq.a, which is compiled for programs (-fPIE), usable in a shared object. CMakeLists.txt redirects
// (ld --wrap) to this file the three variables of the C library that it accesses directly, and every function of
// libraries that ORC never uses through libzmq: PGM, NORM and GSSAPI.
#include <netinet/in.h>

#include <cstdio>

extern "C" {

extern FILE* __real_stderr;
[[gnu::visibility("hidden")]] FILE* __wrap_stderr = nullptr;
[[gnu::visibility("hidden")]] extern const in6_addr __wrap_in6addr_any;
const in6_addr __wrap_in6addr_any = IN6ADDR_ANY_INIT;
// 0: there may be several threads.
[[gnu::visibility("hidden")]] char __wrap___libc_single_threaded = 0;

// pgm_init() succeeds, because every context calls it. The others are never called without an endpoint pgm://, norm://,
// or GSSAPI.
[[gnu::visibility("hidden")]] int orc_left_out() { return 1; }
}

namespace {

[[gnu::constructor(101)]] void take_stderr() { __wrap_stderr = __real_stderr; }

}  // namespace
