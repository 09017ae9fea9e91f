// A call of a client, from its start to its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/process/fork_generation.h"
#include "base/threads/doorbell.h"
#include "orc/calls/call_error.h"
#include "orc/calls/raw_call.h"

namespace orc::detail {

class client_channel;
struct negotiated_types;

// Guarded by the channel's lock, except what is const. Without a channel it has ended, and belongs to its future.
class call_state {
 public:
  explicit call_state(std::shared_ptr<client_channel> by, monotonic::time_point until) noexcept
      : channel(std::move(by)), deadline(until) {}
  ~call_state();
  call_state(const call_state&) = delete;
  call_state& operator=(const call_state&) = delete;

  using callback = std::function<void(call_state&)>;  // when it has ended, without the lock

  // Makes the descriptor, if there is none, and returns it; -1: out of descriptors. It is readable when the call has
  // ended.
  [[nodiscard]] int open_event() noexcept;
  // Makes the descriptor, if there is one, readable.
  void alert() noexcept;
  // Makes it unreadable.
  void calm() noexcept;

  const std::shared_ptr<client_channel> channel;
  const monotonic::time_point deadline;
  const unsigned generation = fork_generation();

  std::uint64_t id = 0;                     // 0: not sent yet
  const negotiated_types* types = nullptr;  // while not sent
  std::vector<std::byte> unsent;            // the message, while not sent

  bool done = false;
  call_error error;
  call_bytes reply;
  std::optional<call_bytes> feedback;

  unsigned waiting = 0;   // threads in wait() that do not receive
  bool attended = false;  // ORC's thread receives for it
  doorbell ended;         // rings for the threads that wait: it has ended, or may receive
  int event = -1;         // eventfd
  std::vector<callback> on_end;
};

}  // namespace orc::detail
