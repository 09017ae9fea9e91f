// Takes the calls of the public classes while the process is traced or replayed. Otherwise there is none, and each
// public call looks at one pointer.
//
// It belongs to the process, not to a participant: the order of the calls of all participants and threads is what makes
// a program repeatable, and some calls (message::age_ns) know no participant. So it is one of liborc's few globals.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orc/message.h"
#include "orc/options.h"
#include "orc/result.h"
#include "orc/subscriber.h"
#include "transport/transport.h"

namespace orc::detail {

class participant;
class publication;
class subscription;

// A number in the trace, of a participant, publication or subscription. 0: none yet.
using trace_number = std::atomic<std::uint32_t>;

// Any thread.
class interceptor {
 public:
  // Null: neither traced nor replayed; also in a child of fork().
  [[nodiscard]] static interceptor* current() noexcept { return in_use.load(std::memory_order_acquire); }
  // The first call looks at ORC_TRACE and ORC_REPLAY.
  static void start();
  // The same before a participant is made. Tells what the user should know, as tell() does.
  static void start(const log_callback& log);
  // Why this process must not make participants: it is a child of a replayed one, which would meet the real world.
  [[nodiscard]] static std::optional<error> refusal();

  virtual ~interceptor() = default;
  interceptor(const interceptor&) = delete;
  interceptor& operator=(const interceptor&) = delete;

  // ---- participants ----
  [[nodiscard]] virtual std::unique_ptr<participant> make_participant(participant_options options) = 0;
  virtual void end(std::unique_ptr<participant> ended) noexcept = 0;
  [[nodiscard]] virtual result register_topic(participant&, std::string_view topic, const topic_options&) = 0;
  [[nodiscard]] virtual result request_topic(participant&, std::string_view topic, const request_options&) = 0;
  [[nodiscard]] virtual result unregister_topic(participant&, std::string_view topic) = 0;
  [[nodiscard]] virtual result release_topic(participant&, std::string_view topic) = 0;
  [[nodiscard]] virtual std::string broker_endpoint(const participant&) = 0;

  // ---- receiving ----
  [[nodiscard]] virtual message recv(subscription&, std::chrono::nanoseconds timeout, pick which) noexcept = 0;
  [[nodiscard]] virtual int fd(subscription&) noexcept = 0;
  [[nodiscard]] virtual bool connected(subscription&) noexcept = 0;
  [[nodiscard]] virtual result wait_connected(subscription&, std::chrono::nanoseconds timeout) noexcept = 0;
  [[nodiscard]] virtual result check_type(subscription&) noexcept = 0;
  [[nodiscard]] virtual link_info link(subscription&) = 0;

  // ---- sending ----
  [[nodiscard]] virtual result send(publication&, const void* data, std::size_t size,
                                    std::int64_t stamp_ns) noexcept = 0;
  [[nodiscard]] virtual result send(publication&, message&&) noexcept = 0;
  [[nodiscard]] virtual result send(publication&, loan&&) noexcept = 0;
  [[nodiscard]] virtual loan lend(publication&, std::size_t size) noexcept = 0;
  [[nodiscard]] virtual std::size_t readers(publication&) noexcept = 0;
  [[nodiscard]] virtual result wait_readers(publication&, std::size_t count,
                                            std::chrono::nanoseconds timeout) noexcept = 0;

  // ---- clocks ----
  [[nodiscard]] virtual std::int64_t age_ns(std::int64_t stamp_ns) noexcept = 0;
  [[nodiscard]] virtual std::int64_t monotonic_ns() noexcept = 0;

  // A call whose result is not traced, such as "directory::topics". False: it cannot be made, because it is replayed.
  [[nodiscard]] virtual bool unseen(std::string_view call) noexcept = 0;

 protected:
  interceptor() = default;
  // Through the log. Without one, a warning goes to stderr: the user asked for a trace, and would miss it too late.
  static void tell(const log_callback& log, log_level level, const std::string& text);

 private:
  struct starter;
  static std::atomic<interceptor*> in_use;
};

}  // namespace orc::detail
