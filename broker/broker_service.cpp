#include "broker_service.h"

#include <algorithm>
#include <utility>

namespace orc {
namespace {

constexpr std::size_t max_waiting = 4'096;  // registrations that wait for probes, all together

std::uint64_t random_epoch() { return wire::id::random().lo; }

std::string named(const wire::hello& who) {
  return (who.name.empty() ? "participant" : who.name) + " (pid " + std::to_string(who.pid) + ", " +
         who.participant.hex().substr(0, 8) + ")";
}

// What people will see of it must not move their cursor.
void make_printable(std::string& text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
}

}  // namespace

broker_service::broker_service(broker_service_options options, send_function send, time started)
    : options_(std::move(options)),
      send_(std::move(send)),
      started_(started),
      epoch_(random_epoch()),
      map_(options_.lease, options_.limits) {}

void broker_service::receive(const routing& from, std::span<const std::byte> frame, time now) {
  ++counters_.messages;
  if (frame.empty()) return greet(from, 0);
  auto decoded = wire::decode(frame);
  if (const auto* wrong = std::get_if<wire::malformed>(&decoded)) {
    reject(wrong->text);
    reply(from, wrong->request, wire::error{wrong->code, wrong->text});
    return;
  }
  auto& message = std::get<wire::envelope>(decoded);
  auto who = map_.participant_at(from);
  if (who) (void)map_.renew(from, now);
  dispatch(from, message, now);
  if (probes_.empty()) return;
  // Whatever a holder says proves that it lives, also where the topic is now free or somebody else's.
  if (!who) who = map_.participant_at(from);
  if (who) settle(*who, true, now);
}

void broker_service::dispatch(const routing& from, wire::envelope& message, time now) {
  const bool introduces_itself = std::holds_alternative<wire::hello>(message.content);
  if (introduces_itself) {
    out_of_date_.erase(from);
  } else if (!out_of_date_.empty() && out_of_date_.contains(from)) {
    reply(from, message.request,
          wire::error{wire::error_code::unknown_participant, "an event was lost: say Hello and register again"});
    return;
  }
  std::visit([&](auto& content) { handle(from, message.request, content, now); }, message.content);
}

void broker_service::handle(const routing& from, std::uint64_t request, wire::hello& what, time now) {
  for (std::string* const text : {&what.name, &what.host, &what.library}) make_printable(*text);
  const bool known = map_.route_of(what.participant) != nullptr;
  topic_map::events events;
  if (auto wrong = map_.hello(from, what, now, events)) {
    reply(from, request, std::move(*wrong));
  } else {
    if (!known) log(broker_log_level::info, named(what) + " joined");
    greet(from, request);
  }
  push(events);
}

void broker_service::handle(const routing& from, std::uint64_t request, wire::register_topic& what, time now) {
  register_for({from, request, std::move(what)}, std::nullopt, now);
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::unregister_topic& what, time) {
  topic_map::events events;
  finish(from, request, map_.unregister_topic(from, what, events));
  push(events);
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::request_topic& what, time) {
  std::visit([&](auto&& state) { reply(from, request, std::forward<decltype(state)>(state)); },
             map_.request_topic(from, what));
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::release_topic& what, time) {
  finish(from, request, map_.release_topic(from, what));
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::heartbeat& what, time now) {
  finish(from, request, map_.heartbeat(from, what, now));
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::goodbye&, time) {
  topic_map::events events;
  map_.goodbye(from, events);
  reply(from, request, wire::ack{});
  push(events);
}

void broker_service::handle(const routing&, std::uint64_t, const wire::alive&, time) {
  // receive() settles the probe of whoever says anything.
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::list_topics& what, time now) {
  auto page = map_.list(what.after, what.limit, now);
  page.epoch = epoch_;
  page.uptime_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<topic_map::duration>(now - started_).count());
  page.rejected = counters_.rejected;
  reply(from, request, std::move(page));
}

void broker_service::handle(const routing& from, std::uint64_t request, const wire::describe_topic& what, time now) {
  std::visit([&](auto&& state) { reply(from, request, std::forward<decltype(state)>(state)); },
             map_.describe(what.topic, now));
}

// Welcome, Ack, Error, TopicState, TopicList, Probe: only the broker says these.
template <class NotARequest>
void broker_service::handle(const routing& from, std::uint64_t request, const NotARequest&, time) {
  reject("a message that only the broker sends");
  reply(from, request,
        wire::error{wire::error_code::bad_request, "this kind of message is the broker's to send, not a request"});
}

void broker_service::register_for(pending asked, const std::optional<wire::id>& alive_holder, time now) {
  // Each turn either answers or removes a dead holder, after which the topic is free.
  for (;;) {
    topic_map::events events;
    auto result = map_.register_topic(asked.from, asked.what, events);
    const auto* held = std::get_if<topic_map::held>(&result);
    if (held == nullptr) {
      if (auto* state = std::get_if<wire::topic_state>(&result)) {
        reply(asked.from, asked.request, std::move(*state));
      } else {
        reply(asked.from, asked.request, std::move(std::get<wire::error>(result)));
      }
      return push(events);
    }
    if (held->participant == alive_holder || holder_is_alive(*held)) {
      log(broker_log_level::info, "refused: " + held->refusal);
      reply(asked.from, asked.request, wire::error{wire::error_code::name_taken, held->refusal});
      return;
    }
    if (!holder_is_dead(*held)) return probe(*held, std::move(asked), now);
    take_over_from(held->participant, "is dead");
  }
}

bool broker_service::holder_is_dead(const topic_map::held& held) const {
  return !options_.host.empty() && held.holder.host == options_.host &&
         options_.check_process(held.holder.pid, held.holder.start_time) == detail::process_state::dead;
}

bool broker_service::holder_is_alive(const topic_map::held& held) const {
  return !options_.host.empty() && held.holder.host == options_.host &&
         options_.check_process(held.holder.pid, held.holder.start_time) == detail::process_state::alive;
}

void broker_service::probe(const topic_map::held& held, pending asked, time now) {
  if (waiting_ >= max_waiting) {
    reply(
        asked.from, asked.request,
        wire::error{wire::error_code::limit, "too many registrations wait for an answer of other holders: try again"});
    return;
  }
  const auto [at, first] = probes_.try_emplace(held.participant);
  auto& running = at->second;
  if (first) {
    running.request = ++last_probe_;
    running.deadline = now + options_.probe_timeout;
    if (const auto* route = map_.route_of(held.participant)) reply(*route, running.request, wire::probe{});
  }
  // A retry of the same registration takes the place of the first: it is answered once, under its last request id.
  const auto same = std::find_if(running.waiting.begin(), running.waiting.end(), [&](const pending& one) {
    return one.from == asked.from && one.what.topic == asked.what.topic;
  });
  if (same != running.waiting.end()) {
    *same = std::move(asked);
  } else {
    running.waiting.push_back(std::move(asked));
    ++waiting_;
  }
}

void broker_service::settle(const wire::id& holder, bool alive, time now) {
  const auto at = probes_.find(holder);
  if (at == probes_.end()) return;
  auto settled = std::move(at->second);
  probes_.erase(at);
  waiting_ -= settled.waiting.size();
  if (!alive) take_over_from(holder, "did not answer");
  for (auto& one : settled.waiting) {
    register_for(std::move(one), alive ? std::optional(holder) : std::nullopt, now);
  }
}

void broker_service::settle_overdue_probes(time now) {
  std::vector<wire::id> overdue;
  for (const auto& [holder, running] : probes_) {
    if (running.deadline <= now) overdue.push_back(holder);
  }
  for (const auto& holder : overdue) settle(holder, false, now);
}

std::optional<broker_service::time> broker_service::next_deadline() const {
  std::optional<time> next;
  for (const auto& [holder, running] : probes_) next = next ? std::min(*next, running.deadline) : running.deadline;
  return next;
}

void broker_service::take_over_from(const wire::id& holder, std::string_view how) {
  if (map_.route_of(holder) == nullptr) return;  // said Goodbye in the meantime
  ++counters_.takeovers;
  log(broker_log_level::warning,
      "participant " + holder.hex().substr(0, 8) + " " + std::string(how) + ": its topics are free");
  topic_map::events events;
  map_.remove(holder, events);
  push(events);
}

void broker_service::tick(time now) {
  topic_map::events events;
  for (const auto& one : map_.participants()) {
    if (options_.host.empty() || one.hello.host != options_.host || !options_.pid_is_gone(one.hello.pid)) continue;
    log(broker_log_level::info, named(one.hello) + " ended without a Goodbye");
    map_.remove(one.id, events);
  }
  if (const auto late = map_.expire(now, events); late > 0) {
    log(broker_log_level::warning, std::to_string(late) + " participant(s) lost their lease");
  }
  push(events);
  std::erase_if(out_of_date_, [this](const routing& route) { return !map_.participant_at(route); });
  // Once per period, so that a stranger cannot fill the log.
  if (counters_.rejected != reported_rejected_) {
    log(broker_log_level::warning, std::to_string(counters_.rejected - reported_rejected_) +
                                       " malformed message(s) dropped, the last one: " + last_rejection_);
    reported_rejected_ = counters_.rejected;
  }
}

wire::welcome broker_service::welcome() const {
  return {epoch_, static_cast<std::uint32_t>(options_.lease.count()),
          static_cast<std::uint32_t>(options_.heartbeat.count()), options_.remote, options_.version};
}

void broker_service::greet(const routing& to, std::uint64_t request) { reply(to, request, welcome()); }

void broker_service::reject(std::string_view why) {
  ++counters_.rejected;
  last_rejection_ = why;
}

bool broker_service::reply(const routing& to, std::uint64_t request, wire::body content) {
  if (send_(to, wire::encode({request, std::move(content)}))) return true;
  ++counters_.unsent;
  return false;
}

void broker_service::finish(const routing& to, std::uint64_t request, const topic_map::done& result) {
  if (result) {
    reply(to, request, *result);
  } else {
    reply(to, request, wire::ack{});
  }
}

void broker_service::push(const topic_map::events& events) {
  for (const auto& event : events) {
    const auto frame = wire::encode({0, event.state});
    for (const auto& to : event.to) {
      ++counters_.events;
      if (send_(to, frame)) continue;
      ++counters_.unsent;
      out_of_date_.insert(to);
    }
  }
}

void broker_service::log(broker_log_level level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

}  // namespace orc
