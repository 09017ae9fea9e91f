// Parameters of other programs, one at a time.
#include "orc/parameters/remote_parameters.h"

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "parameters/parameter_client.h"
#include "parameters/parameter_json.h"

namespace orc {

namespace {

[[nodiscard]] result find(directory& in, std::string_view name, topic_state& topic) {
  result described = in.describe(name, topic);
  if (described.code() == errc::unknown_topic || (described && !topic.publication)) return detail::no_parameter(name);
  if (!described || detail::is_parameter(topic)) return described;
  return {errc::unknown_topic, topic.name + " is a topic, not a parameter"};
}

// A program sends its schemas to the broker some milliseconds after it registers the topics. Waits for them, for a
// moment in all, whatever the number of programs that never send one.
class schema_patience {
 public:
  [[nodiscard]] result find_type(directory& in, const topic_type& which, type_description& type) {
    for (;;) {
      result found = in.find_type(which, type);
      if (found.code() != errc::unknown_type) return found;
      const auto now = std::chrono::steady_clock::now();
      if (!end_) end_ = now + std::chrono::milliseconds(300);
      if (now >= *end_) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

 private:
  std::optional<std::chrono::steady_clock::time_point> end_;
};

// unknown_type: it cannot be read, or is gone.
[[nodiscard]] result read(directory& in, const topic_state& topic, schema_patience& patience,
                          parameter_description& found) {
  const topic_type& known = *topic.publication->type;
  type_description type;
  if (known.schema_size <= detail::max_parameter_schema) {
    if (result fetched = patience.find_type(in, known, type); !fetched) return fetched;
    found = {.name = topic.name, .owner = topic.publication->participant};
    if (detail::read_type(type, found)) return {};
  }
  return {errc::unknown_type, "the description of parameter " + topic.name + " cannot be read"};
}

// Learns whom to ask about one parameter.
[[nodiscard]] result prepare(detail::parameter_client& client, directory& in, std::string_view name,
                             detail::parameter_question& question) {
  topic_state topic;
  if (result found = find(in, name, topic); !found) return found;
  question.name = topic.name;
  question.owner = topic.publication->participant.id;
  return client.look_up(in);
}

[[nodiscard]] result exchange(participant& by, directory& in, std::string_view name, std::chrono::nanoseconds timeout,
                              std::optional<parameter_value> wanted, parameter_value& value,
                              const std::stop_token& stop) {
  detail::parameter_client client(by);
  detail::parameter_question question{.value = std::move(wanted)};
  if (result known = prepare(client, in, name, question); !known) return known;
  auto outcomes = client.ask({&question, 1}, timeout, stop);
  if (outcomes.front().outcome) value = std::move(outcomes.front().value);
  return outcomes.front().outcome;
}

}  // namespace

result list_parameters(directory& in, std::string_view pattern, std::vector<parameter_description>& found) {
  std::vector<topic_state> topics;
  if (result listed = in.topics(pattern, topics); !listed) return listed;
  std::vector<parameter_description> parameters;
  schema_patience patience;
  for (const topic_state& topic : topics) {
    if (!detail::is_parameter(topic)) continue;
    parameter_description parameter;
    result described = read(in, topic, patience, parameter);
    if (described.code() == errc::unknown_type) continue;
    if (!described) return described;
    parameters.push_back(std::move(parameter));
  }
  found = std::move(parameters);
  return {};
}

result describe_parameter(directory& in, std::string_view name, parameter_description& found) {
  topic_state topic;
  if (result known = find(in, name, topic); !known) return known;
  schema_patience patience;
  parameter_description parameter;
  if (result described = read(in, topic, patience, parameter); !described) return described;
  found = std::move(parameter);
  return {};
}

result get_parameter(participant& by, directory& in, std::string_view name, std::chrono::nanoseconds timeout,
                     parameter_value& value, const std::stop_token& stop) {
  return exchange(by, in, name, timeout, std::nullopt, value, stop);
}

result get_parameters(participant& by, directory& in, const std::vector<parameter_description>& parameters,
                      std::chrono::nanoseconds timeout, std::vector<parameter_outcome>& outcomes,
                      const std::stop_token& stop) {
  detail::parameter_client client(by);
  if (result known = client.look_up(in); !known) return known;
  std::vector<detail::parameter_question> questions;
  for (const parameter_description& each : parameters) questions.push_back({each.name, each.owner.id, std::nullopt});
  outcomes = client.ask(questions, timeout, stop);
  return {};
}

result set_parameter(participant& by, directory& in, std::string_view name, std::chrono::nanoseconds timeout,
                     parameter_value& value, const std::stop_token& stop) {
  return exchange(by, in, name, timeout, value, value, stop);
}

void start_set_parameter(participant& by, directory& in, std::string_view name, std::chrono::nanoseconds timeout,
                         parameter_value value, std::function<void(parameter_outcome)> ended) {
  detail::parameter_client client(by);
  detail::parameter_question question{.value = std::move(value)};
  if (result known = prepare(client, in, name, question); !known)
    return ended({.name = std::string(name), .outcome = std::move(known)});
  client.ask(question, timeout, std::move(ended));
}

}  // namespace orc
