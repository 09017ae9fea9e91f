// Monitor: counts the samples of the joint's state in callbacks, and prints the counts once a second, in one thread.
// See publisher.cpp. An event loop of your own polls subscriber::fd() instead.
#include <orc.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

orc::executor loop;
std::atomic<bool> ended{false};
void end(int) {
  ended = true;
  loop.stop();
}

}  // namespace

int main() {
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);

  orc::participant_options options;
  options.name = "monitor";
  orc::participant participant(options);
  orc::subscriber state = participant.request_topic("robot/state");
  if (!state.result()) std::fprintf(stderr, "robot/state: %s\n", state.error().message().c_str());
  if (!state) return EXIT_FAILURE;  // without a broker it is true: the request takes effect when one answers

  std::uint64_t received = 0;
  std::uint64_t skipped = 0;
  loop.on_sample(state, [&](const orc::message& sample) {
    ++received;
    skipped += sample.missed();
  });
  while (!ended) {
    if (const orc::result done = loop.run_for(std::chrono::seconds(1)); !done) {
      std::fprintf(stderr, "robot/state: %s\n", done.error().message().c_str());
      return EXIT_FAILURE;
    }
    if (ended) break;
    std::printf("%llu samples, %llu skipped\n", static_cast<unsigned long long>(received),
                static_cast<unsigned long long>(skipped));
    received = skipped = 0;
  }
  return EXIT_SUCCESS;
}
