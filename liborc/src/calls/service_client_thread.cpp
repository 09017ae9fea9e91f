// A client's thread: makes the topics, receives, and serves the calls of a service without threads.
#include <algorithm>
#include <random>
#include <utility>

#include "calls/on_turn.h"
#include "calls/service_client.h"
#include "calls/service_core.h"
#include "core/participant/components.h"
#include "orc/calls.h"
#include "orc/calls/quiet_thread.h"

namespace orc::detail {

namespace {

constexpr int idle_slice_ms = 1000;     // the end of a topic wakes the thread
constexpr int greeting_slice_ms = 100;  // between two welcomes to a client that has not answered
constexpr std::size_t held_of_client_messages = 60;

[[nodiscard]] std::uint64_t random_number() {
  std::random_device source;
  return (std::uint64_t{source()} << 32 | source()) | 1U;  // never 0
}

}  // namespace

// Host and pid are the program's own words.
std::string program_of(const publication_state& client) {
  const participant_state& who = client.participant;
  const bool is_seen = who.client_pid != 0;
  return client.host_name + '\n' + who.client + '\n' +
         (is_seen ? std::to_string(who.client_pid) : who.host + '\n' + std::to_string(who.pid));
}

std::string origin_of(const publication_state& client) {
  const participant_state& who = client.participant;
  // What another broker reports may be made up, but for the host.
  if (!client.host_name.empty()) return client.host_name;
  return who.client.empty() || who.client_pid != 0 ? std::string() : who.client;
}

service_client::service_client(service_core& of, std::uint64_t id, const publication_state& publication, bool refused)
    : service_(of),
      id_(id),
      state_(publication),
      identity_{.name = publication.participant.name,
                .host = publication.participant.host,
                .pid = publication.participant.pid},
      program_(program_of(publication)),
      origin_(origin_of(publication)),
      is_refused_(refused),
      number_(random_number()) {}

service_client::~service_client() { detail::finish(thread_); }

void service_client::start() {
  // The thread may outlive all others that know the service: see calls_component::withdraw.
  thread_ = start_quiet([self = shared_from_this(), service = service_.shared_from_this()] { self->run(); });
}

void service_client::end() noexcept {
  stopping_ = true;
  service_.wake();                                                      // it may wait for the turn
  (void)service_.of().release_topic(call_topic(service_.name(), id_));  // wakes the thread
}

bool service_client::is_connected() const noexcept {
  const std::lock_guard lock(topics_mutex_);
  return link_ && components::is_linked(*link_);
}

void service_client::run() noexcept {
  self_ = std::this_thread::get_id();
  try {
    if (set_up()) {
      while (!stopping_) {
        follow_link();
        take_late_hellos();
        run_waiting();
        if (stopping_) break;
        receive(conversation_.is_greeted() ? idle_slice_ms : greeting_slice_ms);
      }
    }
    drop_calls({.code = call_errc::server_died, .text = "the service was withdrawn"});
    send(call_kind::bye, 0);
  } catch (const std::bad_alloc&) {
    // Without memory for its calls the client is let go: its link ends.
  }
  if (!service_.has_let_go()) {
    (void)service_.of().release_topic(call_topic(service_.name(), id_));
    (void)service_.of().unregister_topic(reply_topic(service_.name(), id_));
  }
  ended_.store(true, std::memory_order_release);
}

// False: it ends, and may come again.
bool service_client::set_up() {
  wants_again_ = true;
  orc::participant& by = service_.of();
  const transport_set transports = service_.options().transports;
  request_options wanted{.conflate = 0, .depth = 4 * max_open_calls, .transports = transports};
  if (transports.empty() || transports.contains(transport::shm)) wanted.max_messages = held_of_client_messages;
  subscriber requests = by.request_topic(call_topic(service_.name(), id_), wanted);
  if (!requests) return false;
  // name_taken: another program poses as this service. The client turns away from it, or it leaves.
  publisher replies = by.register_topic(reply_topic(service_.name(), id_), {.transports = transports});
  if (!replies) return false;
  const std::lock_guard lock(topics_mutex_);
  requests_ = std::move(requests);
  link_ = components::watched(by, call_topic(service_.name(), id_));
  replies_ = std::move(replies);
  wants_again_ = false;
  return true;
}

void service_client::follow_link() {
  const auto news = conversation_.follow_link(is_connected());
  if (news.is_new) over_shm_ = requests_.link().transport == transport::shm;
  if (news.welcome) (void)send(call_kind::welcome, number_);
  if (news.has_gone)
    drop_calls({.code = call_errc::lost, .text = "the link from the client ended before the call began"});
}

void service_client::run_waiting() {
  if (!service_.is_inline()) return;
  while (const auto call = service_.next_of(*this)) {
    const auto turn = service_.take_turn(*this);
    if (turn == service_core::turn::never) return;
    {
      const on_turn held(*this);
      // A cancellation may have come while the call waited.
      if (turn == service_core::turn::after_a_wait || !fresh_) drain();
      if (service_.withdraw(*call)) service_.run(*call, monotonic::now(), service_core::client_was::waiting);
    }
    drain();
  }
}

}  // namespace orc::detail
