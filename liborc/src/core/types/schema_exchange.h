// Types in the session with a broker: sends the schemas that the broker lacks, gets those of other participants'
// publications, and passes them to the subscriptions that wait for them. Reports mismatches to both ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "core/housekeeping/topic_lists.h"
#include "core/types/report_limit.h"
#include "core/types/schema_fetches.h"
#include "core/types/schema_uploads.h"
#include "core/types/type_checks.h"
#include "orc/log.h"

namespace orc::detail {

// Not thread-safe: the broker session owns it.
class schema_exchange {
 public:
  static constexpr int rest = 9;

  using log = std::function<void(log_level, const std::string&)>;

  explicit schema_exchange(log to) : log_(std::move(to)) {}

  // The outcomes of earlier comparisons.
  [[nodiscard]] type_checks& checks() noexcept { return checks_; }

  // The broker lacks the schema of this type of ours.
  void lacks(std::shared_ptr<const described_type> type, monotonic::time_point now);
  // The session with the broker begins: its answers to the declarations say what it lacks.
  void begin_again(monotonic::time_point now);

  void on_part(std::uint64_t request, wire::schema_part&& part, monotonic::time_point now);
  // These ignore requests that are not ours.
  void on_ack(std::uint64_t request, monotonic::time_point now);
  void on_error(std::uint64_t request, const wire::error& why, monotonic::time_point now);

  // A subscriber reports that a publication of ours has a type that it does not expect. The log gets what report_limit
  // allows; the rest is dropped.
  void on_mismatch(const wire::type_mismatch& report, monotonic::time_point now, const topic_lists& topics);

  // Compares a subscription's type with a schema that has come, and notes which schemas are needed. Reports mismatches
  // to the log. A publisher can make comparisons as long as it likes, and as many. So there is one per call, and none
  // for `rest` times as long as the last one took.
  void compare(monotonic::time_point now, topic_lists& topics);
  // Sends what is due.
  void step(monotonic::time_point now, const topic_lists& topics, const schema_fetches::send& to_broker);
  // When step() or compare() has something to do; time_point::max(): not without another call.
  [[nodiscard]] monotonic::time_point next() const noexcept;

 private:
  const log log_;
  schema_uploads uploads_;
  schema_fetches fetches_;
  type_checks checks_;
  monotonic::time_point next_comparison_;
  bool has_more_ = false;  // to compare
  bool has_reports_ = false;
  report_limit reports_;
};

}  // namespace orc::detail
