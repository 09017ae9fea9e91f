// What the examples gripper_service.cpp and gripper_client.cpp say to each other.
#pragma once

#include <orc/typed.h>

namespace gripper {

struct close_request {
  double force;
};
ORC_DESCRIBE(close_request, (force, "N"))

struct close_reply {
  double width;
};
ORC_DESCRIBE(close_reply, (width, "m"))

struct progress {
  double width;
};
ORC_DESCRIBE(progress, (width, "m"))

}  // namespace gripper
