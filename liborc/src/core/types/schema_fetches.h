// Gets schemas of other participants' types from the broker, which may not have them yet. One question at a time
// (schemas/PROTOCOL.md, "Types").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "wire/described_type.h"

namespace orc::detail {

// Not thread-safe: the broker session owns it. It does not trust the broker: a description counts only when it has the
// hash. It holds at most one complete schema and one incomplete one, and one question per type that is wanted.
class schema_fetches {
 public:
  // A question without an answer is repeated, at intervals that double.
  static constexpr auto repeat_after = std::chrono::milliseconds(300);
  static constexpr auto max_repeat_interval = std::chrono::milliseconds(2400);
  // A schema that the broker lacks is asked for again, because the publisher may be sending it.
  static constexpr auto min_pause = std::chrono::milliseconds(100);
  static constexpr auto max_pause = std::chrono::milliseconds(1000);

  // Returns the request id; nothing: the broker takes nothing now.
  using send = std::function<std::optional<std::uint64_t>(wire::body)>;

  // Asks for the schema of this type from now on, until forget_unwanted(). Returns the whole description once it is
  // known; null: not yet. Valid until the type is forgotten. While a description is known, no other schema is fetched.
  [[nodiscard]] const type_description* want(const wire::type_reference& type, monotonic::time_point now);
  // The description was used. It is forgotten unless it is wanted again before forget_unwanted().
  void release(const wire::type_reference& type) noexcept;
  // Forgets the types that were not wanted since the last call.
  void forget_unwanted();
  // The answers to earlier questions are lost: asks again from the beginning of each schema.
  void begin_again(monotonic::time_point now);

  // Sends the question that is due.
  void step(monotonic::time_point now, const send& to_broker);
  void on_part(std::uint64_t request, wire::schema_part&& part, monotonic::time_point now);
  // The broker has no answer to a question; other requests are none of ours.
  void on_error(std::uint64_t request, monotonic::time_point now);
  // When step() has something to do; time_point::max(): not without another call.
  [[nodiscard]] monotonic::time_point next() const noexcept;

 private:
  struct fetch {
    std::string bytes;  // of the schema, so far
    bool is_wanted = true;
    monotonic::time_point next;  // when to begin
    std::chrono::milliseconds pause = min_pause;
    std::optional<type_description> found;
  };

  // Types that claim the same hash are different ones, until the hash of one is verified.
  struct order {
    bool operator()(const wire::type_reference& a, const wire::type_reference& b) const noexcept;
  };

  [[nodiscard]] fetch* asked() noexcept;
  [[nodiscard]] bool has_found() const noexcept;
  void choose(monotonic::time_point now);
  void put_off(fetch& failed, monotonic::time_point now);
  static void complete(const wire::type_reference& type, fetch& all_there);

  std::map<wire::type_reference, fetch, order> all_;
  std::optional<wire::type_reference> asked_;  // the one that is being fetched
  std::optional<std::uint64_t> request_;       // of the question; nothing: it is not sent
  monotonic::time_point ask_at_;
  std::chrono::milliseconds interval_ = repeat_after;
};

}  // namespace orc::detail
