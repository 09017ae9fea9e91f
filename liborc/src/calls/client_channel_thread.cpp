// The channel's thread: makes the connection, ends calls at their deadlines, and receives for calls that no thread
// waits for but someone wants to hear of.
#include <algorithm>
#include <random>
#include <system_error>

#include "calls/client_channel.h"
#include "core/participant/components.h"
#include "orc/calls.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

constexpr auto unused_after = std::chrono::seconds(30);
constexpr auto between_attempts = std::chrono::milliseconds(200);
constexpr int attending_slice_ms = 20;
// Requests, cancellations and acknowledgements of as many calls as can be open; and replies with two feedbacks each.
constexpr std::size_t reply_depth = 4 * max_open_calls;
constexpr std::size_t held_messages = 60;

[[nodiscard]] std::uint64_t random_id() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

}  // namespace

void client_channel::start_thread() {
  finish(thread_);
  impostor_.clear();
  other_version_ = 0;
  conversation_.forget_reasons();
  running_ = true;
  try {
    thread_ = start_quiet([this] { run(); });
  } catch (...) {
    running_ = false;
    throw;
  }
}

void client_channel::run() noexcept {
  lock_type lock(mutex_);
  do {
    connect(lock);
    attend(lock);
    send(call_kind::bye, 0);
    act(conversation_.leave());
    requests_ = {};
    replies_ = {};
    link_.reset();
    const std::uint64_t client = client_;
    lock.unlock();
    (void)participant_.unregister_topic(call_topic(service_, client));
    (void)participant_.release_topic(reply_topic(service_, client));
    lock.lock();
    run_callbacks(lock);
    if (conversation_.take_restart()) {
      const auto again = monotonic::now() + between_attempts;
      while (!stopping_ && monotonic::now() < again) rest(lock, again);
    }
  } while (!stopping_ && is_wanted());
  running_ = false;
}

// Registering may wait long for a broker, so a thread of its own does it: this one ends calls at their deadlines.
void client_channel::connect(lock_type& lock) {
  while (!stopping_) {
    connecting_ = true;
    client_ = random_id();
    std::thread setting_up;
    try {
      setting_up = start_quiet([this, client = client_] { try_set_up(client); });
    } catch (const std::system_error& problem) {
      connecting_ = false;
      set_up_ = result(errc::system_error, std::string("cannot start a thread: ") + problem.what());
    }
    while (connecting_) rest(lock, monotonic::time_point::max());
    lock.unlock();
    finish(setting_up);
    lock.lock();
    const result made = set_up_.value_or(errc::no_broker);
    if (made || made.code() == errc::no_broker) return;
    if (made.code() == errc::bad_name) end_all({.code = call_errc::bad_argument, .text = made.error().message()});
    const auto again = monotonic::now() + between_attempts;
    while (!stopping_ && monotonic::now() < again) rest(lock, again);
  }
}

// Waits until then, a deadline or a ring, and ends what is late.
void client_channel::rest(lock_type& lock, monotonic::time_point until) {
  end_late(monotonic::now());
  run_callbacks(lock);
  const auto ticket = bell_.ticket();
  if (!callbacks_.empty()) return;
  sleeps_until_ = std::min(next_deadline(), until);
  const auto wake_at = sleeps_until_;
  lock.unlock();
  bell_.wait(ticket, deadline(wake_at));
  lock.lock();
}

void client_channel::try_set_up(std::uint64_t client) noexcept {
  result made;
  try {
    made = set_up(client);
  } catch (const std::bad_alloc&) {
    made = errc::no_memory;
  }
  const lock_type lock(mutex_);
  set_up_ = made;
  connecting_ = false;
  bell_.ring();
  progress_.ring();
}

result client_channel::set_up(std::uint64_t client) {
  const std::string to = call_topic(service_, client);
  const std::string from = reply_topic(service_, client);
  // In this order: until the topic of the requests is registered, no other program learns the id, and can register it.
  publisher requests = participant_.register_topic(to, {.keep_last = false});
  if (!requests) return requests.result();
  {
    const lock_type lock(mutex_);
    if (stopping_) {
      (void)participant_.unregister_topic(to);
      return errc::closed;
    }
  }
  subscriber replies =
      participant_.request_topic(from, {.conflate = 0, .depth = reply_depth, .max_messages = held_messages});
  if (!replies) {
    (void)participant_.unregister_topic(to);
    return replies.result();
  }
  const lock_type lock(mutex_);
  requests_ = std::move(requests);
  replies_ = std::move(replies);
  link_ = components::watched(participant_, from);
  conversation_.begin();
  for (call_state* const waiter : waiters_) waiter->ended.ring();
  return requests_.result();
}

void client_channel::attend(lock_type& lock) {
  while (!stopping_) {
    const auto now = monotonic::now();
    end_late(now);
    run_callbacks(lock);
    if (stopping_ || conversation_.restarts()) return;
    if (open_.empty() && unsent_.empty() && wait_for_service_ == 0 && now >= last_used_ + unused_after) return;
    if (!reading_ && waiters_.empty() && is_needed()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_deadline() - now).count();
      (void)receive(lock, static_cast<int>(std::clamp<std::int64_t>(left, 0, attending_slice_ms)));
      hand_over();
      continue;
    }
    const std::uint32_t ticket = bell_.ticket();
    sleeps_until_ = std::min(next_deadline(), last_used_ + unused_after);
    // A call that was made meanwhile moves the time of its last use.
    if (sleeps_until_ <= now) sleeps_until_ = now + unused_after;
    if (wakes_by_ > now) sleeps_until_ = std::min(sleeps_until_, wakes_by_);
    const auto until = sleeps_until_;
    lock.unlock();
    bell_.wait(ticket, deadline(until));
    lock.lock();
  }
}

bool client_channel::is_needed() const noexcept { return replies_ && (attended_ != 0 || is_wanted()); }

void client_channel::run_callbacks(lock_type& lock) {
  while (!callbacks_.empty()) {
    const auto call = std::move(callbacks_.front());
    callbacks_.pop_front();
    const auto callbacks = std::move(call->on_end);
    lock.unlock();
    for (const auto& ended : callbacks) ended(*call);
    lock.lock();
  }
}

monotonic::time_point client_channel::next_deadline() const noexcept {
  auto next = monotonic::time_point::max();
  for (const auto& [id, call] : open_) next = std::min(next, call->deadline);
  for (const auto& call : unsent_) next = std::min(next, call->deadline);
  return next;
}

result client_channel::wait_accepted(const hashed_type& untyped, monotonic::time_point until) {
  struct counted {
    explicit counted(unsigned& count) noexcept : all(count) { ++all; }
    ~counted() { --all; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    unsigned& all;
  };
  lock_type lock(mutex_);
  const counted waits(wait_for_service_);
  last_used_ = monotonic::now();
  take_arrived(lock);  // perhaps a bye
  result outcome;
  while (true) {
    if (stopping_) {
      outcome = errc::closed;
      break;
    }
    try {
      if (!running_) start_thread();
    } catch (const std::system_error& problem) {
      outcome = {errc::system_error, std::string("cannot start a thread: ") + problem.what()};
      break;
    }
    check_link();
    if (conversation_.has_accepted_any()) break;
    const negotiated_types& types = types_of(untyped, untyped);
    if (is_refused(types)) {
      outcome = {errc::refused, types.refusal.message()};
      break;
    }
    if (monotonic::now() >= until) {
      outcome = {errc::timed_out, why_unreached().text};
      break;
    }
    bell_.ring();
    const std::uint32_t ticket = progress_.ticket();
    lock.unlock();
    progress_.wait(ticket, deadline(attending_slice_ms).or_at(until));
    lock.lock();
  }
  return outcome;
}

}  // namespace orc::detail
