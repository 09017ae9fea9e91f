#include "parameters/parameter_client.h"

#include <poll.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "parameters/parameter_json.h"

namespace orc::detail {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t owners_at_once = 64;  // below max_called_services
constexpr std::size_t asked_at_once = 64;   // of one owner, whose queue others use too
constexpr int longest_wait_ms = 1000;
constexpr int between_stops_ms = 50;
constexpr int without_descriptor_ms = 10;
constexpr std::chrono::nanoseconds longest = std::chrono::hours(24);

[[nodiscard]] errc code_of(const call_error& error) noexcept {
  switch (error.code) {
    case call_errc::failed:
      switch (static_cast<parameter_refusal>(error.number)) {
        case parameter_refusal::unknown: return errc::unknown_topic;
        case parameter_refusal::value: return errc::bad_argument;
        default: return errc::refused;
      }
    case call_errc::deadline_exceeded:
    case call_errc::lost:
    case call_errc::no_service: return errc::timed_out;
    case call_errc::server_died: return errc::unknown_topic;
    case call_errc::no_memory: return errc::no_memory;
    case call_errc::closed: return errc::closed;
    case call_errc::forked: return errc::forked;
    default: return errc::refused;
  }
}

[[nodiscard]] result read_reply(const call_result<parameter_reply>& reply, const std::string& name,
                                parameter_value& value) {
  if (!reply) {
    const bool own_words = reply.code() == call_errc::failed;
    return {code_of(reply.error()), (own_words ? "" : name + ": ") + reply.error().message()};
  }
  if (auto found = value_in(reply->json)) {
    value = *std::move(found);
    return {};
  }
  return {errc::refused, "the program of " + name + " answered something that is no value"};
}

}  // namespace

bool is_parameter(const topic_state& topic) noexcept {
  return topic.publication && topic.publication->type && topic.publication->type->name == parameter_type_name;
}

result no_parameter(std::string_view name) {
  return {errc::unknown_topic, "no program has the parameter " + std::string(name)};
}

result parameter_client::look_up(orc::directory& in) {
  std::vector<topic_state> topics;
  if (result listed = in.topics(std::string(parameter_service_prefix) + "*", topics); !listed) return listed;
  for (const topic_state& topic : topics) {
    if (topic.publication) services_.insert_or_assign(topic.publication->participant.id, topic.name);
  }
  return {};
}

call_future<parameter_reply> parameter_client::start(const parameter_question& question,
                                                     std::chrono::nanoseconds timeout) {
  return participant_.call<parameter_reply>("/" + services_.at(question.owner),
                                            parameter_request{request_of(question.name, question.value)},
                                            std::clamp(timeout, std::chrono::nanoseconds(1), longest));
}

std::vector<parameter_outcome> parameter_client::ask(std::span<const parameter_question> questions,
                                                     std::chrono::nanoseconds timeout, const std::stop_token& stop) {
  std::vector<parameter_outcome> outcomes;
  std::map<std::string_view, conversation> all;
  for (std::size_t n = 0; n < questions.size(); ++n) {
    outcomes.push_back({.name = questions[n].name, .outcome = no_parameter(questions[n].name)});
    if (services_.contains(questions[n].owner)) all[questions[n].owner].questions.push_back(n);
  }
  std::list<conversation> waiting;
  for (auto& [owner, each] : all) waiting.push_back(std::move(each));
  const std::size_t rounds = (waiting.size() + owners_at_once - 1) / owners_at_once;
  const auto each_has = std::clamp(timeout, std::chrono::nanoseconds(0), longest) /
                        static_cast<std::int64_t>(std::max<std::size_t>(rounds, 1));

  std::list<conversation> open;
  while ((!waiting.empty() || !open.empty()) && !stop.stop_requested()) {
    while (open.size() < owners_at_once && !waiting.empty()) {
      open.splice(open.end(), waiting, waiting.begin());
      open.back().end = steady::now() + each_has;
    }
    for (conversation& each : open) go_on(each, questions, outcomes);
    std::erase_if(open, [](const conversation& each) { return each.calls.empty(); });
    if (open.size() == owners_at_once || waiting.empty()) wait_for_any(open, stop.stop_possible());
  }
  for (auto* const left : {&open, &waiting}) {
    for (const conversation& each : *left) {
      for (std::size_t n = each.asked - each.calls.size(); n < each.questions.size(); ++n)
        outcomes[each.questions[n]].outcome = errc::timed_out;
    }
  }
  return outcomes;
}

void parameter_client::ask(const parameter_question& question, std::chrono::nanoseconds timeout,
                           std::function<void(parameter_outcome)> ended) {
  if (!services_.contains(question.owner))
    return ended({.name = question.name, .outcome = no_parameter(question.name)});
  start(question, timeout)
      .then([name = question.name, ended = std::move(ended)](const call_result<parameter_reply>& reply) {
        parameter_outcome outcome{.name = name};
        outcome.outcome = read_reply(reply, outcome.name, outcome.value);
        ended(std::move(outcome));
      });
}

// Takes the answers that are there, in the order of the questions, and asks further ones.
void parameter_client::go_on(conversation& with, std::span<const parameter_question> questions,
                             std::vector<parameter_outcome>& outcomes) {
  for (;;) {
    while (with.calls.size() < asked_at_once && with.asked < with.questions.size())
      with.calls.push_back(start(questions[with.questions[with.asked++]], with.end - steady::now()));
    if (with.calls.empty()) return;
    if (!with.calls.front().ready()) {
      (void)with.calls.front().feedback<parameter_reply>();  // none is due, but it would make the descriptor readable
      return;
    }
    parameter_outcome& outcome = outcomes[with.questions[with.asked - with.calls.size()]];
    outcome.outcome = read_reply(with.calls.front().get(), outcome.name, outcome.value);
    with.calls.pop_front();
  }
}

// Every call ends at its deadline, so it waits no longer.
void parameter_client::wait_for_any(std::list<conversation>& open, bool may_stop) {
  std::vector<pollfd> ends;
  for (conversation& each : open) ends.push_back({.fd = each.calls.front().fd(), .events = POLLIN, .revents = 0});
  const bool none = std::ranges::any_of(ends, [](const pollfd& each) { return each.fd < 0; });
  const int longest_ms = may_stop ? between_stops_ms : longest_wait_ms;
  if (!ends.empty()) (void)::poll(ends.data(), ends.size(), none ? without_descriptor_ms : longest_ms);
}

}  // namespace orc::detail
