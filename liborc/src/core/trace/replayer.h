// Replays a trace in this process: each call returns what it returned then, and each sent sample is compared. There is
// no broker and there are no links. `orc replay` starts the program and is told what differs.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/trace/interceptor.h"
#include "core/trace/replay_turns.h"

namespace orc::detail {

// After the end of the trace, or a difference, all calls return errc::closed.
class replayer final : public interceptor {
 public:
  // Also when the replay cannot begin: then participants fail with the reason.
  [[nodiscard]] static std::unique_ptr<replayer> make(const std::string& path, const std::string& control);

  std::unique_ptr<participant> make_participant(participant_options options) override;
  void end(std::unique_ptr<participant> ended) noexcept override;
  result register_topic(participant&, std::string_view topic, const topic_options&) override;
  result request_topic(participant&, std::string_view topic, const request_options&) override;
  result unregister_topic(participant&, std::string_view topic) override;
  result release_topic(participant&, std::string_view topic) override;
  std::string broker_endpoint(const participant&) override;

  message recv(subscription&, std::chrono::nanoseconds timeout, pick which) noexcept override;
  int fd(subscription&) noexcept override;
  bool connected(subscription&) noexcept override;
  result wait_connected(subscription&, std::chrono::nanoseconds timeout) noexcept override;
  result check_type(subscription&) noexcept override;
  link_info link(subscription&) override;

  result send(publication&, const void* data, std::size_t size, std::int64_t stamp_ns) noexcept override;
  result send(publication&, message&&) noexcept override;
  result send(publication&, loan&&) noexcept override;
  loan lend(publication&, std::size_t size) noexcept override;
  std::size_t readers(publication&) noexcept override;
  result wait_readers(publication&, std::size_t count, std::chrono::nanoseconds timeout) noexcept override;

  std::int64_t age_ns(std::int64_t stamp_ns) noexcept override;
  std::int64_t monotonic_ns() noexcept override;
  bool unseen(std::string_view call) noexcept override;

 private:
  replayer() = default;
  // Of calls that return a code only.
  [[nodiscard]] result outcome_of(const replay_turns::wanted& call);
  [[nodiscard]] result compare(publication& to, std::span<const std::byte> bytes);

  result started_;  // why the replay cannot begin
  replay_turns turns_;
};

}  // namespace orc::detail
