// The calls of a trace by order, thread and topic: what a replay follows, and what `orc replay` checks beforehand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/expected.h"
#include "wire/trace_reader.h"

namespace orc::wire {

class trace_index {
 public:
  struct call {
    std::uint64_t position = 0;  // in the file
    std::int64_t at_ns = 0;      // monotonic clock
    std::uint32_t thread = 0;    // index in threads()
    std::uint32_t number = 0;
    trace_kind kind{};
    std::uint8_t status = 0;
  };
  struct endpoint {
    std::string topic;
    std::uint64_t type = 0;  // its hash; 0: untyped
  };

  // bad_argument: it has more threads than a process can have, or was changed meanwhile.
  [[nodiscard]] static detail::expected<trace_index> make(trace_reader& from);

  [[nodiscard]] const std::vector<call>& calls() const noexcept { return calls_; }
  // The indices in calls() of each thread's calls. Without the ends of participants, which have no order: a garbage
  // collector may decide when they come.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& threads() const noexcept { return threads_; }
  // Of a call that names its topic, because its participant, publication or subscription has no number before it; null:
  // it is no such call. Empty for the call that makes a participant.
  [[nodiscard]] const std::string* topic_of(std::uint32_t index) const noexcept;
  // Of a publication or subscription; null: the trace does not declare it.
  [[nodiscard]] const endpoint* find(std::uint32_t number) const noexcept;
  // Position of the event with the type of this hash.
  [[nodiscard]] std::optional<std::uint64_t> type(std::uint64_t hash) const noexcept;
  // Which subscriptions with a descriptor had a sample before this receive; null: this is not known.
  [[nodiscard]] bool was_readable(std::uint32_t receive, std::uint32_t number) const noexcept;
  // "recv on arm/state".
  [[nodiscard]] std::string text_of(const call& which) const;

  // What a replay cannot reproduce, in one sentence each.
  [[nodiscard]] const std::vector<std::string>& obstacles() const noexcept { return obstacles_; }
  // Whether all participants ended before the trace does.
  [[nodiscard]] bool ended() const noexcept { return living_ == 0; }

 private:
  // False: the reader's file was changed.
  [[nodiscard]] bool add(const trace_entry& entry, const trace_reader& from);
  void look_for_obstacles();
  void look_for_shared_topics();
  void look_for_equal_threads();

  std::vector<call> calls_;
  std::vector<std::vector<std::uint32_t>> threads_;
  std::unordered_map<std::uint32_t, std::uint32_t> thread_of_;  // ordinal: index
  std::unordered_map<std::uint32_t, std::string> topics_;       // by index in calls_
  std::unordered_map<std::uint32_t, endpoint> endpoints_;       // by number
  std::unordered_map<std::uint64_t, std::uint64_t> types_;      // hash: position
  std::unordered_map<std::uint32_t, std::uint64_t> readable_;   // index of a receive: bits
  std::unordered_map<std::uint32_t, std::uint64_t> bit_of_;     // subscription: ordinal of its descriptor
  std::unordered_map<std::uint32_t, std::uint64_t> pending_;    // thread ordinal: bits for its next receive
  std::vector<std::string> unseen_;
  std::vector<std::string> obstacles_;
  std::int64_t living_ = 0;  // participants
};

}  // namespace orc::wire
