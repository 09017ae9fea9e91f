// Passes bytes between a subscriber and a publication's endpoint as a bad network does: in pieces of any size, with
// pauses, and now and then it cuts every connection. What it does follows from the seed.
#pragma once

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files/unique_fd.h"

namespace orc::test {

class flaky_relay {
 public:
  // Listens at `path` and connects to `target` (both paths of Unix sockets). `cut_every`: pieces passed on between two
  // cuts, on average; 0: never.
  flaky_relay(std::string path, std::string target, unsigned seed, unsigned cut_every);
  ~flaky_relay();
  flaky_relay(const flaky_relay&) = delete;
  flaky_relay& operator=(const flaky_relay&) = delete;

  // From now on it is a good network.
  void calm_down() noexcept { calm_ = true; }
  [[nodiscard]] unsigned cuts() const noexcept { return cuts_; }

 private:
  struct pipe {
    detail::unique_fd near;
    detail::unique_fd far;
  };

  void run();
  void accept_one();
  [[nodiscard]] bool pass(int from, int to);  // false: the connection is over
  [[nodiscard]] unsigned up_to(unsigned most) { return static_cast<unsigned>(random_()) % (most + 1); }

  const std::string path_;
  const std::string target_;
  std::minstd_rand random_;
  const unsigned cut_every_;
  detail::unique_fd listener_;
  std::vector<pipe> pipes_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> calm_{false};
  std::atomic<unsigned> cuts_{0};
  std::thread thread_;
};

}  // namespace orc::test
