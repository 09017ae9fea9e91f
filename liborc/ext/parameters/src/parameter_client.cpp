#include "parameter_client.h"

#include <algorithm>
#include <utility>

#include "parameter_json.h"

namespace orc::detail {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t asked_at_once = max_open_calls / 2;
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
  const auto read = parse(reply->json, 2 * max_parameter_bytes);
  if (read && read->is_object() && read->contains("value")) {
    if (auto found = value_of((*read)["value"])) {
      value = *std::move(found);
      return {};
    }
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
  json request{{"name", question.name}};
  if (question.value) request["value"] = json_of(*question.value);
  return participant_.call<parameter_reply>(
      "/" + services_.at(question.owner),
      parameter_request{request.dump(-1, ' ', false, json::error_handler_t::replace)},
      std::clamp(timeout, std::chrono::nanoseconds(1), longest));
}

std::vector<parameter_outcome> parameter_client::ask(std::span<const parameter_question> questions,
                                                     std::chrono::nanoseconds timeout) {
  const auto end = steady::now() + std::min(timeout, longest);
  std::vector<parameter_outcome> outcomes;
  for (std::size_t from = 0; from < questions.size(); from += asked_at_once) {
    const auto some = questions.subspan(from, std::min(asked_at_once, questions.size() - from));
    std::vector<call_future<parameter_reply>> open;
    for (const parameter_question& each : some) {
      const bool known = services_.contains(each.owner);
      open.push_back(known ? start(each, end - steady::now()) : call_future<parameter_reply>());
    }
    for (std::size_t n = 0; n < some.size(); ++n) {
      parameter_outcome outcome{.name = some[n].name};
      if (open[n])
        outcome.outcome = read_reply(open[n].get(), outcome.name, outcome.value);
      else
        outcome.outcome = no_parameter(outcome.name);
      outcomes.push_back(std::move(outcome));
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

}  // namespace orc::detail
