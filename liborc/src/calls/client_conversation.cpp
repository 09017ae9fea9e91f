#include "calls/client_conversation.h"

#include <algorithm>
#include <utility>

namespace orc::detail {

namespace {

constexpr auto between_checks = std::chrono::milliseconds(50);

}  // namespace

void client_conversation::begin() noexcept {
  last_id_ = 0;
  knows_server_ = false;
  forget_verdicts();
}

bool client_conversation::take_restart() noexcept { return std::exchange(restarts_, false); }

// The server sends it when its subscription is up, and again while it has not heard hello.
client_conversation::actions client_conversation::take_welcome(std::uint64_t server, bool has_open_calls,
                                                               monotonic::time_point now) noexcept {
  // After an outage of the way to the server, some requests may have been lost.
  if (is_linked_ && server_ == server) return {.greet = true, .ask = has_open_calls};
  if (checking_ || restarts_ || now < check_at_) return {};
  check_at_ = now + between_checks;
  asked_of_ = server;
  return {.check = true};
}

client_conversation::actions client_conversation::take_check(server_check::answer::server found,
                                                             bool connected) noexcept {
  using server = server_check::answer::server;
  if (found == server::other) {
    actions now = is_linked_ ? end_link(end::impostor) : actions{};
    now.restart = restarts_ = true;
    return now;
  }
  // Without a broker no other program can have taken its place.
  const bool known = found == server::no_broker && knows_server_ && server_ == asked_of_;
  is_unconfirmed_ = found != server::same && !known;
  if (is_unconfirmed_ || !connected) return {};
  actions now = is_linked_ ? end_link(end::replaced) : actions{};
  forget_verdicts();
  is_linked_ = knows_server_ = true;
  server_ = asked_of_;
  now.greet = true;
  return now;
}

client_conversation::actions client_conversation::end_link(end why) noexcept {
  is_linked_ = false;
  forget_verdicts();
  return {.ends = why};
}

void client_conversation::forget_verdicts() noexcept { std::ranges::fill(verdicts_, verdict::none); }

std::uint64_t client_conversation::add_types() {
  verdicts_.push_back(verdict::none);
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
