// A camera of one picture; afterwards a viewer must get it by shared memory.
#include <cstddef>
#include <cstring>
#include <utility>

#include "orc.h"

namespace {

constexpr std::size_t width = 64, height = 48;

void render(void* image) { std::memset(image, 7, width * height); }

int block(orc::participant& b) {
  // block
  return 0;
}

}  // namespace

int main() {
  orc::participant b;
  if (block(b) != 0) return 1;
  orc::participant viewer;
  if (!viewer.request_topic("camera", {.connected_within = std::chrono::milliseconds(10000)}).result()) return 2;
  if (viewer.subscriber("camera").link().transport != orc::transport::shm) return 3;
  return viewer.recv_msg("camera", 10000).size() == width * height ? 0 : 4;
}
