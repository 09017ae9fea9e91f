// What a node saw of a topic in one second, as one line of key=value for tools/demo and for people.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "orc.h"

namespace orc::demo {

class report {
 public:
  void add(const message& sample) {
    ages_ns_.push_back(sample.age_ns());
    missed_ += sample.missed();
    // A new publication counts from 1 again.
    if (sample.sequence() < last_sequence_) restarted_ = true;
    last_sequence_ = sample.sequence();
    if (last_stamp_ns_ != 0) longest_pause_ns_ = std::max(longest_pause_ns_, sample.stamp_ns() - last_stamp_ns_);
    last_stamp_ns_ = sample.stamp_ns();
  }

  // Prints the line and begins anew. `seconds`: how long it was gathered.
  void print(double seconds, const link_info& link) {
    std::sort(ages_ns_.begin(), ages_ns_.end());
    std::printf("rate_hz=%.0f age_p50_us=%.1f age_p99_us=%.1f missed=%llu longest_pause_ms=%.1f restarted=%d link=%s\n",
                static_cast<double>(ages_ns_.size()) / seconds, age_us(0.50), age_us(0.99),
                static_cast<unsigned long long>(missed_), static_cast<double>(longest_pause_ns_) / 1e6, restarted_,
                link.connected ? std::string(to_string(link.transport)).c_str() : "none");
    std::fflush(stdout);
    ages_ns_.clear();
    missed_ = 0;
    longest_pause_ns_ = 0;
    restarted_ = false;
  }

 private:
  [[nodiscard]] double age_us(double quantile) const {
    if (ages_ns_.empty()) return 0;
    const auto last = static_cast<double>(ages_ns_.size() - 1);
    return static_cast<double>(ages_ns_[static_cast<std::size_t>(quantile * last)]) / 1e3;
  }

  std::vector<std::int64_t> ages_ns_;
  std::uint64_t missed_ = 0;
  std::uint64_t last_sequence_ = 0;
  std::int64_t last_stamp_ns_ = 0;
  std::int64_t longest_pause_ns_ = 0;
  bool restarted_ = false;
};

}  // namespace orc::demo
