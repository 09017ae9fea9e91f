#include "core/broker/broker_session.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/files/run_dir.h"
#include "base/process/process_identity.h"
#include "core/participant/process.h"

namespace orc::detail {

namespace {

constexpr auto hello_interval = std::chrono::milliseconds(200);
constexpr auto retry_interval = std::chrono::milliseconds(20);
constexpr auto min_delay = std::chrono::milliseconds(1000);  // between Hellos that fail
constexpr auto max_delay = std::chrono::milliseconds(5000);
constexpr int goodbye_patience_ms = 300;
constexpr auto both_know_us = std::chrono::milliseconds(1000);  // so that no name is free between two brokers

[[nodiscard]] errc code_of(wire::error_code code) noexcept {
  switch (code) {
    case wire::error_code::name_taken: return errc::name_taken;
    case wire::error_code::bad_request: return errc::bad_argument;
    default: return errc::refused;
  }
}

// The broker's candidates that the user named. The other candidates are not checked: most of them are always empty.
[[nodiscard]] std::vector<std::string> named_candidates_of(const participant_options& options) {
  return broker_is_named(options.broker) ? broker_candidates(options.broker) : std::vector<std::string>();
}

}  // namespace

broker_session::broker_session(zmq::context_t& context, const participant_options& options)
    : options_(options),
      alone_(options.broker == without_broker),
      search_(context, options.broker),
      whereabouts_(options, alone_),
      schemas_([this](log_level level, const std::string& text) { log(level, text); }),
      silence_(named_candidates_of(options)) {
  draw_identity();
  hello_.name = options.name.empty() ? program_invocation_short_name : options.name;
  hello_.host = host_identity();
  hello_.pid = static_cast<std::uint32_t>(::getpid());
  hello_.start_time = process_start_time(hello_.pid).value_or(0);
  hello_.library = std::string("liborc ") + version();
  if (!alone_) return;
  status_endpoint_ = without_broker;
  status_up_ = true;
}

void broker_session::draw_identity() {
  hello_.participant = wire::id::random();
  hello_.secret = wire::id::random();
  hello_request_ = next_request_++;
}

void broker_session::step(monotonic::time_point now, topic_lists& topics) {
  if (alone_) {
    schemas_.compare(now, topics);  // no broker has schemas, but links may have news about types
    return confirm_all(now, topics);
  }
  if (left_broker_ && now >= farewell_at_) say_farewell();
  if (now >= known_until_) withdrawals_.forget();
  if (!joined_) {
    search_.look_back_later(now);
    if (search_.step(now)) publish_status();
    if (silence_.step(now)) {
      looks_for_slow_ = silence_.is_patient();
      round_trip_ = silence_.round_trip();
      search_.expect_round_trip(silence_.round_trip(), now);
      publish_status();
    }
    // A connection that outlived the broker's silence is not new. So the broker sends no Welcome by itself.
    if (now >= next_hello_) {
      refusal_.reset();
      hold_up(topics);
      say_hello(now);
    }
  }
  receive_all(now, topics);
  if (refusal_) hold_up(topics);  // also those declared since
  if (!joined_) return;
  // Without another candidate to go to, it waits until the broker returns, or an answer says that the session is over.
  if (now - last_heard_ > lease_ || (search_.has_choice() && !search_.is_connected())) return lose(now);
  look_back(now, topics);
  if (!joined_) return;
  if (now - joined_at_ > max_delay) hello_delay_ = {};
  declare(now, topics);
  if (now >= next_beat_) {
    beat(topics);
    next_beat_ = now + heartbeat_;
  }
  // A send may have consumed the event that made the descriptor readable.
  if (std::exchange(sent_, false)) receive_all(now, topics);
  schemas_.compare(now, topics);
}

monotonic::time_point broker_session::next_step(monotonic::time_point now, const topic_lists& topics) const {
  if (alone_) return monotonic::time_point::max();
  if (unread_) return now;
  if (!joined_) return std::min(search_.next_step(), next_hello_);
  auto next = next_beat_;
  for (const auto& each : topics.open) {
    if (!each.can_be_declared()) continue;
    if (const auto due = each.declared().next()) next = std::min(next, *due);
  }
  next = std::min({next, withdrawals_.next(), schemas_.next(), search_.next_look_back()});
  if (left_broker_) next = std::min(next, farewell_at_);
  return std::max({next, now, try_again_});
}

void broker_session::receive_all(monotonic::time_point now, topic_lists& topics) {
  unread_ = search_.receive_some([&](std::span<const std::byte> frame) {
    auto decoded = wire::decode(frame);
    if (decoded)
      receive(*std::move(decoded), now, topics);
    else
      log(log_level::warning, "the broker sent something else than a message: " + decoded.error().text);
  });
}

void broker_session::receive(wire::envelope&& message, monotonic::time_point now, topic_lists& topics) {
  last_heard_ = now;
  if (const auto* const welcome = std::get_if<wire::welcome>(&message.content)) {
    if (message.request == 0) return on_new_connection(*welcome, now);
    if (message.request == hello_request_ && !joined_) join(*welcome, now, topics);
    return;
  }
  if (const auto* const refusal = std::get_if<wire::error>(&message.content))
    return on_error(message.request, *refusal, now, topics);
  if (!joined_) return;
  if (auto* const part = std::get_if<wire::schema_part>(&message.content))
    return schemas_.on_part(message.request, std::move(*part), now);
  if (const auto* const state = std::get_if<wire::topic_state>(&message.content))
    return on_state(message.request, *state, now, topics);
  if (const auto* const report = std::get_if<wire::type_mismatch>(&message.content))
    return schemas_.on_mismatch(*report, now, topics);
  if (std::holds_alternative<wire::probe>(message.content)) {
    send(message.request, wire::alive{});
    return;
  }
  if (!std::holds_alternative<wire::ack>(message.content)) return;
  withdrawals_.end(message.request);
  schemas_.on_ack(message.request, now);
  if (const auto topic = pending_.answered_by(message.request)) topic->declared().confirmed();
}

// An earlier candidate answers again. Says Hello there first, because that broker may refuse it.
void broker_session::look_back(monotonic::time_point now, topic_lists& topics) {
  search_.look_back(now);
  auto& there = search_.earlier();
  std::optional<wire::welcome> accepted;
  bool refused = false;
  const bool more = there.receive_some([&](std::span<const std::byte> frame) {
    const auto message = wire::decode(frame);
    if (!message) return;
    const auto* const welcome = std::get_if<wire::welcome>(&message->content);
    if (welcome != nullptr && (message->request == hello_request_ || welcome->epoch == epoch_)) {
      accepted = *welcome;
    } else if (welcome != nullptr) {
      (void)there.try_send(wire::encode({hello_request_, hello_}));
    } else if (message->request == hello_request_) {
      refused = true;
    }
  });
  unread_ = unread_ || more;
  if (accepted) return go_back(*accepted, now, topics);
  if (refused) search_.look_back_later(now + max_delay);
}

// Another way to the same broker is like a new connection.
void broker_session::go_back(const wire::welcome& welcome, monotonic::time_point now, topic_lists& topics) {
  auto left = search_.go_back();
  last_heard_ = now;
  if (welcome.epoch == epoch_) return on_new_connection(welcome, now);
  leave_behind(now);
  left_broker_ = std::move(left);
  farewell_at_ = now + both_know_us;
  join(welcome, now, topics);
}

// That broker knows this participant until the lease ends.
void broker_session::leave_behind(monotonic::time_point now) {
  withdrawals_.remember();
  known_until_ = now + lease_ + both_know_us;
}

void broker_session::say_farewell() {
  (void)left_broker_->try_send(wire::encode({goodbye_request, wire::goodbye{}}));
  left_broker_.reset();
}

// A new connection may lead to another broker.
void broker_session::on_new_connection(const wire::welcome& welcome, monotonic::time_point now) {
  learn(welcome);
  joined_ = false;
  search_.stay(now + broker_search::patience);
  say_hello(now);
}

// Records how often the broker wants to hear from us, where it is, and where our endpoints belong.
void broker_session::learn(const wire::welcome& welcome) {
  if (welcome.heartbeat_ms > 0) heartbeat_ = std::chrono::milliseconds(welcome.heartbeat_ms);
  if (welcome.lease_ms > 0) lease_ = std::chrono::milliseconds(welcome.lease_ms);
  const bool is_new = endpoint() != search_.endpoint();
  const auto remark = whereabouts_.learn(search_.endpoint(), search_.is_named(), welcome.remote, is_new);
  if (!remark.empty()) log(log_level::warning, remark);
}

void broker_session::follow_addresses(monotonic::time_point now, topic_lists& topics) {
  topics.reopen_all();
  for (const auto& each : topics.publications) {
    if (each->close_outdated()) each->announcement().moved();
  }
  if (alone_ || !scope()) return;
  const auto followed = whereabouts_.follow(search_.endpoint());
  if (!followed.has_route) return;  // when a route exists again, that is another change
  if (followed.begins_elsewhere) {
    log(log_level::info,
        "this host is at " + whereabouts_.route_begins_at() + " now: says so to the broker at " + search_.endpoint());
    joined_ = false;
    next_hello_ = now + hello_interval;
    search_.reconnect(now);
  }
  for (const auto& each : topics.publications) {
    if (each->set_addresses(scope()->addresses)) each->announcement().moved();
  }
}

void broker_session::join(const wire::welcome& welcome, monotonic::time_point now, topic_lists& topics) {
  learn(welcome);
  if (epoch_ != welcome.epoch || endpoint() != search_.endpoint())
    log(log_level::info, "broker " + welcome.version + " answers at " + search_.endpoint());
  if (epoch_ != welcome.epoch) withdrawals_.end_all();
  withdrawals_.repeat(now);
  schemas_.begin_again(now);
  joined_ = true;
  joined_at_ = now;
  epoch_ = welcome.epoch;
  refusal_.reset();
  logged_refusal_.clear();
  silence_.end();
  looks_for_slow_ = false;
  next_beat_ = now;
  pending_.clear();
  topics.reopen_all();
  for (const auto& each : topics.publications) {
    if (each->set_addresses(scope()->addresses))
      each->announcement().moved();
    else
      each->announcement().renew();
  }
  for (const auto& each : topics.subscriptions) each->announcement().renew();
  publish_status();
}

void broker_session::on_error(std::uint64_t request, const wire::error& error, monotonic::time_point now,
                              topic_lists& topics) {
  if (request == hello_request_ && !joined_) return on_refused_hello(error, now, topics);
  if (!joined_) return;
  if (error.code == wire::error_code::unknown_participant) return on_lost_session(error, now);
  withdrawals_.end(request);
  schemas_.on_error(request, error, now);
  const orc::error why(code_of(error.code), error.text);
  const auto topic = pending_.answered_by(request);
  if (!topic) return;
  if (topic->receiver) {
    log(log_level::error, "the broker refused to give topic " + topic->receiver->topic() + ": " + error.text);
    return topic->declared().refused(why);
  }
  // Another participant may leave, and make room.
  const bool may_pass = error.code == wire::error_code::name_taken || error.code == wire::error_code::limit;
  if (!may_pass) {
    topic->declared().refused(why);
  } else if (!topic->declared().taken(why, now)) {
    return;
  }
  log(log_level::error, "the broker refused topic " + topic->sender->topic() + ": " + error.text);
}

// The topics stay declared. Threads that wait for one get the reason why it does not come about now.
void broker_session::on_refused_hello(const wire::error& error, monotonic::time_point now, topic_lists& topics) {
  const bool taken = error.code == wire::error_code::id_taken;
  const auto delay = taken ? hello_delay_ : std::max(hello_delay_, min_delay);
  hello_delay_ = std::clamp(hello_delay_ * 2, min_delay, max_delay);
  next_hello_ = now + delay;
  search_.stay(next_hello_ + broker_search::patience);
  const std::string text = "the broker at " + search_.endpoint() + " refused this participant: " + error.text;
  if (std::exchange(logged_refusal_, text) != text) log(log_level::error, text);
  if (taken) {
    draw_identity();
    return;
  }
  refusal_.emplace(code_of(error.code), text + "; the declaration stays and takes effect when it is accepted");
  hold_up(topics);
}

// Another program ended the session, or this one was stopped for longer than the lease. Other participants may hold our
// topics by now.
void broker_session::on_lost_session(const wire::error& error, monotonic::time_point now) {
  log(log_level::error, "the broker at " + search_.endpoint() + " ended the session of this participant (" +
                            error.text + "): everything is registered again");
  joined_ = false;
  next_hello_ = now + hello_delay_;
  hello_delay_ = std::clamp(hello_delay_ * 2, min_delay, max_delay);
  search_.stay(next_hello_ + broker_search::patience);
}

void broker_session::hold_up(const topic_lists& topics) {
  for (const auto& each : topics.open) each.declared().held_up(refusal_);
}

void broker_session::on_state(std::uint64_t request, const wire::topic_state& state, monotonic::time_point now,
                              topic_lists& topics) {
  const auto topic = request != 0 ? pending_.answered_by(request) : std::nullopt;
  bool is_complete = true;
  // First, because request_topic then looks whether the types match.
  topics.for_each_named(state.topic, [&](subscription& each) {
    topics.affected.insert(&each);
    topics.typed.insert(&each);
    if (each.update(state, request == 0, whereabouts_.run_directory(), schemas_.checks(), now)) return;
    if (topic && topic->receiver.get() == &each) is_complete = false;  // asks again
    if (request == 0) ask_again(each, topics);
  });
  if (!topic || !is_complete) return;
  if (topic->sender && topic->sender->is_shared() && !state.shared)
    return topic->declared().refused(
        {errc::refused, "the broker at " + search_.endpoint() + " is too old for shared topics: update it"});
  const auto& type = topic->sender ? topic->sender->type() : topic->receiver->type();
  if (state.lacks_schema && type) schemas_.lacks(type, now);
  topic->declared().confirmed();
}

void broker_session::ask_again(subscription& whom, topic_lists& topics) {
  const auto is_it = [&](const auto& each) { return each.get() == &whom; };
  const auto found = std::find_if(topics.subscriptions.begin(), topics.subscriptions.end(), is_it);
  if (found != topics.subscriptions.end()) topics.open.push_back({.sender = {}, .receiver = *found});
  whom.announcement().renew();
}

// Without a broker there is nothing to declare.
void broker_session::confirm_all(monotonic::time_point now, topic_lists& topics) {
  for (const auto& each : topics.open) {
    if (!each.can_be_declared() || !each.declared().due({})) continue;
    if (!each.receiver) {
      each.declared().confirmed();
      continue;
    }
    each.receiver->step(now);  // it listens when request_topic returns
    if (auto why = each.receiver->why_deaf())
      each.declared().refused(*std::move(why));
    else
      each.declared().confirmed();
  }
  topics.forget_settled();
}

void broker_session::say_hello(monotonic::time_point now) {
  next_hello_ = now + hello_interval;
  send(hello_request_, hello_);
}

// Withdrawals come first, because a topic may be declared anew under another id.
void broker_session::declare(monotonic::time_point now, topic_lists& topics) {
  try_again_ = now + retry_interval;  // unless all of it is sent
  const auto send_one = [this](std::uint64_t request, const wire::body& what) { return send(request, what); };
  if (!withdrawals_.send_due(now, send_one)) return;
  for (const auto& each : topics.open) {
    if (!each.can_be_declared() || !each.declared().due(now)) continue;
    pending_.add(next_request_, each);
    if (!send(next_request_, each.sender ? wire::body(each.sender->registration()) : each.receiver->request()))
      return pending_.remove(next_request_);
    each.declared().sent(next_request_++, now);
  }
  topics.forget_settled();
  try_again_ = now;
  schemas_.step(now, topics, [&](wire::body what) -> std::optional<std::uint64_t> {
    if (send(next_request_, std::move(what))) return next_request_++;
    try_again_ = now + retry_interval;
    return std::nullopt;
  });
}

void broker_session::beat(const topic_lists& topics) {
  pending_.forget_answered();
  wire::heartbeat beat;
  const auto flush = [&] { send(heartbeat_request, std::exchange(beat, {})); };
  for (const auto& each : topics.publications) {
    beat.publications.push_back(each->counters());
    if (beat.publications.size() == beat_counters) flush();
  }
  for (const auto& each : topics.subscriptions) {
    beat.subscriptions.push_back(each->counters());
    if (beat.subscriptions.size() == beat_counters) flush();
  }
  flush();
}

void broker_session::lose(monotonic::time_point now) {
  log(log_level::warning, "the broker at " + search_.endpoint() + " does not answer any more; samples go on");
  joined_ = false;
  withdrawals_.end_waits();
  leave_behind(now);
  search_.restart();
  search_.step(now);
  publish_status();
}

void broker_session::withdraw(std::vector<ending>& topics) {
  withdrawals_.reserve(topics.size());
  for (auto& each : topics) {
    const bool heard_of = each.declared->was_sent();
    if (!heard_of || !joined_) each.told->confirmed();
    if (heard_of) withdrawals_.add(next_request_++, std::move(each.what), std::move(each.told));
  }
  topics.clear();
}

void broker_session::leave() {
  if (left_broker_) say_farewell();
  if (!joined_ || !send(goodbye_request, wire::goodbye{})) return;
  const deadline until(goodbye_patience_ms);
  while (!goodbye_was_heard(until) && !until.passed()) (void)search_.wait_readable(until.left_ms());
}

bool broker_session::goodbye_was_heard(const deadline& until) {
  zmq::message_t frame;
  while (!until.passed() && search_.try_recv(frame)) {
    const auto message = wire::decode({frame.data<const std::byte>(), frame.size()});
    if (message && message->request == goodbye_request) return true;
  }
  return false;
}

// False: the broker takes nothing now.
bool broker_session::send(std::uint64_t request, wire::body what) {
  sent_ = true;
  return search_.try_send(wire::encode({request, std::move(what)}));
}

void broker_session::log(log_level level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

void broker_session::publish_status() {
  const std::lock_guard lock(status_mutex_);
  status_up_ = joined_;
  if (joined_) status_endpoint_ = search_.endpoint();
  status_candidates_ = search_.candidates(silence_.findings());
  status_problem_ = search_.problem();
}

std::string broker_session::endpoint() const {
  const std::lock_guard lock(status_mutex_);
  return status_endpoint_;
}

result broker_session::availability() const {
  const std::lock_guard lock(status_mutex_);
  if (status_up_) return {};
  if (!status_problem_.empty()) return {errc::no_broker, "no broker: " + status_problem_};
  return {errc::no_broker,
          "no broker answers at " + status_candidates_ + ": start one with orc-broker, or set ORC_BROKER"};
}

}  // namespace orc::detail
