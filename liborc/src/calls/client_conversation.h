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
    bool ask = false;      // say open_calls: the answer says which calls are open, and whose it is
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
  [[nodiscard]] actions take_welcome(std::uint64_t server, monotonic::time_point now) noexcept;
  // Another message names its server, too. When is_linked() is false then, the message is not of a server that is
  // known.
  [[nodiscard]] actions take_name(std::uint64_t server, monotonic::time_point now) noexcept;
  void check_begun() noexcept { checking_ = true; }
  // How long to wait for the broker. Without its answer only a server that is known already can be trusted.
  [[nodiscard]] std::chrono::milliseconds check_patience() const noexcept {
    return std::chrono::milliseconds(knows_server_ && server_ == asked_of_ ? 250 : 2000);
  }
  // The broker's answer, or none. `connected`: the link from the server is up. check_ended() comes first in any case.
  void check_ended() noexcept { checking_ = false; }
  [[nodiscard]] actions take_check(server_check::answer::server found, bool connected,
                                   monotonic::time_point now) noexcept;
  [[nodiscard]] actions take_bye() noexcept { return is_linked_ ? end_link(end::bye) : actions{}; }
  // The link from the server is up, or not.
  [[nodiscard]] actions follow_link(bool connected) noexcept {
    return is_linked_ && !connected ? end_link(end::link) : actions{};
  }
  // Messages of the server did not arrive.
  [[nodiscard]] actions take_missed(bool has_open_calls) const noexcept {
    return {.ask = is_linked_ && has_open_calls};
  }
  // Nothing came for a moment. What was said may be lost, or the server may not know that this end lost the link: says
  // it again. `connected`: as above. `wanted`: calls wait for the server.
  [[nodiscard]] actions take_silence(bool connected, bool wanted, monotonic::time_point now) noexcept;

  // ---- types, by numbers from 1 ----
  // A new pair, for which hello is said now if is_linked().
  [[nodiscard]] std::uint64_t add_types(monotonic::time_point now);
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
  void greets(monotonic::time_point now) noexcept;
  void greets_again(monotonic::time_point now) noexcept;

  bool is_linked_ = false;
  std::uint64_t server_ = 0;    // the number of this conversation, which it names
  bool knows_server_ = false;   // the broker named it as this client's
  std::uint64_t asked_of_ = 0;  // whom the check is about
  bool checking_ = false;
  bool is_unconfirmed_ = false;
  // Not before:
  monotonic::time_point check_at_;
  monotonic::time_point ask_at_;
  monotonic::time_point greet_at_;
  monotonic::duration greet_pause_{};
  bool restarts_ = false;
  std::uint64_t last_id_ = 0;
  std::vector<verdict> verdicts_;
};

}  // namespace orc::detail
