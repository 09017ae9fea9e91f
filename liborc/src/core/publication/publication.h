// The sending end of a topic: numbers the samples, sends each over every link, and keeps the last one for later
// readers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/threads/doorbell.h"
#include "base/threads/pi_mutex.h"
#include "core/broker/announcement.h"
#include "core/publication/interval_meter.h"
#include "core/publication/placement.h"
#include "core/trace/interceptor.h"
#include "orc/message.h"
#include "orc/options.h"
#include "orc/result.h"
#include "transport/sample_backlog.h"
#include "transport/transport.h"
#include "wire/described_type.h"

namespace orc::detail {

class publication {
 public:
  publication(std::string topic, topic_options options, std::shared_ptr<const transport_list> transports);

  // ---- users, any thread ----
  // stamp_ns 0: now.
  [[nodiscard]] result send(const void* data, std::size_t size, std::int64_t stamp_ns = 0) noexcept;
  [[nodiscard]] result send(message&& msg) noexcept;
  [[nodiscard]] result send(loan&& filled) noexcept;
  [[nodiscard]] orc::loan lend(std::size_t size) noexcept;
  [[nodiscard]] std::size_t readers() const noexcept;
  [[nodiscard]] result wait_readers(std::size_t count, std::chrono::nanoseconds timeout) noexcept;

  // ---- participant ----
  [[nodiscard]] const std::string& topic() const noexcept { return topic_; }
  [[nodiscard]] const wire::id& id() const noexcept { return id_; }
  // Nothing: untyped.
  [[nodiscard]] const std::shared_ptr<const described_type>& type() const noexcept { return type_; }
  [[nodiscard]] bool is_shared() const noexcept { return options_.shared; }
  [[nodiscard]] orc::detail::announcement& announcement() noexcept { return announcement_; }
  [[nodiscard]] trace_number& number() noexcept { return number_; }
  // Returns whether a later declaration has the same options. Those that it leaves at the default do not count.
  [[nodiscard]] bool was_made_with(const topic_options& again) const noexcept;
  // End the publication, in this order. end(): calls return errc::closed. farewell(): gives the last sample to readers
  // that are behind; false: none is. close(): closes the links. end_all does it for several, in a third of a second at
  // most.
  void end() noexcept;
  [[nodiscard]] bool farewell() noexcept;
  void close() noexcept;
  static void end_all(const std::vector<std::shared_ptr<publication>>& leaving) noexcept;

  // ---- housekeeping ----
  // Opens those links of `scope` that are not open yet. Fails when a link that was asked for cannot be opened; a later
  // call tries again.
  [[nodiscard]] result open(const network_scope& scope);
  [[nodiscard]] bool is_open() const noexcept { return opened_; }
  // Sets network_scope::addresses. True: the registration changed.
  [[nodiscard]] bool set_addresses(const std::vector<std::string>& addresses);
  // Closes the links that are not reachable at their endpoint any more; open() opens them anew. False: there are none.
  [[nodiscard]] bool close_outdated();
  // What the successful open() left out because this system does not support it; empty: nothing.
  [[nodiscard]] const std::string& left_out() const noexcept { return left_out_; }
  // Call it when open() failed. The next attempt follows after a pause that grows. True: the reason is a new one.
  [[nodiscard]] bool put_off(const error& why, monotonic::time_point now);
  [[nodiscard]] bool was_put_off() const noexcept { return !put_off_why_.empty(); }
  [[nodiscard]] monotonic::time_point next_attempt() const noexcept { return next_attempt_; }
  [[nodiscard]] wire::register_topic registration() const;
  [[nodiscard]] wire::publication_counters counters() noexcept;
  // Serves joins and repairs. Call it when one of the descriptors is readable, and about once a second.
  void service() noexcept;
  // When service() may be called again, unless a second has passed; the epoch: at any time.
  [[nodiscard]] monotonic::time_point resume() const noexcept { return resume_; }
  void append_fds(std::vector<int>& to) const;

 private:
  [[nodiscard]] transport_set open_transports() const noexcept;
  [[nodiscard]] publication_spec spec_at(const network_scope& scope) const;
  [[nodiscard]] sample_buffer lent(std::size_t size) noexcept;
  // The bytes are in `buffer`, or still in the caller's memory: `source`.
  [[nodiscard]] result publish(sample_buffer&& buffer, std::span<const std::byte> source = {},
                               std::int64_t stamp_ns = 0) noexcept;
  // Serves the links, and does one slice of a link's long work without the lock.
  unfinished serve_links() noexcept;
  // These need mutex_.
  void deliver(sample& fresh) noexcept;
  // In a buffer of its own, also when a link had it. Before any call of a link but commit().
  [[nodiscard]] sample* last() noexcept;
  void count(std::size_t size, std::int64_t sent_ns) noexcept;
  [[nodiscard]] result too_large(std::size_t size) const noexcept;

  const std::string topic_;
  const wire::id id_ = wire::id::random();
  const std::shared_ptr<const described_type> type_;
  const topic_options options_;  // without the type
  const std::shared_ptr<const transport_list> transports_;
  const unsigned generation_;
  orc::detail::announcement announcement_;
  trace_number number_{0};
  // Housekeeping thread only:
  bool opened_ = false;
  std::vector<std::string> addresses_;
  std::string left_out_;
  std::string put_off_why_;
  std::chrono::milliseconds pause_{0};
  monotonic::time_point next_attempt_;
  monotonic::time_point resume_;

  mutable pi_mutex mutex_;  // guards the links and the last sample
  const std::shared_ptr<sample_backlog> lacking_ = std::make_shared<sample_backlog>();
  const std::shared_ptr<doorbell> joined_ = std::make_shared<doorbell>();  // rung when there may be more readers
  std::vector<std::unique_ptr<publisher_link>> links_;
  std::size_t largest_ = SIZE_MAX;  // size that all of them take, in bytes
  sample last_;
  interval_meter intervals_;
  std::atomic<bool> closed_{false};

  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace orc::detail
