// What a list of latencies comes down to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace orc::bench {

// All in µs.
struct summary {
  std::size_t count = 0;
  double mean = 0;
  double min = 0;
  double p25 = 0;
  double p50 = 0;
  double p75 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
  // The range that holds 99.3% of all measurements (ORC paper, Figure 3), and some of what lies outside.
  double whisker_low = 0;
  double whisker_high = 0;
  std::vector<double> outliers;
};

inline constexpr std::size_t max_outliers = 200;

// Nearest rank; `sorted` is not empty.
template <class Number>
Number quantile(const std::vector<Number>& sorted, double q) {
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  const auto index = static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Samples outside the whiskers, evenly thinned to max_outliers; the extremes are always among them.
inline std::vector<double> pick_outliers(const std::vector<std::int64_t>& sorted, std::int64_t low, std::int64_t high,
                                         double us) {
  std::vector<double> outside;
  for (const std::int64_t value : sorted) {
    if (value < low || value > high) outside.push_back(static_cast<double>(value) * us);
  }
  if (outside.size() <= max_outliers) return outside;
  std::vector<double> picked;
  picked.reserve(max_outliers);
  for (std::size_t i = 0; i < max_outliers; ++i) {
    picked.push_back(outside[i * (outside.size() - 1) / (max_outliers - 1)]);
  }
  return picked;
}

// Sorts `ns`. `scale` 0.5 turns round trips into the one-way figures of the paper.
inline summary summarize(std::vector<std::int64_t>& ns, double scale = 1.0) {
  summary s;
  s.count = ns.size();
  if (ns.empty()) return s;
  std::sort(ns.begin(), ns.end());
  const double us = scale / 1000.0;
  const auto at = [&](double q) { return static_cast<double>(quantile(ns, q)) * us; };
  s.mean = std::accumulate(ns.begin(), ns.end(), 0.0) / static_cast<double>(ns.size()) * us;
  s.min = static_cast<double>(ns.front()) * us;
  s.p25 = at(0.25);
  s.p50 = at(0.50);
  s.p75 = at(0.75);
  s.p90 = at(0.90);
  s.p99 = at(0.99);
  s.p999 = at(0.999);
  s.max = static_cast<double>(ns.back()) * us;
  const std::int64_t low = quantile(ns, 0.0035);
  const std::int64_t high = quantile(ns, 0.9965);
  s.whisker_low = static_cast<double>(low) * us;
  s.whisker_high = static_cast<double>(high) * us;
  s.outliers = pick_outliers(ns, low, high, us);
  return s;
}

}  // namespace orc::bench
