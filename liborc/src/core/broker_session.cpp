#include "core/broker_session.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/endpoint_directory.h"
#include "core/process.h"
#include "core/route.h"
#include "wire/process_identity.h"
#include "wire/run_dir.h"

namespace orc::detail {

namespace {

constexpr auto hello_interval = std::chrono::milliseconds(200);
constexpr auto retry_interval = std::chrono::milliseconds(20);
constexpr auto withdrawal_interval = std::chrono::milliseconds(200);
constexpr auto withdrawal_patience = std::chrono::seconds(2);
constexpr int goodbye_patience_ms = 300;

[[nodiscard]] errc code_of(wire::error_code code) noexcept {
  switch (code) {
    case wire::error_code::name_taken: return errc::name_taken;
    case wire::error_code::bad_request: return errc::bad_argument;
    default: return errc::refused;
  }
}

}  // namespace

broker_session::broker_session(void* context, const participant_options& options)
    : options_(options), alone_(options.broker == without_broker), search_(context, options.broker) {
  hello_.participant = wire::id::random();
  hello_.name = options.name.empty() ? program_invocation_short_name : options.name;
  hello_.host = host_identity();
  hello_.pid = static_cast<std::uint32_t>(::getpid());
  hello_.start_time = process_start_time(hello_.pid).value_or(0);
  hello_.library = std::string("liborc ") + version();
  if (!alone_) return;
  place_ = network_place{.directory = {}, .directory_problem = {}, .alone = true, .advertise = {}};
  status_endpoint_ = without_broker;
  status_up_ = true;
}

int broker_session::fd() noexcept { return search_.socket() ? search_.socket().fd() : -1; }

void broker_session::step(monotonic::time_point now, const topic_lists& topics) {
  if (alone_) return confirm_all(now, topics);
  if (!up_) {
    const std::string before = search_.endpoint();
    search_.step(now);
    if (before != search_.endpoint()) publish_status();
    // A connection that outlived the broker's silence is not new, so no welcome comes by itself.
    if (now >= next_hello_) say_hello();
  }
  receive_all(now, topics);
  if (!up_) return;
  if (now - last_heard_ > lease_) return lose(now);
  declare(now, topics);
  if (now >= next_beat_) {
    beat(topics);
    next_beat_ = now + heartbeat_;
  }
  // A send may have executed the command that made the descriptor readable, which tells of it only once.
  if (std::exchange(sent_, false)) receive_all(now, topics);
}

monotonic::time_point broker_session::next_step(monotonic::time_point now, const topic_lists& topics) const {
  if (alone_) return monotonic::time_point::max();
  if (!up_) return std::min(search_.next_step(), next_hello_);
  auto next = next_beat_;
  const auto look_at = [&](const announcement& a) {
    if (const auto due = a.next()) next = std::min(next, *due);
  };
  for (const auto& each : topics.publications) {
    if (each->is_open()) look_at(each->announcement());
  }
  for (const auto& each : topics.subscriptions) look_at(each->announcement());
  for (const auto& each : withdrawals_) next = std::min(next, each.next);
  return std::max({next, now, try_again_});
}

void broker_session::receive_all(monotonic::time_point now, const topic_lists& topics) {
  zmq_frame frame;
  while (search_.socket() && frame.try_recv(search_.socket().get())) {
    if (frame.more()) {
      drop_parts(search_.socket().get(), frame);
      continue;
    }
    auto decoded = wire::decode({frame.data(), frame.size()});
    if (auto* const message = std::get_if<wire::envelope>(&decoded))
      receive(std::move(*message), now, topics);
    else
      log(log_level::warning,
          "the broker sent something else than a message: " + std::get<wire::malformed>(decoded).text);
  }
}

void broker_session::receive(wire::envelope&& message, monotonic::time_point now, const topic_lists& topics) {
  last_heard_ = now;
  if (const auto* const welcome = std::get_if<wire::welcome>(&message.content))
    return on_welcome(*welcome, message.request == 0, topics);
  if (!up_) return;
  if (const auto* const state = std::get_if<wire::topic_state>(&message.content))
    return on_state(message.request, *state, topics);
  if (const auto* const refusal = std::get_if<wire::error>(&message.content))
    return on_error(message.request, *refusal, topics);
  if (std::holds_alternative<wire::probe>(message.content)) {
    send(message.request, wire::alive{});
    return;
  }
  if (!std::holds_alternative<wire::ack>(message.content)) return;
  end_withdrawals([&](const auto& each) { return each.request == message.request; });
  for (const auto& each : topics.publications) {
    if (each->announcement().awaits(message.request)) each->announcement().confirmed();
  }
  for (const auto& each : topics.subscriptions) {
    if (each->announcement().awaits(message.request)) each->announcement().confirmed();
  }
}

// Unsolicited: the connection is new, and so may the broker be.
void broker_session::on_welcome(const wire::welcome& welcome, bool unsolicited, const topic_lists& topics) {
  if (!unsolicited && up_) return;
  if (!up_ || welcome.epoch != epoch_)
    log(log_level::info, "broker " + welcome.version + " answers at " + search_.endpoint());
  const bool first = !place_;
  const bool new_endpoint = endpoint() != search_.endpoint();
  up_ = true;
  epoch_ = welcome.epoch;
  if (welcome.heartbeat_ms > 0) heartbeat_ = std::chrono::milliseconds(welcome.heartbeat_ms);
  if (welcome.lease_ms > 0) lease_ = std::chrono::milliseconds(welcome.lease_ms);
  if (first || new_endpoint) {
    auto directory = prepare_endpoint_directory(directory_beside(search_.endpoint()));
    network_place place;
    if (const auto* const path = std::get_if<std::string>(&directory))
      place.directory = *path;
    else
      place.directory_problem = std::get<error>(directory);
    const auto route = route_to(search_.endpoint());
    place.remote = welcome.remote || (route && !route->loopback);
    place.offer_tcp = place.remote || search_.endpoint().starts_with("tcp://");
    place.advertise = options_.advertise;
    if (place.advertise.empty() && route && !route->loopback) place.advertise = route->address;
    if (place.advertise.empty() && place.remote) place.advertise = first_outside_address();
    place_ = std::move(place);
  }
  say_hello();
  renew_all(topics);
  publish_status();
}

void broker_session::on_error(std::uint64_t request, const wire::error& error, const topic_lists& topics) {
  if (error.code == wire::error_code::unknown_participant) {
    const auto now = monotonic::now();
    if (now < next_hello_) return;
    say_hello();
    renew_all(topics);
    return;
  }
  end_withdrawals([&](const auto& each) { return each.request == request; });
  const orc::error why(code_of(error.code), error.text);
  for (const auto& each : topics.publications) {
    if (!each->announcement().awaits(request)) continue;
    log(log_level::error, "the broker refused topic " + each->topic() + ": " + error.text);
    each->announcement().refused(why);
    return;
  }
  for (const auto& each : topics.subscriptions) {
    if (!each->announcement().awaits(request)) continue;
    log(log_level::error, "the broker refused to give topic " + each->topic() + ": " + error.text);
    each->announcement().refused(why);
    return;
  }
}

void broker_session::on_state(std::uint64_t request, const wire::topic_state& state, const topic_lists& topics) {
  for (const auto& each : topics.publications) {
    if (request != 0 && each->announcement().awaits(request)) each->announcement().confirmed();
  }
  for (const auto& each : topics.subscriptions) {
    const bool answer = request != 0 && each->announcement().awaits(request);
    if (answer) each->announcement().confirmed();
    if (each->topic() == state.topic) each->update(state, request == 0);
  }
}

// Nobody has to be told.
void broker_session::confirm_all(monotonic::time_point now, const topic_lists& topics) {
  const auto confirm = [](announcement& a) {
    if (a.due({})) a.confirmed();
  };
  for (const auto& each : topics.publications) {
    if (each->is_open()) confirm(each->announcement());
  }
  for (const auto& each : topics.subscriptions) {
    if (!each->announcement().due({})) continue;
    each->step(now);  // it listens when request_topic returns
    if (auto why = each->why_deaf())
      each->announcement().refused(*std::move(why));
    else
      confirm(each->announcement());
  }
}

void broker_session::say_hello() {
  next_hello_ = monotonic::now() + hello_interval;
  send(hello_request, hello_);
}

void broker_session::renew_all(const topic_lists& topics) {
  for (const auto& each : topics.publications) each->announcement().renew();
  for (const auto& each : topics.subscriptions) each->announcement().renew();
}

void broker_session::declare(monotonic::time_point now, const topic_lists& topics) {
  try_again_ = now + retry_interval;  // unless all of it is sent
  for (const auto& each : topics.publications) {
    if (!each->is_open() || !each->announcement().due(now)) continue;
    if (!send(next_request_, each->registration())) return;
    each->announcement().sent(next_request_++, now);
  }
  for (const auto& each : topics.subscriptions) {
    if (!each->announcement().due(now)) continue;
    if (!send(next_request_, each->request())) return;
    each->announcement().sent(next_request_++, now);
  }
  try_again_ = now;
  end_withdrawals([&](const auto& each) { return now >= each.give_up; });
  for (auto& each : withdrawals_) {
    if (now < each.next) continue;
    send(each.request, each.topic.what);
    each.next = now + withdrawal_interval;
  }
}

void broker_session::beat(const topic_lists& topics) {
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
  up_ = false;
  search_.restart();
  search_.step(now);
  publish_status();
}

void broker_session::withdraw(ending topic) {
  if (!up_) return topic.told->confirmed();  // nothing to withdraw: the next broker is never told
  const auto now = monotonic::now();
  withdrawals_.push_back({next_request_++, std::move(topic), now, now + withdrawal_patience});
}

template <typename Condition>
void broker_session::end_withdrawals(Condition over) {
  std::erase_if(withdrawals_, [&](const withdrawal& each) {
    if (!over(each)) return false;
    each.topic.told->confirmed();
    return true;
  });
}

void broker_session::leave() {
  if (!up_ || !send(goodbye_request, wire::goodbye{})) return;
  const deadline until(goodbye_patience_ms);
  while (!goodbye_was_heard() && !until.passed()) {
    zmq_pollitem_t answer{search_.socket().get(), 0, ZMQ_POLLIN, 0};
    if (zmq_poll(&answer, 1, until.left_ms()) < 0 && errno != EINTR) return;
  }
}

bool broker_session::goodbye_was_heard() {
  zmq_frame frame;
  while (frame.try_recv(search_.socket().get())) {
    if (frame.more()) {
      drop_parts(search_.socket().get(), frame);
      continue;
    }
    const auto decoded = wire::decode({frame.data(), frame.size()});
    const auto* const message = std::get_if<wire::envelope>(&decoded);
    if (message != nullptr && message->request == goodbye_request) return true;
  }
  return false;
}

// False: the broker takes nothing at the moment.
bool broker_session::send(std::uint64_t request, wire::body what) noexcept {
  if (!search_.socket()) return false;
  const std::string frame = wire::encode({request, std::move(what)});
  sent_ = true;
  return zmq_send(search_.socket().get(), frame.data(), frame.size(), ZMQ_DONTWAIT) >= 0;
}

void broker_session::log(log_level level, const std::string& text) const {
  if (options_.log) options_.log(level, text);
}

void broker_session::publish_status() {
  const std::lock_guard lock(status_mutex_);
  status_up_ = up_;
  if (up_) status_endpoint_ = search_.endpoint();
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
          "no broker answers at " + search_.places() + ": start one with orc-broker, or set ORC_BROKER"};
}

}  // namespace orc::detail
