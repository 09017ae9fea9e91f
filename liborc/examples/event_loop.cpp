// One thread that waits for everything at once: samples, a timer and Ctrl-C, as descriptors in epoll. Prints the rate
// of the joint's state once a second. See publisher.cpp.
#include <orc.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

int signal_fd() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return signalfd(-1, &ending, SFD_CLOEXEC);
}

int timer_fd(time_t period_s) {
  const int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec each{.it_interval = {period_s, 0}, .it_value = {period_s, 0}};
  return fd >= 0 && timerfd_settime(fd, 0, &each, nullptr) == 0 ? fd : -1;
}

bool watch(int epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  return fd >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

}  // namespace

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  // Before the participant, whose thread inherits the mask: the signals then come through the descriptor alone.
  const int signals = signal_fd();
  const int timer = timer_fd(1);

  orc::participant_options options;
  options.name = "monitor";
  orc::participant participant(options);
  orc::subscriber state = participant.request_topic("robot/state");
  if (!state.result()) std::fprintf(stderr, "robot/state: %s\n", state.error().message().c_str());
  if (!state) return EXIT_FAILURE;  // without a broker it is true: the request takes effect when one answers

  const int epoll = epoll_create1(EPOLL_CLOEXEC);
  // The subscription's descriptor is for waiting only: it is never read, written or closed here.
  if (!watch(epoll, signals) || !watch(epoll, timer) || !watch(epoll, state.fd())) {
    std::perror("event_loop");
    return EXIT_FAILURE;
  }

  std::uint64_t received = 0;
  std::uint64_t skipped = 0;
  for (;;) {
    std::array<epoll_event, 3> ready;
    const int count = epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), -1);
    if (count < 0 && errno != EINTR) {
      std::perror("epoll_wait");
      return EXIT_FAILURE;
    }
    for (int i = 0; i < count; ++i) {
      const int fd = ready[static_cast<std::size_t>(i)].data.fd;
      if (fd == signals) return EXIT_SUCCESS;  // closes the descriptors, too
      if (fd == timer) {
        std::uint64_t expirations = 0;
        if (read(timer, &expirations, sizeof expirations) != sizeof expirations) continue;
        std::printf("%llu samples, %llu skipped\n", static_cast<unsigned long long>(received),
                    static_cast<unsigned long long>(skipped));
        received = skipped = 0;
        continue;
      }
      // Until there is nothing more: only then does the descriptor wait for the next sample.
      while (const orc::message sample = state.recv(0)) {
        ++received;
        skipped += sample.missed();
      }
    }
  }
}
