#include "calls/client_conversation.h"

#include <algorithm>
#include <utility>

namespace orc::detail {

namespace {

constexpr auto between_checks = std::chrono::milliseconds(50);
constexpr auto between_questions = std::chrono::milliseconds(100);
// Hello may be large, and the path slow. But when the path is back after an outage, it is due soon.
constexpr auto least_between_hellos = std::chrono::milliseconds(200);
constexpr auto most_between_hellos = std::chrono::milliseconds(1000);

}  // namespace

void client_conversation::begin() noexcept {
  last_id_ = 0;
  knows_server_ = false;
  forget_verdicts();
}

bool client_conversation::take_restart() noexcept { return std::exchange(restarts_, false); }

// The server sends it when its subscription is up, and again until it hears from this client.
client_conversation::actions client_conversation::take_welcome(std::uint64_t server,
                                                               monotonic::time_point now) noexcept {
  actions next = take_name(server, now);
  if (!is_linked_) return next;
  // Also after an outage of the way to the server: some requests may have been lost.
  next.ask = true;
  // While the first hello is on a slow way, many welcomes come.
  next.greet = now >= greet_at_;
  if (next.greet) greets_again(now);
  return next;
}

// Each program that answers draws a number for this conversation. So another number is another conversation, with
// nothing of the one before: also when the same server began anew, because the client was gone for a while.
client_conversation::actions client_conversation::take_name(std::uint64_t server, monotonic::time_point now) noexcept {
  if ((is_linked_ && server_ == server) || server == 0) return {};  // 0: of a server that does not name itself
  actions next = is_linked_ ? end_link(end::replaced) : actions{};
  if (checking_ || restarts_ || now < check_at_) return next;
  check_at_ = now + between_checks;
  asked_of_ = server;
  next.check = true;
  return next;
}

client_conversation::actions client_conversation::take_check(server_check::answer::server found, bool connected,
                                                             monotonic::time_point now) noexcept {
  using server = server_check::answer::server;
  if (found == server::other) {
    actions next = is_linked_ ? end_link(end::impostor) : actions{};
    next.restart = restarts_ = true;
    return next;
  }
  // Without a broker no other program can have taken its place.
  const bool known = found == server::no_broker && knows_server_ && server_ == asked_of_;
  is_unconfirmed_ = found != server::same && !known;
  if (is_unconfirmed_ || !connected) return {};
  forget_verdicts();
  is_linked_ = knows_server_ = true;
  server_ = asked_of_;
  greets(now);
  return {.greet = true};
}

client_conversation::actions client_conversation::take_silence(bool connected, bool wanted,
                                                               monotonic::time_point now) noexcept {
  if (!connected || restarts_) return {};
  if (is_linked_) {
    if (now < greet_at_ || std::ranges::find(verdicts_, verdict::none) == verdicts_.end()) return {};
    greets_again(now);
    return {.greet = true};
  }
  if (!wanted || checking_ || now < ask_at_) return {};
  ask_at_ = now + between_questions;
  return {.ask = true};
}

client_conversation::actions client_conversation::end_link(end why) noexcept {
  is_linked_ = false;
  forget_verdicts();
  return {.ends = why};
}

void client_conversation::forget_verdicts() noexcept { std::ranges::fill(verdicts_, verdict::none); }

void client_conversation::greets(monotonic::time_point now) noexcept {
  greet_pause_ = least_between_hellos;
  greet_at_ = now + greet_pause_;
}

void client_conversation::greets_again(monotonic::time_point now) noexcept {
  greet_pause_ = std::min<monotonic::duration>(2 * greet_pause_, most_between_hellos);
  greet_at_ = now + greet_pause_;
}

std::uint64_t client_conversation::add_types(monotonic::time_point now) {
  verdicts_.push_back(verdict::none);
  greets(now);
  return verdicts_.size();
}

bool client_conversation::take_verdict(std::uint64_t pair, std::uint64_t number, verdict what) noexcept {
  if (!is_linked_ || verdict_on(pair) == verdict::accepted) return false;
  if (pair != number && !(number == 0 && what == verdict::refused)) return false;
  verdicts_[pair - 1] = what;
  return true;
}

bool client_conversation::has_accepted_any() const noexcept {
  return is_linked_ && std::ranges::find(verdicts_, verdict::accepted) != verdicts_.end();
}

}  // namespace orc::detail
