// What comes from the server, and what the channel sends for itself.
#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "calls/client_channel.h"
#include "core/participant/components.h"

namespace orc::detail {

namespace {

// Over shm a message keeps a place in the server's memory; there are request_options::max_messages of them. Beyond
// these the channel copies.
constexpr long max_held = 40;
constexpr std::size_t always_copied = 256;
constexpr std::size_t max_types = 64;  // pairs of types per channel

}  // namespace

bool client_channel::receive(lock_type& lock, int slice_ms) {
  reading_ = true;
  orc::subscriber replies = replies_;
  lock.unlock();
  message received = replies.recv(slice_ms);
  lock.lock();
  reading_ = false;
  if (received) {
    try {
      take(std::move(received));
    } catch (const std::bad_alloc&) {
      // As if the message had been lost: its call ends at the deadline.
    }
    if (is_wanted()) say_again();
    return true;
  }
  check_link();
  say_again();
  if (received.status() == errc::timed_out || received.status() == errc::nothing_new) return false;
  // Returned at once, and would again: too_many_messages, or closed by another thread just now.
  const auto ticket = progress_.ticket();
  lock.unlock();
  progress_.wait(ticket, deadline(1));
  lock.lock();
  return false;
}

void client_channel::take(message&& received) {
  const auto read = read_message(received.bytes());
  const bool missed = received.missed() != 0;
  if (!read) {
    if (const unsigned version = other_version(received.bytes()); version != 0) other_version_ = version;
  } else {
    switch (read->header.kind) {
      case call_kind::welcome: act(conversation_.take_welcome(read->header.id, monotonic::now())); break;
      case call_kind::accepted:
      case call_kind::refused:
        if (is_of_server(*read)) take_answer(*read);
        break;
      case call_kind::feedback: take_feedback(std::move(received), read->header.id); break;
      case call_kind::result:
      case call_kind::error: take_end(std::move(received), *read); break;
      case call_kind::running:
        if (is_of_server(*read)) take_running(*read);
        break;
      case call_kind::bye: act(conversation_.take_bye()); break;
      default: break;  // not for clients
    }
  }
  // Some of the messages that are lost may have been results.
  if (missed) act(conversation_.take_missed(!open_.empty()));
}

// Whether the message is of the conversation that goes on. Another one may begin.
bool client_channel::is_of_server(const call_message& read) {
  act(conversation_.take_name(read.header.remaining_ns, monotonic::now()));
  return conversation_.is_linked();
}

bool client_channel::is_wanted() const noexcept { return !unsent_.empty() || wait_for_service_ != 0; }

void client_channel::say_again() { act(conversation_.take_silence(is_link_up(), is_wanted(), monotonic::now())); }

void client_channel::act(const client_conversation::actions& now) {
  using end = client_conversation::end;
  const auto ends = [&](std::string why) { end_sent({.code = call_errc::server_died, .text = std::move(why)}); };
  switch (now.ends) {
    case end::none: break;
    case end::link: ends("the link to the server of " + service_ + " ended"); break;
    case end::bye: ends("service " + service_ + " was withdrawn"); break;
    case end::replaced: ends("another server of " + service_ + " took its place"); break;
    case end::impostor: ends("another program took the place of its server"); break;
    case end::restart: ends("the connection to " + service_ + " began anew"); break;
  }
  if (now.check && !stopping_) check_server();
  if (now.greet) {
    for (const negotiated_types& types : types_) {
      if (conversation_.verdict_on(types.number) == client_conversation::verdict::none) say_hello(types);
    }
  }
  if (now.ask) send(call_kind::open_calls, conversation_.last_id());
  if (now.restart) bell_.ring();
}

void client_channel::check_server() {
  try {
    check_.start(participant_.broker_endpoint(), service_, reply_topic(service_, client_),
                 conversation_.check_patience(), [this, client = client_](const server_check::answer& found) {
                   const lock_type lock(mutex_);
                   conversation_.check_ended();
                   if (stopping_ || client != client_ || !replies_) return;
                   try {
                     take_server(found);
                   } catch (const std::bad_alloc&) {
                     // As if the welcome had been lost.
                   }
                 });
    conversation_.check_begun();
  } catch (const std::system_error&) {
    // No thread: the server names itself again.
  }
}

void client_channel::take_server(const server_check::answer& found) {
  const auto now = conversation_.take_check(found.is, is_link_up(), monotonic::now());
  if (now.restart || !conversation_.is_unconfirmed()) impostor_ = found.who;
  act(now);
}

void client_channel::take_answer(const call_message& read) {
  using verdict = client_conversation::verdict;
  const verdict what = read.header.kind == call_kind::accepted ? verdict::accepted : verdict::refused;
  for (negotiated_types& types : types_) {
    if (!conversation_.take_verdict(types.number, read.header.id, what)) continue;
    if (what == verdict::accepted) {
      send_unsent(types);
      continue;
    }
    types.refusal = read_error(read.payload).value_or(call_error{.code = call_errc::refused});
    for (const auto& call : std::exchange(unsent_, {})) {
      if (call->types == &types)
        end(call, types.refusal);
      else
        unsent_.push_back(call);
    }
  }
  progress_.ring();
}

void client_channel::take_feedback(message&& received, std::uint64_t id) {
  const auto call = open_.find(id);
  if (!call) return;
  call->feedback = keep(std::move(received));
  call->alert();
  send(call_kind::feedback_taken, id);
}

void client_channel::take_end(message&& received, const call_message& read) {
  const auto call = open_.find(read.header.id);
  if (!call) return;  // cancelled or too late
  // A thread that had other things to do may take it late. And a handler that saw the deadline pass may report that in
  // its own words.
  if (monotonic::now() >= call->deadline) return end(call, {.code = call_errc::deadline_exceeded});
  if (read.header.kind == call_kind::error) {
    end(call, read_error(read.payload).value_or(call_error{.code = call_errc::failed, .text = "unreadable error"}));
    return;
  }
  call->reply = keep(std::move(received));
  end(call, {});
}

// Calls up to this id that the server does not have open have ended there, but their results did not arrive.
void client_channel::take_running(const call_message& read) {
  const auto running = read_ids(read.payload);
  if (!running) return;
  std::uint64_t id = 0;
  for (auto call = open_.after(id); call && call->id <= read.header.id; call = open_.after(id)) {
    id = call->id;
    if (!std::ranges::binary_search(*running, call->id))
      end(call, {.code = call_errc::lost, .text = "the request or its reply was lost on its way"});
  }
}

call_bytes client_channel::keep(message&& received) {
  if (received.size() <= always_copied || held_.use_count() > max_held)
    return call_bytes(received.bytes().subspan(call_header_size));
  return {std::move(received), held_};
}

void client_channel::check_link() { act(conversation_.follow_link(is_link_up())); }

bool client_channel::is_link_up() const noexcept { return link_ && components::is_linked(*link_); }

bool client_channel::is_refused(const negotiated_types& types) const noexcept {
  return types.number == 0 || conversation_.verdict_on(types.number) == client_conversation::verdict::refused;
}

negotiated_types& client_channel::types_of(const hashed_type& request, const hashed_type& reply) {
  for (negotiated_types& types : types_) {
    if (types.request.hash == request.hash && types.reply.hash == reply.hash) return types;
  }
  if (types_.size() >= max_types) {
    excess_types_.refusal = {.code = call_errc::refused,
                             .text = "this program calls " + service_ + " with too many different types"};
    return excess_types_;
  }
  negotiated_types& added = types_.emplace_back();
  added.request = request;
  added.reply = reply;
  added.number = conversation_.add_types(monotonic::now());
  if (conversation_.is_linked()) say_hello(added);
  return added;
}

void client_channel::say_hello(const negotiated_types& types) {
  send(call_kind::hello, types.number, encode(call_types{types.request.type, types.reply.type}),
       conversation_.last_id());
}

void client_channel::send(call_kind kind, std::uint64_t id, std::span<const std::byte> payload,
                          std::uint64_t time) noexcept {
  std::byte header[call_header_size];
  write_header({.kind = kind, .id = id, .remaining_ns = time}, header);
  orc::loan memory = requests_.loan(sizeof header + payload.size());
  if (!memory) return;
  std::copy_n(header, sizeof header, memory.bytes().begin());
  std::ranges::copy(payload, memory.bytes().begin() + sizeof header);
  (void)requests_.send(std::move(memory));
}

call_error client_channel::why_unreached() const {
  std::string why = "no service " + service_ + " was reached in time: ";
  if (!set_up_)
    why += "its topics are not set up yet";
  else if (!*set_up_)
    why += set_up_->error().message();
  else if (!impostor_.empty())
    why += "another program, " + impostor_ + ", answers in the place of its server";
  else if (conversation_.is_linked())
    why += "its server has not answered yet";
  else if (conversation_.is_unconfirmed())
    why += "a server answered, but the broker has not confirmed that it is the service's";
  else if (other_version_ != 0 && replies_.connected())
    why += "its server speaks version " + std::to_string(other_version_) + " of calls, and this program version " +
           std::to_string(call_version);
  else if (const auto link = replies_.link(); replies_.connected())
    why += "its server is reached over " + std::string(to_string(link.transport)) +
           ", but has not answered: it may have no transport that this participant offers its topics on";
  else
    why += link.reason;
  return {.code = call_errc::no_service, .text = std::move(why)};
}

}  // namespace orc::detail
