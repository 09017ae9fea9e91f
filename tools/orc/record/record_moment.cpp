#include "tools/orc/record/record_moment.h"

#include "tools/support/clock.h"

namespace orc::cli {

record_moment record_moment::now() noexcept { return {bench::clock_ns(CLOCK_REALTIME), bench::now_ns()}; }

}  // namespace orc::cli
