// A cable between two network namespaces that loses, repeats, delays and reorders Ethernet frames as `tc netem` does,
// also on kernels without netem. Chance follows from the seed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <queue>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "base/files/unique_fd.h"

namespace orc::test {

// Shares are of all frames, from 0 to 1.
struct weather {
  double loss = 0;
  double duplicate = 0;
  double overtake = 0;  // share that is not delayed
  std::chrono::milliseconds delay{0};
  std::chrono::milliseconds jitter{0};  // the delay of each frame lies in delay ± jitter
  bool one_way = false;                 // nothing comes from b to a
};

class bad_link {
 public:
  // Ends: tap devices, one in each namespace. Fair weather at first.
  bad_link(detail::unique_fd a, detail::unique_fd b, unsigned seed);
  ~bad_link();
  bad_link(const bad_link&) = delete;
  bad_link& operator=(const bad_link&) = delete;

  void set(const weather& now);  // for frames that come from now on

 private:
  using clock = std::chrono::steady_clock;
  struct frame {
    clock::time_point due;
    std::uint64_t number = 0;  // those that are due at the same time keep their order
    int to = -1;
    std::vector<char> bytes;
    bool operator<(const frame& other) const {  // the next one is the greatest
      return due != other.due ? due > other.due : number > other.number;
    }
  };

  void run();
  void pass_on(int from, int to);
  void send_due();
  [[nodiscard]] clock::duration delay_of(const weather& now);
  [[nodiscard]] bool chance(double share) { return std::uniform_real_distribution<>(0, 1)(random_) < share; }

  const detail::unique_fd a_;
  const detail::unique_fd b_;
  std::minstd_rand random_;
  std::mutex mutex_;
  weather weather_;  // under mutex_
  std::priority_queue<frame> waiting_;
  std::uint64_t frames_ = 0;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::test
