// A program's session with ORC: its topics by name, and the housekeeping.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/housekeeping/housekeeping.h"
#include "core/participant/components.h"
#include "core/participant/process.h"
#include "core/participant/topic_table.h"
#include "core/trace/interceptor.h"
#include "orc/options.h"
#include "orc/result.h"
#include "wire/name_space.h"

namespace orc::detail {

// Any thread.
class participant {
 public:
  explicit participant(participant_options options);
  // For a replay: what the constructor found then. Without housekeeping, so its topics get no links.
  explicit participant(result started, wire::name_space names = {}) noexcept;
  ~participant();
  participant(const participant&) = delete;
  participant& operator=(const participant&) = delete;

  // All names here are full ones: the public class resolves those of the program.
  [[nodiscard]] const wire::name_space& names() const noexcept { return names_; }

  [[nodiscard]] result register_topic(std::string_view topic, const topic_options& options);
  [[nodiscard]] result request_topic(std::string_view topic, const request_options& options);
  result unregister_topic(std::string_view topic);
  result release_topic(std::string_view topic);

  [[nodiscard]] std::shared_ptr<publication> publication_of(std::string_view topic) const noexcept;
  [[nodiscard]] std::shared_ptr<subscription> subscription_of(std::string_view topic) const noexcept;
  [[nodiscard]] std::string broker_endpoint() const;
  [[nodiscard]] const result& started() const noexcept { return started_; }
  [[nodiscard]] trace_number& number() const noexcept { return number_; }
  [[nodiscard]] detail::components& components() noexcept { return components_; }

  // For a replay: the tables' changes by the four calls above, without their checks.
  [[nodiscard]] std::shared_ptr<publication> restore_publication(std::string_view topic, const topic_options& options);
  [[nodiscard]] std::shared_ptr<subscription> restore_subscription(std::string_view topic,
                                                                   const request_options& options);
  void drop_publication(std::string_view topic) noexcept;
  void drop_subscription(std::string_view topic) noexcept;

  // True: a process made it and then forked this one.
  [[nodiscard]] bool forked() const noexcept { return generation_ != fork_generation(); }

 private:
  [[nodiscard]] bool alone() const noexcept;
  [[nodiscard]] result ready() const;
  [[nodiscard]] result outcome_of(const announcement& announced) const;
  // Null: another thread did it.
  std::shared_ptr<const announcement> forget(topic_table::entry& entry, const std::shared_ptr<publication>& p);
  void forget(topic_table::entry& entry, const std::shared_ptr<subscription>& s);

  participant_options options_;
  wire::name_space names_;
  const unsigned generation_;
  result started_;
  std::shared_ptr<process> process_;
  std::shared_ptr<const transport_list> transports_;
  std::unique_ptr<housekeeping> housekeeping_;
  std::mutex setup_mutex_;  // one set-up call at a time changes the table
  topic_table topics_;
  mutable trace_number number_{0};
  detail::components components_{*this};
};

}  // namespace orc::detail
