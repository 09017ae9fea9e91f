// A client's view of its conversation with the server of a service: who the server is, which types it has accepted, and
// what there is to say next. A state machine without I/O, threads and clocks: client_channel tells it what happens and
// does what it answers. liborc/doc/design/calls.md has the why.
#pragma once

#include <cstdint>
#include <vector>

#include "base/clock.h"
#include "calls/server_check.h"

namespace orc::detail {

// Not thread-safe: the channel serialises.
class client_conversation {
 public:
  enum class verdict : std::uint8_t { none, accepted, refused };  // of the server, on a pair of types
  enum class end : std::uint8_t { none, link, bye, replaced, impostor, restart };
  // What to do now, in this order.
  struct actions {
    end ends = end::none;  // why all calls that were sent end
    bool check = false;    // ask the broker who answers (server_check), then call check_begun()
    bool greet = false;    // say hello for each pair of types without a verdict
    bool ask = false;      // say open_calls
    bool restart = false;  // begin again with topics of another id
  };

  // ---- the topics ----
  // They are new: no server knows them.
  void begin() noexcept;
  // They end.
  [[nodiscard]] actions leave() noexcept { return end_link(end::restart); }
  // Whether the restart that was asked for is still to come.
  [[nodiscard]] bool restarts() const noexcept { return restarts_; }
  [[nodiscard]] bool take_restart() noexcept;
  // Forgets why no server was reached so far.
  void forget_reasons() noexcept { is_unconfirmed_ = false; }

  // ---- what happens ----
  [[nodiscard]] actions take_welcome(std::uint64_t server, bool has_open_calls, monotonic::time_point now) noexcept;
  void check_begun() noexcept { checking_ = true; }
  // The broker's answer, or none. `connected`: the link from the server is up. check_ended() comes first in any case.
  void check_ended() noexcept { checking_ = false; }
  [[nodiscard]] actions take_check(server_check::answer::server found, bool connected) noexcept;
  [[nodiscard]] actions take_bye() noexcept { return is_linked_ ? end_link(end::bye) : actions{}; }
  // The link from the server is up, or not.
  [[nodiscard]] actions follow_link(bool connected) noexcept {
    return is_linked_ && !connected ? end_link(end::link) : actions{};
  }
  // Messages of the server did not arrive.
  [[nodiscard]] actions take_missed(bool has_open_calls) const noexcept {
    return {.ask = is_linked_ && has_open_calls};
  }

  // ---- types, by numbers from 1 ----
  [[nodiscard]] std::uint64_t add_types();
  // The answer to the hello `number`. 0: a refusal of all. True: it is the verdict on this pair now.
  [[nodiscard]] bool take_verdict(std::uint64_t pair, std::uint64_t number, verdict what) noexcept;
  [[nodiscard]] verdict verdict_on(std::uint64_t pair) const noexcept { return verdicts_[pair - 1]; }
  [[nodiscard]] bool has_accepted_any() const noexcept;
  [[nodiscard]] bool may_send(std::uint64_t pair) const noexcept {
    return is_linked_ && verdict_on(pair) == verdict::accepted;
  }

  // ---- ids of calls ----
  [[nodiscard]] std::uint64_t last_id() const noexcept { return last_id_; }
  std::uint64_t use_next_id() noexcept { return ++last_id_; }

  // Whether the service's own welcome came over the link that is up.
  [[nodiscard]] bool is_linked() const noexcept { return is_linked_; }
  // Whether a welcome came, but the broker has not said whether it was the service's.
  [[nodiscard]] bool is_unconfirmed() const noexcept { return is_unconfirmed_; }
  [[nodiscard]] bool is_checking() const noexcept { return checking_; }

 private:
  [[nodiscard]] actions end_link(end why) noexcept;
  void forget_verdicts() noexcept;

  bool is_linked_ = false;
  std::uint64_t server_ = 0;    // the number in its welcome
  bool knows_server_ = false;   // the broker named it as this client's
  std::uint64_t asked_of_ = 0;  // whom the check is about
  bool checking_ = false;
  bool is_unconfirmed_ = false;
  monotonic::time_point check_at_;  // not before
  bool restarts_ = false;
  std::uint64_t last_id_ = 0;
  std::vector<verdict> verdicts_;
};

}  // namespace orc::detail
