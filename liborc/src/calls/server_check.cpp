#include "calls/server_check.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "orc/calls/quiet_thread.h"
#include "orc/directory.h"

namespace orc::detail {

namespace {

constexpr int attempts = 3;  // a broker that restarts between two questions names participants anew

[[nodiscard]] server_check::answer look_up(orc::directory& in, const std::string& service, const std::string& replies) {
  using server = server_check::answer::server;
  server_check::answer found;
  for (int n = 0; n < attempts; ++n) {
    topic_state served;
    topic_state answers;
    for (const auto& [name, state] : {std::pair(&service, &served), std::pair(&replies, &answers)}) {
      const result asked = in.describe(*name, *state);
      if (asked.code() == errc::unknown_topic || (asked && !state->publication)) return {.is = server::unpublished};
      if (!asked) return {.is = server::no_broker};
    }
    const participant_state& who = answers.publication->participant;
    if (who.id == served.publication->participant.id && !answers.shared) return {.is = server::same};
    found = {.is = server::other, .who = who.name + " (" + std::to_string(who.pid) + ")"};
  }
  return found;
}

}  // namespace

server_check::~server_check() {
  stop();
  if (stop_ >= 0) ::close(stop_);
}

void server_check::start(std::string broker, std::string service, std::string replies,
                         std::chrono::milliseconds patience, std::function<void(const answer&)> answered) {
  finish(thread_);
  if (stop_ < 0) stop_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  thread_ = start_quiet([broker = std::move(broker), service = std::move(service), replies = std::move(replies),
                         patience, answered = std::move(answered), stop = stop_]() noexcept {
    answer found;
    try {
      orc::directory in({.broker = broker, .broker_timeout = patience, .stop_fd = stop});
      if (!broker.empty()) found = look_up(in, service, replies);
    } catch (const std::exception&) {
      // Out of memory: as if no broker had answered.
    }
    answered(found);
  });
}

void server_check::stop() noexcept {
  const std::uint64_t one = 1;
  if (stop_ >= 0) (void)!::write(stop_, &one, sizeof one);
  finish(thread_);
  std::uint64_t events = 0;
  if (stop_ >= 0) (void)!::read(stop_, &events, sizeof events);
}

}  // namespace orc::detail
