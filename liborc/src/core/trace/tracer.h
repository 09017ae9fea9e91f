// Traces this process: makes each call and logs what it returned.
#pragma once

#include <poll.h>

#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/expected.h"
#include "base/threads/pi_mutex.h"
#include "core/trace/interceptor.h"
#include "core/trace/trace_log.h"

namespace orc::detail {

class tracer final : public interceptor {
 public:
  [[nodiscard]] static expected<std::unique_ptr<tracer>> make(const std::string& path);

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
  tracer() = default;
  void note_participant(const participant& made);
  void add(wire::trace_kind kind, std::uint32_t number, const result& outcome) noexcept;
  void note_readiness() noexcept;
  [[nodiscard]] std::uint64_t note_type(const type_description& type);
  [[nodiscard]] std::uint32_t number(trace_number& of) noexcept;
  void warn(const std::string& text);

  std::unique_ptr<trace_log> log_;
  std::atomic<std::uint32_t> numbers_{0};
  std::atomic<unsigned> descriptor_count_{0};

  std::mutex working_;  // guards the next, and the thread of log_
  unsigned participants_ = 0;

  pi_mutex mutex_;  // guards the next two
  std::set<std::uint64_t> types_;
  std::vector<pollfd> descriptors_;  // that the program has, in the order of their ordinals

  std::mutex telling_;  // guards the rest
  struct listener {
    const participant* of;
    log_callback log;
  };
  std::list<listener> listeners_;
};

}  // namespace orc::detail
