// One call of a client of orc-web, from its request to its reply.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "orc/calls.h"
#include "orc/participant.h"
#include "orc/types/decoder.h"
#include "tools/web/memory_budget.h"
#include "tools/web/services/service_follower.h"

namespace orc::web {

inline constexpr std::size_t max_called_reply_bytes = std::size_t{1} << 20;
inline constexpr std::string_view json_encoding = "json";

// What a client wants to call.
struct call_order {
  std::uint64_t ticket = 0;  // the client's own; another one for each call
  std::shared_ptr<const shown_service> service = {};
  // "json": the request becomes one of the service's type, and the reply JSON. Otherwise the encoding of the type.
  std::string encoding = {};
  std::string request = {};
  std::chrono::nanoseconds deadline = {};
  std::shared_ptr<const void> share = {};  // of live_services::max_bytes
};

struct call_answer {
  enum class kind : std::uint8_t { feedback, reply, error };

  std::uint64_t ticket = 0;
  kind what = kind::error;
  std::string encoding = {};               // of a reply
  std::string data = {};                   // the reply or feedback; of an error, what is wrong
  std::shared_ptr<const void> share = {};  // of live_services::max_bytes
};

// A thread at a time. Destroying it cancels the call.
class open_call {
 public:
  // Never waits. Nothing: `problem` says why there is no call.
  [[nodiscard]] static std::optional<open_call> start(participant& by, const call_order& order, std::string& problem);

  // Readable when there may be something to take; -1: none is left.
  [[nodiscard]] int fd() { return call_.fd(); }
  // Nothing: there is no new feedback, which is shown as text.
  [[nodiscard]] std::optional<std::string> feedback();
  void cancel() noexcept { call_.cancel(); }
  // Whether the call has ended; never waits.
  [[nodiscard]] bool ended() { return call_.wait(std::chrono::steady_clock::now()); }
  // After ended(): what the client is told. `budget`: where the memory of the answer comes from.
  [[nodiscard]] call_answer take(std::uint64_t ticket, memory_budget& budget);

 private:
  open_call() = default;

  std::shared_ptr<const shown_service> service_;
  std::string encoding_;
  std::unique_ptr<types::decoder> reply_;  // null: the bytes as they are
  detail::raw_call call_;
};

}  // namespace orc::web
