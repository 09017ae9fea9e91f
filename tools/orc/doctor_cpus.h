// The part of `orc doctor --realtime` about CPUs: which are isolated, who interrupts them, how they sleep.
#pragma once

#include "doctor.h"
#include "doctor_machine.h"

namespace orc::cli {

void check_cpus(const examine& add, const machine& from);

}  // namespace orc::cli
