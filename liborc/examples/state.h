// The samples of the typed examples. One line describes the struct: ORC then checks that publisher and subscribers have
// the same one, and the tools show its fields with their units.
#pragma once

#include <orc/typed.h>

#include <cstdint>

namespace robot {

enum class mode : std::uint8_t { idle, moving, stopped };
ORC_DESCRIBE_ENUM(mode, idle, moving, stopped)

struct state {
  double q[7];
  double dq[7];
  double tau[7];
  mode doing;
};
ORC_DESCRIBE(state, (q, "rad"), (dq, "rad/s"), (tau, "Nm", "measured"), doing)

}  // namespace robot
