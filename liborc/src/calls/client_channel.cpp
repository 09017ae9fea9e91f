// Calls of the program's threads on a channel: start, wait, end.
#include "calls/client_channel.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "orc/calls.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

// A waiting thread looks at least this often whether the link is still up, because its end wakes no thread in recv.
constexpr int slice_ms = 20;
constexpr int max_looks = 8;  // for what came between two calls

[[nodiscard]] int slice_until(monotonic::time_point until, monotonic::time_point now) noexcept {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, slice_ms));
}

[[nodiscard]] std::uint64_t nanoseconds_until(monotonic::time_point until, monotonic::time_point now) noexcept {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(until - now).count(), 0));
}

}  // namespace

client_channel::client_channel(orc::participant& by, std::string service)
    : participant_(by), service_(std::move(service)), last_used_(monotonic::now()) {}

client_channel::~client_channel() {
  check_.stop();
  finish(thread_);
}

std::shared_ptr<call_state> client_channel::start(const hashed_type& request, const hashed_type& reply,
                                                  monotonic::duration allowed, std::size_t size,
                                                  const request_writer& write) {
  const auto now = monotonic::now();
  const auto deadline = now + allowed;
  auto call = std::make_shared<call_state>(shared_from_this(), deadline);
  lock_type lock(mutex_);
  look_around(lock, now);
  if (stopping_) {
    end(call, {.code = call_errc::closed});
    return call;
  }
  if (open_.size() + unsent_.size() >= max_open_calls) {
    end(call, {.code = call_errc::too_many_calls});
    return call;
  }
  negotiated_types& types = types_of(request, reply);
  if (is_refused(types)) {
    end(call, types.refusal);
    return call;
  }
  if (conversation_.may_send(types.number)) {
    send_new(call, types, now, size, write);
  } else {
    call->unsent.resize(call_header_size + size);
    if (!write(std::span(call->unsent).subspan(call_header_size))) {
      end(call, {.code = call_errc::bad_argument, .text = "the request cannot be encoded"});
      return call;
    }
    try {
      if (!running_) start_thread();
    } catch (const std::system_error& problem) {
      end(call, {.code = call_errc::no_memory, .text = std::string("cannot start a thread: ") + problem.what()});
      return call;
    }
    call->types = &types;
    unsent_.push_back(call);
    bell_.ring();
  }
  if (!call->done && deadline < sleeps_until_) {
    sleeps_until_ = wakes_by_ = deadline;
    bell_.ring();
  }
  return call;
}

// Another server may have come since the last call. A call to the old one would end as server_died.
void client_channel::look_around(lock_type& lock, monotonic::time_point now) {
  const bool paused = now - std::exchange(last_used_, now) > std::chrono::milliseconds(slice_ms);
  if (!conversation_.is_linked() || reading_) return;
  check_link();
  // Not connected, says the broker: then a bye may have come.
  if ((paused || !replies_.connected()) && open_.empty()) take_arrived(lock);
}

void client_channel::take_arrived(lock_type& lock) {
  for (int looks = 0; looks < max_looks && conversation_.is_linked() && !reading_; ++looks) {
    if (!receive(lock, 0)) break;
  }
  hand_over();
}

void client_channel::send_new(const std::shared_ptr<call_state>& call, const negotiated_types& types,
                              monotonic::time_point now, std::size_t size, const request_writer& write) {
  open_.make_place();  // a call that was sent must not be forgotten
  std::array<std::byte, small_message> small;
  const bool is_small = size <= small.size() - call_header_size;
  orc::loan large = is_small ? orc::loan() : requests_.loan(call_header_size + size);
  if (!is_small && !large) return end(call, {.code = call_errc::no_memory});
  const std::span message = is_small ? std::span(small).first(call_header_size + size) : large.bytes();
  if (!write(message.subspan(call_header_size)))
    return end(call, {.code = call_errc::bad_argument, .text = "the request cannot be encoded"});
  write_header({.kind = call_kind::request,
                .id = conversation_.last_id() + 1,
                .remaining_ns = nanoseconds_until(call->deadline, now),
                .type = types.request.hash},
               message.data());
  const result sent = is_small ? requests_.send(small.data(), message.size()) : requests_.send(std::move(large));
  if (!sent) {
    const bool too_large = sent.code() == errc::bad_argument;
    return end(call, {.code = too_large                        ? call_errc::too_large
                              : sent.code() == errc::no_memory ? call_errc::no_memory
                                                               : call_errc::closed,
                      .text = sent.error().message()});
  }
  call->id = conversation_.use_next_id();
  open_.add(call->id, call);
}

void client_channel::send_unsent(const negotiated_types& types) {
  for (auto next = unsent_.begin(); next != unsent_.end();) {
    const auto call = *next;
    if (call->types != &types) {
      ++next;
      continue;
    }
    next = unsent_.erase(next);
    const std::vector<std::byte> message = std::move(call->unsent);
    const std::span payload = std::span(message).subspan(call_header_size);
    try {
      send_new(call, types, monotonic::now(), payload.size(), [&](std::span<std::byte> to) {
        if (!payload.empty()) std::memcpy(to.data(), payload.data(), payload.size());
        return true;
      });
    } catch (const std::bad_alloc&) {
      end(call, {.code = call_errc::no_memory});
    }
  }
}

bool client_channel::wait(call_state& call, monotonic::time_point until) {
  lock_type lock(mutex_);
  bool looked = false;
  while (!call.done) {
    const auto now = monotonic::now();
    if (now >= call.deadline) end_late(now);
    if (call.done) break;
    if (now >= until && looked) break;
    looked = true;
    if (!reading_ && replies_) {
      (void)receive(lock, slice_until(std::min(until, call.deadline), now));
      continue;
    }
    const std::uint32_t ticket = call.ended.ticket();
    ++call.waiting;
    auto at = waiters_.end();
    try {
      at = waiters_.insert(at, &call);
    } catch (const std::bad_alloc&) {
      // It looks again after the slice.
    }
    lock.unlock();
    call.ended.wait(ticket,
                    deadline(std::min({until, call.deadline, monotonic::now() + std::chrono::milliseconds(slice_ms)})));
    lock.lock();
    if (at != waiters_.end()) waiters_.erase(at);
    --call.waiting;
  }
  hand_over();
  return call.done;
}

void client_channel::hand_over() noexcept {
  if (reading_) return;
  if (!waiters_.empty())
    waiters_.front()->ended.ring();
  else if (is_needed())
    bell_.ring();
}

void client_channel::cancel(call_state& call) noexcept try {
  const lock_type lock(mutex_);
  if (call.done) return;
  if (const auto sent = open_.find(call.id)) {
    send(call_kind::cancel, call.id);
    end(sent, {.code = call_errc::cancelled});
    return;
  }
  for (const auto& each : unsent_) {
    if (each.get() != &call) continue;
    const auto keep = each;
    unsent_.remove(keep);
    end(keep, {.code = call_errc::cancelled});
    return;
  }
} catch (const std::bad_alloc&) {
  // The call ends at its deadline.
}

int client_channel::fd(call_state& call) {
  const lock_type lock(mutex_);
  const bool first = call.event < 0;
  if (call.open_event() < 0 || !first || call.done) return call.event;
  if (call.feedback) call.alert();
  if (call.attended) return call.event;
  call.attended = true;
  ++attended_;
  bell_.ring();
  return call.event;
}

void client_channel::then(const std::shared_ptr<call_state>& call, call_state::callback ended) {
  lock_type lock(mutex_);
  if (call->done) {
    lock.unlock();
    ended(*call);
    return;
  }
  call->on_end.push_back(std::move(ended));
  if (call->attended) return;
  call->attended = true;
  ++attended_;
  bell_.ring();
}

std::optional<call_bytes> client_channel::take_feedback(call_state& call) {
  lock_type lock(mutex_);
  if (!call.done && !call.feedback && !reading_ && replies_) (void)receive(lock, 0);
  hand_over();
  auto newest = std::move(call.feedback);
  call.feedback.reset();
  if (!call.done) call.calm();
  return newest;
}

void client_channel::end(const std::shared_ptr<call_state>& call, call_error why) {
  if (call->done) return;
  call->done = true;
  call->error = std::move(why);
  if (call->id != 0) open_.erase(call->id);
  call->unsent = {};
  call->alert();
  if (call->waiting != 0) call->ended.ring();
  if (!call->attended) return;
  --attended_;
  if (call->on_end.empty()) return;
  callbacks_.push_back(call);
  bell_.ring();
}

void client_channel::end_sent(const call_error& why) {
  while (const auto call = open_.after(0)) end(call, why);
}

void client_channel::end_all(const call_error& why) {
  end_sent(why);
  for (const auto& call : std::exchange(unsent_, {})) end(call, why);
}

void client_channel::end_late(monotonic::time_point now) {
  std::uint64_t id = 0;
  while (const auto call = open_.after(id)) {
    id = call->id;
    if (call->deadline > now) continue;
    send(call_kind::cancel, call->id);
    end(call, {.code = call_errc::deadline_exceeded});
  }
  for (auto next = unsent_.begin(); next != unsent_.end();) {
    const auto call = *next;
    if (call->deadline > now) {
      ++next;
      continue;
    }
    next = unsent_.erase(next);
    end(call, why_unreached());
  }
}

void client_channel::begin_stop() noexcept {
  const lock_type lock(mutex_);
  stopping_ = true;
  try {
    end_all({.code = call_errc::closed});
  } catch (const std::bad_alloc&) {
    // Without the texts; the threads that wait see stopping_ by their deadlines.
  }
  bell_.ring();
  progress_.ring();
}

bool client_channel::has_stopped() const noexcept {
  const lock_type lock(mutex_);
  return !running_ && !conversation_.is_checking();
}

void client_channel::stop() noexcept {
  begin_stop();
  std::uint64_t client = 0;
  {
    const lock_type lock(mutex_);
    if (connecting_) client = client_;
  }
  // Ends the wait for a broker. Repeated, because the set-up may just be about to begin it.
  while (client != 0) {
    (void)participant_.release_topic(reply_topic(service_, client));
    (void)participant_.unregister_topic(call_topic(service_, client));
    const std::uint32_t ticket = progress_.ticket();
    {
      const lock_type lock(mutex_);
      if (!connecting_) break;
      client = client_;
    }
    progress_.wait(ticket, deadline(10));
  }
  check_.stop();
  finish(thread_);
}

monotonic::time_point client_channel::last_used() const noexcept {
  const lock_type lock(mutex_);
  return last_used_;
}

}  // namespace orc::detail
