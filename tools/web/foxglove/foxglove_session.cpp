#include "tools/web/foxglove/foxglove_session.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace orc::web {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_waiting_replies = 256;  // that wait because the client does not read
constexpr std::size_t max_noted = 16;             // origins that were refused
constexpr std::size_t max_noted_bytes = 256;
constexpr auto report_pause = 1s;  // before the same status again

}  // namespace

bool foxglove_session_maker::admits(std::string_view origin) {
  // Programs with pages of their own: no website can have this scheme.
  if (origin.starts_with("app://")) return true;
  if (std::find(from_.origins.begin(), from_.origins.end(), origin) != from_.origins.end()) return true;
  const std::string name(origin.substr(0, max_noted_bytes));
  if (from_.note && noted_.size() < max_noted && noted_.insert(name).second)
    from_.note("refused a viewer of origin " + name + ": allow it with --allow-origin " + name);
  return false;
}

message_limits foxglove_session_maker::limits() const {
  // Viewers subscribe to each channel in a message of its own.
  message_limits limits{.at_once = 2 * max_foxglove_subscriptions};
  if (from_.publish == nullptr) return limits;
  limits.message_bytes = max_foxglove_message_bytes;
  limits.per_second = 1000;
  limits.bytes_per_second = 8 << 20;
  limits.bytes_at_once = 16 << 20;
  return limits;
}

foxglove_session::foxglove_session(const foxglove_sources& from, bool playback_control)
    : from_(from), controls_playback_(playback_control && from.recording != nullptr) {
  replies_.add(server_info_text({.publish = from_.publish != nullptr,
                                 .parameters = from_.parameters != nullptr,
                                 .services = from_.services != nullptr,
                                 .graph = from_.graphs != nullptr,
                                 .recording = from_.recording,
                                 .playback_control = controls_playback_,
                                 .session = from_.session}));
  if (from_.recording != nullptr) playback_ = std::make_unique<foxglove_playback>(*from_.recording, controls_playback_);
  if (from_.publish != nullptr) publishing_.emplace(*from_.publish);
  if (from_.services != nullptr) services_ = std::make_unique<foxglove_services>(*from_.services);
  from_.channels.open();
}

foxglove_session::~foxglove_session() { from_.channels.close(); }

bool foxglove_session::receive(std::string_view message, bool text, std::string& why) {
  foxglove_message read;
  std::string problem;
  const auto outcome = text ? read_foxglove_text(message, read, problem) : read_foxglove_binary(message, read, problem);
  if (outcome == foxglove_outcome::broken) {
    why = problem;
    return false;
  }
  if (outcome == foxglove_outcome::refused)
    report(status_level::warning, problem);
  else
    obey(read);
  return true;
}

void foxglove_session::obey(const foxglove_message& message) {
  const auto try_to = [this](const std::string& problem) {
    if (!problem.empty()) report(status_level::error, problem);
  };
  const bool publishes = message.op == foxglove_op::advertise || message.op == foxglove_op::unadvertise ||
                         message.op == foxglove_op::message;
  if (publishes && !publishing_)
    return report(status_level::error, from_.recording != nullptr
                                           ? "a recording takes no samples"
                                           : "publishing is off: start orc-web with --allow-publish");
  switch (message.op) {
    case foxglove_op::none: return;
    case foxglove_op::subscribe:
      for (const auto& each : message.subscriptions) subscribe(each);
      return;
    case foxglove_op::unsubscribe:
      for (const std::uint32_t each : message.ids) unsubscribe(each);
      return;
    case foxglove_op::advertise:
      for (const auto& each : message.channels) try_to(publishing_->advertise(each));
      return;
    case foxglove_op::unadvertise:
      for (const std::uint32_t each : message.ids) try_to(publishing_->unadvertise(each));
      return;
    case foxglove_op::message: return try_to(publishing_->send(message.channel, message.data));
    case foxglove_op::subscribe_graph: return set_graph(true);
    case foxglove_op::unsubscribe_graph: return set_graph(false);
    case foxglove_op::call_service: return call_service(message);
    case foxglove_op::playback: return control(message.playback);
    case foxglove_op::get_parameters:
    case foxglove_op::set_parameters:
    case foxglove_op::subscribe_parameters:
    case foxglove_op::unsubscribe_parameters: return obey_parameters(message);
  }
}

void foxglove_session::subscribe(const foxglove_subscription_request& wanted) {
  const std::string name = "channel " + std::to_string(wanted.channel);
  auto channel = list_.channels ? find_channel(*list_.channels, wanted.channel) : nullptr;
  if (!channel) return report(status_level::error, name + " does not exist");
  if (subscriptions_.contains(wanted.id))
    return report(status_level::error, "subscription " + std::to_string(wanted.id) + " exists already");
  if (subscription_of_.contains(wanted.channel)) return report(status_level::error, name + " is subscribed already");
  if (subscriptions_.size() == max_foxglove_subscriptions)
    return report(status_level::error,
                  "too many subscriptions: " + std::to_string(max_foxglove_subscriptions) + " is the limit");
  const auto warn = [this](const std::string& problem) { report(status_level::warning, problem); };
  subscriptions_.emplace(wanted.id,
                         std::make_unique<foxglove_subscription>(wanted.id, from_.feeds, std::move(channel), warn));
  subscription_of_.emplace(wanted.channel, wanted.id);
}

// Unknown ones are no error: their channel may just have ended.
void foxglove_session::unsubscribe(std::uint32_t id) {
  const auto at = subscriptions_.find(id);
  if (at == subscriptions_.end()) return;
  outbox_.forget(*at->second);
  subscription_of_.erase(at->second->channel().id);
  subscriptions_.erase(at);
}

void foxglove_session::set_graph(bool on) {
  if (from_.graphs == nullptr) return report(status_level::warning, "a recording has no connection graph");
  if (on == (graph_ != nullptr)) return;
  if (on) {
    graph_ = std::make_unique<foxglove_graph>(*from_.graphs);
  } else {
    outbox_.forget(*graph_);
    graph_.reset();
  }
}

void foxglove_session::obey_parameters(const foxglove_message& message) {
  if (from_.parameters == nullptr) return report(status_level::warning, "a recording has no parameters");
  if (!parameters_)
    parameters_ = std::make_unique<foxglove_parameters>(
        *from_.parameters, from_.publish != nullptr,
        [this](const std::string& problem) { report(status_level::error, problem); });
  std::string problem;
  if (message.op == foxglove_op::get_parameters)
    problem = parameters_->get(message);
  else if (message.op == foxglove_op::set_parameters)
    problem = parameters_->set(message);
  else if (message.op == foxglove_op::subscribe_parameters)
    problem = parameters_->subscribe(message);
  else
    parameters_->unsubscribe(message);
  if (!problem.empty()) report(status_level::error, problem);
}

void foxglove_session::call_service(const foxglove_message& message) {
  const std::string problem = services_                    ? services_->call(message)
                              : from_.recording != nullptr ? "a recording has no services"
                                                           : "calling is off: start orc-web with --allow-publish";
  // As report(): a client that does not read misses some.
  if (problem.empty() || replies_.size() >= max_waiting_replies) return;
  replies_.add(call_failure_text(message.call, problem));
  outbox_.add(replies_);
}

void foxglove_session::control(const foxglove_playback_request& request) {
  if (!controls_playback_) return report(status_level::warning, "there is no recording that this client can control");
  playback& recording = *from_.recording;
  if (request.seek_ns) recording.seek(*request.seek_ns);
  recording.set_rate(static_cast<double>(request.rate));
  if (request.play)
    recording.play();
  else
    recording.pause();
  playback_->answer(request.id, request.seek_ns);
}

void foxglove_session::take_list() {
  channel_list newest = from_.channels.newest();
  if (newest.number == list_.number) return;
  list_ = std::move(newest);
  if (!list_.channels) return;
  advertiser_.show(list_.channels);
  end_subscriptions();
  if (!list_.problems) return;
  for (; problems_told_ < list_.problems->size(); ++problems_told_)
    report(status_level::warning, (*list_.problems)[problems_told_]);
}

void foxglove_session::end_subscriptions() {
  std::vector<std::uint32_t> ended;
  for (const auto& [id, each] : subscriptions_)
    if (!find_channel(*list_.channels, each->channel().id)) ended.push_back(id);
  for (const std::uint32_t id : ended) unsubscribe(id);
}

// A client that does not read misses some: there is no other place for them.
void foxglove_session::report(status_level level, const std::string& message) {
  const auto now = clock::now();
  if (replies_.size() >= max_waiting_replies || (message == reported_ && now - reported_at_ < report_pause)) return;
  reported_ = message;
  reported_at_ = now;
  replies_.add(status_text(level, message));
  outbox_.add(replies_);
}

clock::time_point foxglove_session::refresh(clock::time_point now) {
  auto earliest = clock::time_point::max();
  take_list();
  if (publishing_)
    for (const std::string& each : publishing_->problems()) report(status_level::error, each);
  give_turn(outbox_, replies_, now, earliest);
  give_turn(outbox_, advertiser_, now, earliest);
  if (playback_) give_turn(outbox_, *playback_, now, earliest);
  if (graph_) give_turn(outbox_, *graph_, now, earliest);
  if (services_) give_turn(outbox_, *services_, now, earliest);
  if (parameters_) give_turn(outbox_, *parameters_, now, earliest);
  for (const auto& [id, each] : subscriptions_) give_turn(outbox_, *each, now, earliest);
  return earliest;
}

}  // namespace orc::web
