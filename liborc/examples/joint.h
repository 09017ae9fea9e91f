// The samples of the joint examples. ORC carries bytes: both ends agree on a type, and on one layout between hosts.
#pragma once

#include <type_traits>

struct joint_state {
  double position_rad = 0;
  double velocity_rad_s = 0;
};

struct joint_command {
  double torque_nm = 0;
};

// What is sent as plain bytes must have no pointers.
static_assert(std::is_trivially_copyable_v<joint_state> && std::is_trivially_copyable_v<joint_command>);
