#include "broker/service/broker_service.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/text/printable.h"

namespace orc {
namespace {

// How much long work one turn does. Each of these takes a millisecond or two.
constexpr std::size_t entries_per_turn = 512;        // of participants that leave
constexpr std::size_t events_per_turn = 128;         // frames to send
constexpr std::size_t registrations_per_turn = 128;  // that waited for a probe
constexpr std::size_t overdue_per_turn = 8;          // holders of topics
constexpr std::size_t checks_per_turn = 512;         // of processes
constexpr std::size_t leases_per_turn = 128;
constexpr int lines_per_period = 32;

// Text of a stranger for other users: without control characters, and no longer than before.
void make_printable(std::string& text, std::size_t limit = wire::max_text) {
  text = detail::escaped(text, detail::backslashes::kept);
  if (text.size() <= limit) return;
  std::size_t size = limit;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;  // cuts between two characters
  text.resize(size);
}

}  // namespace

broker_service::broker_service(broker_service_options options, send_function send, time started)
    : options_(std::move(options)),
      send_(std::move(send)),
      started_(started),
      epoch_(options_.epoch),
      map_(options_.lease, options_.limits),
      rules_(options_.allowed_endpoints),
      federation_({options_.peers, options_.host_name, epoch_, options_.peer_lease}, map_, *this),
      lines_left_(lines_per_period) {}

void broker_service::opened(routing from, const peer& who) {
  connections_.insert_or_assign(from, connection{who, client_table::name_of(who)});
}

void broker_service::closed(routing from, time) {
  connections_.erase(from);
  watchers_.remove(from);
  peer_watchers_.remove(from);
  map_.closed(from);
}

void broker_service::receive(routing from, std::span<const std::byte> frame, time now) {
  const auto by = connections_.find(from);
  if (by == connections_.end()) return;
  ++counters_.messages;
  if (frame.empty()) return greet(from, 0);
  auto decoded = wire::decode(frame);
  if (!decoded) {
    const auto& wrong = decoded.error();
    reject(wrong.text);
    reply(from, wrong.request, wire::error{wrong.code, wrong.text});
    return;
  }
  auto who = map_.participant_at(from);
  if (who) (void)map_.renew(from, now);
  dispatch(from, by->second, *decoded, now);
  if (!waiting_.empty()) {
    // Any message of a holder proves that it lives, even when the topic is free by now or another's.
    if (!who) who = map_.participant_at(from);
    if (who) waiting_.settle(*who, true);
  }
  work(now);
}

void broker_service::dispatch(routing from, connection& by, wire::envelope& message, time now) {
  const bool introduces_itself = std::holds_alternative<wire::hello>(message.content);
  if (introduces_itself) {
    by.out_of_date = false;
    by.displaced.clear();
  } else if (by.out_of_date) {
    const std::string why = by.displaced.empty() ? "an event was lost" : by.displaced;
    reply(from, message.request,
          wire::error{wire::error_code::unknown_participant, why + ": say Hello and register again"});
    return;
  }
  std::visit([&](auto& content) { handle(from, message.request, content, now); }, message.content);
}

void broker_service::handle(routing from, std::uint64_t request, wire::hello& what, time now) {
  for (std::string* const text : {&what.name, &what.host, &what.library}) make_printable(*text);
  const auto& by = connections_.at(from).who;
  identify(what, by);
  const bool known = map_.knows(what.participant);
  if (auto joined = map_.hello(from, by, what, now); !joined) {
    reply(from, request, std::move(joined).error());
    return;
  }
  if (!known) log(broker_log_level::info, named(what) + " joined");
  greet(from, request);
}

// Over ipc the kernel identifies the process.
void broker_service::identify(wire::hello& what, const peer& by) const {
  if (by.way != peer::via::ipc || by.pid == 0 || options_.host.empty() || what.host != options_.host) return;
  what.pid = by.pid;
  what.start_time = options_.start_time(by.pid).value_or(0);
}

void broker_service::handle(routing from, std::uint64_t request, wire::register_topic& what, time now) {
  const auto& by = connections_.at(from);
  if (auto checked = rules_.check(what, by.who, now); !checked) {
    reply(from, request,
          wire::error{wire::error_code::bad_request, "topic \"" + what.topic + "\": " + checked.error().message()});
    return;
  }
  register_for({from, request, by.client, std::move(what)}, std::nullopt, now);
}

void broker_service::handle(routing from, std::uint64_t request, const wire::unregister_topic& what, time now) {
  finish(from, request, map_.unregister_topic(from, what, now));
}

void broker_service::handle(routing from, std::uint64_t request, const wire::request_topic& what, time) {
  finish(from, request, map_.request_topic(from, what));
}

void broker_service::handle(routing from, std::uint64_t request, const wire::release_topic& what, time) {
  finish(from, request, map_.release_topic(from, what));
}

// Takes as long as the part is, also with the hash, which is computed part by part.
void broker_service::handle(routing from, std::uint64_t request, const wire::schema_part& what, time now) {
  finish(from, request, map_.add_schema(from, what, now));
}

void broker_service::handle(routing from, std::uint64_t request, wire::type_mismatch& what, time now) {
  make_printable(what.text, wire::max_error_text);
  auto reported = map_.report_mismatch(from, std::move(what), now);
  if (!reported) return void(reply(from, request, std::move(reported).error()));
  reply(from, request, wire::ack{});
  if (auto& news = *reported) reply(news->to, 0, std::move(news->what));
}

void broker_service::handle(routing from, std::uint64_t request, wire::heartbeat& what, time now) {
  for (auto& each : what.subscriptions) make_printable(each.reason);
  finish(from, request, map_.heartbeat(from, what, now));
}

void broker_service::handle(routing from, std::uint64_t request, const wire::goodbye&, time now) {
  map_.goodbye(from, now);
  reply(from, request, wire::ack{});
}

void broker_service::handle(routing, std::uint64_t, const wire::alive&, time) {
  // receive() settles the probe of any sender.
}

// Welcome, Ack, Error, TopicState, TopicList, Probe, Changes: only the broker sends these.
template <class NotARequest>
void broker_service::handle(routing from, std::uint64_t request, const NotARequest&, time) {
  reject("a message that only the broker sends");
  reply(from, request,
        wire::error{wire::error_code::bad_request, "this kind of message is the broker's to send, not a request"});
}

void broker_service::register_for(registration asked, const std::optional<wire::id>& alive_holder, time now) {
  // Each turn answers or removes a dead holder. The topic is free afterwards.
  for (;;) {
    auto result = map_.register_topic(asked.from, asked.what, now);
    const auto* held = std::get_if<topic_map::held>(&result);
    if (held == nullptr) {
      if (auto* state = std::get_if<wire::topic_state>(&result)) {
        reply(asked.from, asked.request, std::move(*state));
      } else {
        reply(asked.from, asked.request, std::move(std::get<wire::error>(result)));
      }
      return;
    }
    const auto state = held->participant == alive_holder ? detail::process_state::alive : state_of(*held);
    if (state == detail::process_state::alive) {
      log(broker_log_level::info, "refused: " + held->refusal);
      reply(asked.from, asked.request, wire::error{wire::error_code::name_taken, held->refusal});
      return;
    }
    if (state == detail::process_state::unknown) return probe(*held, std::move(asked), now);
    take_over_from(held->participant, "is dead", now);
  }
}

// Probes a holder whose process is not visible here.
detail::process_state broker_service::state_of(const topic_map::held& held) const {
  if (options_.host.empty() || held.holder.host != options_.host) return detail::process_state::unknown;
  return options_.check_process(held.holder.pid, held.holder.start_time);
}

void broker_service::probe(const topic_map::held& held, registration asked, time now) {
  const auto from = asked.from;
  const auto request = asked.request;
  const auto route = map_.route_of(held.participant);
  // The holder could claim any, by answering late.
  constexpr topic_map::duration longest_trip = std::chrono::seconds(2);
  const auto trip =
      route && options_.round_trip ? std::min(options_.round_trip(*route), longest_trip) : topic_map::duration{};
  if (auto waits = waiting_.add(held.participant, std::move(asked), now + options_.probe_timeout + 2 * trip); !waits) {
    reply(from, request, std::move(waits).error());
    return;
  }
  const auto number = waiting_.take_probe(held.participant);
  if (number && route) reply(*route, *number, wire::probe{});
}

void broker_service::take_over_from(const wire::id& holder, std::string_view how, time now) {
  if (!map_.knows(holder)) return;  // it said Goodbye in the meantime
  ++counters_.takeovers;
  log(broker_log_level::warning,
      "participant " + map_.shown_id_of(holder).hex().substr(0, 16) + " " + std::string(how) + ": its topics are free");
  map_.remove(holder, now);
  push_events(now);  // before another participant has the topic
}

void broker_service::held_up(time now, topic_map::duration how_long) {
  map_.renew_all(now);
  waiting_.extend_all(now + options_.probe_timeout);
  federation_.held_up(now, how_long);
}

void broker_service::turn(time now) {
  for (std::size_t n = 0; n < overdue_per_turn && map_.clean(); ++n) {  // the topics of the last one first
    const auto silent = waiting_.overdue(now);
    if (!silent) break;
    const auto route = map_.route_of(*silent);
    if (route && options_.unread && options_.unread(*route)) {  // it may be the answer
      waiting_.extend(*silent, now + options_.probe_timeout);
      continue;
    }
    take_over_from(*silent, "did not answer", now);
    waiting_.settle(*silent, false);
  }
  if (leases_to_end_) {
    const auto late = map_.expire(now, leases_per_turn, options_.unread);
    leases_to_end_ = map_.any_late(now);
    if (late > 0) log(broker_log_level::warning, std::to_string(late) + " participant(s) lost their lease");
  }
  check_processes();
  federation_.turn(now);
  work(now);
  serve_watchers(watchers_, map_.newest_change(), now);
  serve_watchers(peer_watchers_, map_.exports().newest(), now);
}

void broker_service::work(time now) {
  map_.clean_up(now, entries_per_turn);
  for (std::size_t i = 0; i < registrations_per_turn; ++i) {
    auto next = waiting_.next();
    if (!next) break;
    register_for(std::move(next->asked), next->alive_holder, now);
  }
  push_events(now);
}

std::optional<broker_service::time> broker_service::next_deadline() const {
  if (!map_.clean() || waiting_.any_settled() || leases_to_end_ || checked_ ||
      watchers_.any_behind(map_.newest_change()) || peer_watchers_.any_behind(map_.exports().newest()))
    return started_;
  std::optional<time> next;
  for (const auto& each : {waiting_.next_deadline(), map_.next_event_time(), watchers_.next_deadline(),
                           peer_watchers_.next_deadline(), federation_.next_deadline()}) {
    if (each && (!next || *each < *next)) next = each;
  }
  return next;
}

void broker_service::tick(time now) {
  leases_to_end_ = true;
  checked_ = wire::id{};
  if (lines_dropped_ > 0 && options_.log) {
    options_.log(broker_log_level::warning,
                 std::to_string(lines_dropped_) + " more line(s) of the last period left out");
  }
  lines_dropped_ = 0;
  lines_left_ = lines_per_period;
  // Logs once per period, so that a stranger cannot fill the log.
  if (counters_.rejected != reported_rejected_) {
    log(broker_log_level::warning, std::to_string(counters_.rejected - reported_rejected_) +
                                       " malformed message(s) dropped, the last one: " + last_rejection_);
    reported_rejected_ = counters_.rejected;
  }
  turn(now);
}

void broker_service::check_processes() {
  if (!checked_) return;
  std::vector<wire::id> gone;
  const auto page = map_.participants_after(*checked_, checks_per_turn);
  for (const auto& one : page) {
    if (options_.host.empty() || one.hello.host != options_.host || !options_.pid_is_gone(one.hello.pid)) continue;
    log(broker_log_level::info, named(one.hello) + " ended without a Goodbye");
    gone.push_back(one.id);
  }
  checked_ = page.size() < checks_per_turn ? std::nullopt : std::optional(page.back().id);
  for (const auto& id : gone) map_.retire(id);  // work() cleans up
}

void broker_service::push_events(time now) {
  std::size_t budget = events_per_turn;
  while (const auto event = map_.next_event(now, budget)) {
    std::string frame;
    try {
      frame = wire::encode({0, event->state});
    } catch (const std::bad_alloc&) {  // this message is lost
    }
    for (const auto to : event->to) {
      const auto at = connections_.find(to);
      if (at == connections_.end()) continue;
      ++counters_.events;
      if (!frame.empty() && send_(to, frame)) continue;
      ++counters_.unsent;
      at->second.out_of_date = true;
    }
  }
}

wire::welcome broker_service::welcome() const {
  return {epoch_, static_cast<std::uint32_t>(options_.lease.count()),
          static_cast<std::uint32_t>(options_.heartbeat.count()), options_.remote, options_.version};
}

void broker_service::greet(routing to, std::uint64_t request) { reply(to, request, welcome()); }

void broker_service::reject(std::string_view why) {
  ++counters_.rejected;
  last_rejection_ = why;
}

bool broker_service::reply(routing to, std::uint64_t request, wire::body content) {
  if (!connections_.contains(to)) return true;  // its participant says Hello again when it returns
  if (send_(to, wire::encode({request, std::move(content)}))) return true;
  ++counters_.unsent;
  return false;
}

// Never logs a participant's own id, because it is a credential.
std::string broker_service::named(const wire::hello& who) const {
  return (who.name.empty() ? "participant" : who.name) + " (pid " + std::to_string(who.pid) + ", " +
         map_.shown_id_of(who.participant).hex().substr(0, 16) + ")";
}

void broker_service::log(broker_log_level level, const std::string& text) {
  if (!options_.log) return;
  if (lines_left_ <= 0) {
    ++lines_dropped_;
    return;
  }
  --lines_left_;
  options_.log(level, detail::escaped(text, detail::backslashes::kept));
}

}  // namespace orc
