// The part of `orc doctor --realtime` about CPUs: which are isolated, who interrupts them, how they sleep.
#pragma once

#include "tools/orc/doctor/doctor.h"
#include "tools/orc/doctor/doctor_machine.h"

namespace orc::cli {

void check_cpus(const examine& add, const machine& from);

}  // namespace orc::cli
