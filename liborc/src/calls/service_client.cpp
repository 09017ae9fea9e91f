// A client's calls: what arrives, and what goes back.
#include "calls/service_client.h"

#include <algorithm>
#include <utility>

#include "calls/call_recorder.h"
#include "calls/on_turn.h"
#include "calls/service_core.h"
#include "orc/calls.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

constexpr int max_messages_at_once = 64;     // that a thread takes before it serves
constexpr int max_messages_in_handler = 16;  // that a look of a handler takes
// The comparison of larger types takes long, and must not be a handler's time. So these hellos wait for its end.
constexpr std::size_t small_hello = 4096;
constexpr std::size_t max_late_hellos = 8;
constexpr auto longest_deadline = std::chrono::hours(24);

const call_error no_error;

}  // namespace

// ---- what arrives ----

void service_client::receive(int timeout_ms) {
  message received = requests_.recv(timeout_ms);
  if (received) {
    take(std::move(received));
  } else if (received.status() == errc::closed || received.status() == errc::forked) {
    stopping_ = true;
  }
}

void service_client::drain() {
  draining_ = true;
  fresh_ = false;
  const int most = has_turn_ ? max_messages_in_handler : max_messages_at_once;
  for (int n = 0; n < most && !fresh_; ++n) {
    message received = requests_.recv(0);
    if (received)
      take(std::move(received));
    else
      fresh_ = true;
  }
  draining_ = false;
  if (const auto last_sent = std::exchange(owed_report_, std::nullopt)) report_open(*last_sent);
}

void service_client::take_late_hellos() {
  for (message& each : std::exchange(late_hellos_, {})) take(std::move(each));
}

void service_client::take(message&& received) try {
  const auto read = read_message(received.bytes());
  if (!read) return service_.count_dropped();
  switch (read->header.kind) {
    case call_kind::hello:
      if (!has_turn_ || read->payload.size() <= small_hello) return take_hello(*read);
      if (late_hellos_.size() >= max_late_hellos) return service_.count_dropped();
      return late_hellos_.push_back(std::move(received));
    case call_kind::request: return take_request(std::move(received), *read);
    case call_kind::cancel: return cancel(read->header.id);
    case call_kind::feedback_taken: return acknowledge_feedback(read->header.id);
    case call_kind::open_calls: return take_open_calls(read->header.id);
    case call_kind::bye: stopping_ = true; return;
    default: return service_.count_dropped();
  }
} catch (const std::bad_alloc&) {
  service_.count_dropped();  // the client's call ends at its deadline
}

void service_client::take_hello(const call_message& read) {
  has_greeted_ = true;
  const auto refuse_types = [&](call_errc code, const std::string& text) {
    send(call_kind::refused, read.header.id, encode(call_error{.code = code, .text = text}));
    if (!conversation_.refuse()) stopping_ = true;
  };
  using hello = server_conversation::hello;
  switch (conversation_.take_hello(read.header.id, read.header.remaining_ns)) {
    case hello::first: break;
    case hello::repeated: send(call_kind::accepted, read.header.id); return;
    case hello::too_many:
      service_.count_dropped();
      stopping_ = true;
      return;
  }
  const auto types = read_types(read.payload);
  if (!types) {
    service_.count_dropped();
    return refuse_types(call_errc::refused, "the server cannot read this client's hello");
  }
  if (is_refused_) {
    return refuse_types(call_errc::refused,
                        service_.name() + " has " + std::to_string(service_.options().max_clients) +
                            " clients already, or your program its share of them (service_options::max_clients)");
  }
  const std::string client = identity_.name + " (" + std::to_string(identity_.pid) + ")";
  if (const result ok = check_types(types->request, service_.types().request, client); !ok) {
    return refuse_types(call_errc::type_mismatch,
                        "the request has another type than " + service_.name() +
                            " takes. The server, which is \"here\", reports: " + ok.error().message());
  }
  if (const result ok = check_types(service_.types().reply, types->reply, service_.name()); !ok)
    return refuse_types(call_errc::type_mismatch, "the reply has another type: " + ok.error().message());
  if (!conversation_.accept(read.header.id, hash_of(types->request)))
    return refuse_types(call_errc::refused, "this client uses too many different types");
  send(call_kind::accepted, read.header.id);
}

void service_client::take_request(message&& received, const call_message& read) {
  const std::uint64_t id = read.header.id;
  std::uint64_t missing = 0;
  const auto news = conversation_.take_request(id, missing);
  if (news == server_conversation::news::bad) return service_.count_dropped();
  if (news == server_conversation::news::taken_after_a_gap) {
    count_missing(missing);
    owe_report(id - 1);
  }
  const auto allowed = std::chrono::nanoseconds(longest_deadline).count();
  const auto remaining = std::min(read.header.remaining_ns, static_cast<std::uint64_t>(allowed));
  const auto now = monotonic::now();
  const auto call = std::make_shared<service_call>(shared_from_this(), id, now + std::chrono::nanoseconds(remaining),
                                                   std::move(received));
  if (service_.recorder() != nullptr) call->received_ns = call_recorder::now_ns();
  if (!conversation_.accepts(read.header.type))
    return refuse(*call, {.code = call_errc::lost, .text = "the server has not accepted this type from this client"});
  // Over shm a message that waits would keep a place in the client's memory.
  if (over_shm_ && (draining_ || !service_.is_inline())) call->copy_request();
  {
    const std::lock_guard lock(mutex_);
    open_.add(id, call);
  }
  if (draining_ || !fresh_ || !service_.is_inline() || !service_.take_free_turn()) return service_.admit(call, now);
  {
    const on_turn held(*this);
    service_.run(*call, now, service_core::client_was::heard);
  }
  drain();
}

// Requests that have been sent, and never arrive.
void service_client::count_missing(std::uint64_t requests) {
  service_.count_refused(std::min<std::uint64_t>(requests, max_open_calls));
}

void service_client::take_open_calls(std::uint64_t last_sent) {
  std::uint64_t missing = 0;
  if (!conversation_.take_last_id(last_sent, missing)) return service_.count_dropped();
  count_missing(missing);
  owe_report(last_sent);
}

// One for all that arrived together.
void service_client::owe_report(std::uint64_t last_sent) {
  if (draining_)
    owed_report_ = std::max(last_sent, owed_report_.value_or(0));
  else
    report_open(last_sent);
}

// One message, however many are missing: the client ends its calls up to `last_sent` that are not in it.
void service_client::report_open(std::uint64_t last_sent) {
  std::vector<std::uint64_t> ids;
  {
    const std::lock_guard lock(mutex_);
    for (auto call = open_.begin(); call != open_.end() && ids.size() < max_ids; ++call) ids.push_back(call->first);
  }
  send(call_kind::running, last_sent, encode(ids));
}

void service_client::cancel(std::uint64_t id) {
  std::shared_ptr<service_call> call;
  {
    const std::lock_guard lock(mutex_);
    call = open_.find(id);
  }
  if (!call) return;
  call->cancelled = true;
  if (!service_.withdraw(*call)) return;
  service_.count_refused();
  const std::lock_guard lock(mutex_);
  open_.erase(id);
  if (service_.recorder() != nullptr) service_.recorder()->record(*call, {.code = call_errc::lost}, {});
}

void service_client::acknowledge_feedback(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto call = open_.find(id);
  if (!call) return;
  call->feedback_is_on_its_way = call->next_feedback.has_value();
  if (!call->next_feedback) return;
  (void)send(call_kind::feedback, id, *std::exchange(call->next_feedback, std::nullopt));
}

void service_client::drop_calls(const call_error& why) {
  for (const auto& call : service_.withdraw_all(*this)) refuse(*call, why);
  const std::lock_guard lock(mutex_);
  for (const auto& [id, call] : open_) call->abandoned = true;
}

// ---- what goes back ----

orc::loan service_client::lend(std::size_t size) noexcept { return replies_.loan(size); }

bool service_client::send(call_kind kind, std::uint64_t id, std::span<const std::byte> payload) noexcept {
  orc::loan memory = replies_.loan(call_header_size + payload.size());
  if (!memory) return false;
  const bool names_server = kind == call_kind::accepted || kind == call_kind::refused || kind == call_kind::running;
  write_header({.kind = kind, .id = id, .remaining_ns = names_server ? number_ : 0}, memory.bytes().data());
  std::ranges::copy(payload, memory.bytes().begin() + call_header_size);
  return static_cast<bool>(replies_.send(std::move(memory)));
}

bool service_client::send_feedback(service_call& call, std::span<const std::byte> bytes) {
  if (is_receiving()) drain();
  const std::lock_guard lock(mutex_);
  if (call.feedback_is_on_its_way) {
    call.next_feedback.emplace(bytes.begin(), bytes.end());
    return true;
  }
  call.feedback_is_on_its_way = send(call_kind::feedback, call.id, bytes);
  return call.feedback_is_on_its_way;
}

void service_client::finish(service_call& call) {
  call_recorder* const recorder = service_.recorder();
  std::optional<call_payload> reply;  // as far as it is recorded
  const std::lock_guard lock(mutex_);
  if (call.next_feedback) (void)send(call_kind::feedback, call.id, *call.next_feedback);
  if (call.no_memory && !call.error) call.error = call_error{.code = call_errc::no_memory};
  if (!call.error && !call.reserved() && call.reserve(0) == nullptr)
    call.error = call_error{.code = call_errc::no_memory};
  if (!call.error) {
    write_header({.kind = call_kind::result, .id = call.id, .type = service_.reply_hash()}, call.reply().data());
    if (recorder != nullptr) reply = recorder->keep_reply(call.reply().subspan(call_header_size));
    if (const result sent = call.send_reply(replies_); !sent) {
      const bool large = sent.code() == errc::bad_argument;
      const bool gone = sent.code() == errc::closed;
      call.error = call_error{.code = large  ? call_errc::too_large
                                      : gone ? call_errc::lost
                                             : call_errc::no_memory,
                              .text = "the reply was not sent: " + sent.error().message()};
    }
  }
  if (call.error) {
    reply.reset();
    (void)send(call_kind::error, call.id, encode(*call.error));
  }
  open_.erase(call.id);  // after the reply: see report_open
  // With the lock, so that the client's next call is not recorded before this one.
  if (recorder != nullptr) recorder->record(call, call.error ? *call.error : no_error, std::move(reply));
}

void service_client::refuse(const service_call& call, const call_error& why) {
  service_.count_refused();
  const std::lock_guard lock(mutex_);
  (void)send(call_kind::error, call.id, encode(why));
  open_.erase(call.id);
  if (service_.recorder() != nullptr) service_.recorder()->record(call, why, {});
}

bool service_client::is_receiving() const noexcept {
  return service_.is_inline() && std::this_thread::get_id() == self_;
}

bool service_client::is_cancelled(service_call& call) noexcept {
  if (is_receiving() && !call.cancelled) drain();
  return call.cancelled || call.abandoned || service_.is_stopping() || monotonic::now() >= call.deadline ||
         !is_connected();
}

}  // namespace orc::detail
