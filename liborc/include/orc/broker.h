// The name that the ORC paper gives to the participant (Listing 1).
#pragma once

#include "orc/participant.h"

namespace orc {

// The participant as a program's handle on the address broker.
using broker = participant;

}  // namespace orc
