// Looks why a broker that the user named does not answer: libzmq does not report why a connection fails.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/network/endpoint_check.h"

namespace orc::detail {

// Not thread-safe: the housekeeping owns it. Connects to the endpoints on a thread of its own.
class silence_check {
 public:
  // Time from the first step() of a silence to the first check, because a broker may answer at once.
  static constexpr auto first_after = std::chrono::milliseconds(200);
  static constexpr auto interval = std::chrono::milliseconds(5000);  // between two checks

  // `endpoints`: the named places; none: there is nothing to check.
  explicit silence_check(std::vector<std::string> endpoints) : endpoints_(std::move(endpoints)) {}

  // Call it while no broker answers. Begins a check when one is due. True: a check has ended.
  [[nodiscard]] bool step(monotonic::time_point now);
  // True from the beginning of a check until step() reports its end.
  [[nodiscard]] bool is_checking() const noexcept { return check_.has_value(); }
  // True while no endpoint has answered, and one of them may do so after a longer round trip.
  [[nodiscard]] bool is_patient() const noexcept { return patient_; }
  // When step() is due, while no broker answers.
  [[nodiscard]] monotonic::time_point next_step(monotonic::time_point now) const noexcept;
  // A broker answers: drops the findings, also those of a check that still runs.
  void end() noexcept;
  // The problem of each endpoint at the last check, empty where there is none. No elements before the first check.
  [[nodiscard]] const std::vector<std::string>& findings() const noexcept { return findings_; }
  // The longest round trip to an endpoint at which a program listens; 0: unknown.
  [[nodiscard]] std::chrono::milliseconds round_trip() const noexcept { return round_trip_; }

 private:
  void begin(monotonic::time_point now);
  void take(const std::vector<endpoint_finding>& found, monotonic::time_point now);

  const std::vector<std::string> endpoints_;
  std::optional<endpoint_check> check_;  // runs, or has a result to read
  std::optional<monotonic::time_point> next_;
  std::vector<std::string> findings_;
  bool patient_ = false;  // the check waits for a slow network
  std::chrono::milliseconds round_trip_{0};
};

}  // namespace orc::detail
