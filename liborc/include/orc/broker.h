// The ORC paper's class `broker` (Listing 1), which is a participant. Everywhere else "broker" means the process
// orc-broker.
#pragma once

#include "orc/participant.h"

namespace orc {

// The participant as a program's handle on the address broker.
using broker = participant;

}  // namespace orc
