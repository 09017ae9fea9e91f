// Two participants: `b` of the operator, who commands, and `robot`, which carries commands out.
#include "orc.h"

using namespace std::chrono_literals;

namespace {

int block(orc::participant& b, orc::participant& robot) {
  // block
  return 0;
}

}  // namespace

int main() {
  orc::participant b;
  orc::participant robot;
  if (block(b, robot) != 0) return 1;
  if (!robot.subscriber("robot/do").wait_connected(10000)) return 2;
  if (!b.send_msg("robot/do", "go", 2)) return 3;
  return robot.recv_msg("robot/do", 10000) ? 0 : 4;
}
