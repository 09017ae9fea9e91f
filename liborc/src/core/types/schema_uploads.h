// Sends the schemas that the broker lacks, in parts: one part of one schema at a time (schemas/PROTOCOL.md, "Types").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "wire/described_type.h"

namespace orc::detail {

// Not thread-safe: the broker session owns it. There are never more of them than types of topics.
class schema_uploads {
 public:
  // A part that is not confirmed is repeated, at intervals that double. A broker that answers slowly gets more time.
  static constexpr auto repeat_after = std::chrono::milliseconds(300);
  static constexpr auto max_repeat_interval = std::chrono::milliseconds(2400);
  // A broker without room is asked again, as long as a topic has the type.
  static constexpr auto min_pause = std::chrono::milliseconds(1000);
  static constexpr auto max_pause = std::chrono::milliseconds(30000);

  // A broker that refuses the parts of a schema this often, and takes no more of it, never gets it.
  static constexpr int max_refusals = 3;

  // Returns the request id; nothing: the broker takes nothing now.
  using send = std::function<std::optional<std::uint64_t>(wire::body)>;
  // Whether a topic has the type with this hash.
  using is_used = std::function<bool(std::uint64_t)>;

  // The broker lacks the schema of this type.
  void add(std::shared_ptr<const described_type> type, monotonic::time_point now);
  // The broker says anew what it lacks.
  void forget_all() noexcept { all_.clear(); }

  // Sends the part that is due.
  void step(monotonic::time_point now, const is_used& used, const send& to_broker);
  // The broker confirmed a request; others than ours are ignored.
  void on_ack(std::uint64_t request, monotonic::time_point now);
  // The broker refused a request. Returns what the user should learn; empty: nothing.
  [[nodiscard]] std::string on_error(std::uint64_t request, const wire::error& why, monotonic::time_point now);
  // When step() has something to do; time_point::max(): not without another call.
  [[nodiscard]] monotonic::time_point next() const noexcept;

 private:
  // The answers to older copies of a part count no more.
  static constexpr std::size_t max_copies = 16;

  struct copy {
    std::uint64_t request = 0;
    monotonic::time_point sent;
  };
  struct upload {
    std::shared_ptr<const described_type> type;
    std::size_t offset = 0;      // of the next part
    std::size_t furthest = 0;    // offset so far
    std::vector<copy> copies;    // of the part that waits for its answer, in the order in which they were sent
    monotonic::time_point next;  // when to send it, or to send it again
    monotonic::duration interval = repeat_after;
    std::chrono::milliseconds pause = min_pause;
    int refusals = 0;  // since it was furthest
  };

  [[nodiscard]] bool is_under_way() const noexcept { return !all_.empty() && !all_.front().copies.empty(); }
  // The copy of the part under way that went with this request; null: another part's, or none of ours.
  [[nodiscard]] const copy* find_copy(std::uint64_t request) const noexcept;
  void put_off(monotonic::time_point now);
  [[nodiscard]] bool choose(monotonic::time_point now);

  std::vector<upload> all_;                            // the first is the one under way
  monotonic::duration first_interval_ = repeat_after;  // of the next part
};

}  // namespace orc::detail
