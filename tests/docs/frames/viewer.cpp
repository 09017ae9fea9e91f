// A viewer of a camera that sends a picture every 5 ms. The block may run several times until the link is up.
#include <chrono>
#include <thread>

#include "orc.h"

namespace {

int block(orc::participant& b) {
  // block
  return newest && next && next.sequence() == newest.sequence() + 1 ? 0 : 2;
}

}  // namespace

int main() {
  orc::participant source;
  if (!source.register_topic("camera", {.transports = {orc::transport::shm}, .history = 64})) return 1;
  const std::jthread camera([&source](const std::stop_token& stop) {
    for (; !stop.stop_requested(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
      if (!source.send_msg("camera", "picture", 7)) return;
    }
  });
  orc::participant b;
  int status = 2;
  for (int attempt = 0; status == 2 && attempt < 100; ++attempt) status = block(b);
  return status;
}
