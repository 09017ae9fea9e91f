#include <map>
#include <utility>

#include "orc/parameters/remote_parameters.h"
#include "parameters/parameter_client.h"

namespace orc {

result set_parameters(participant& by, directory& in, const std::map<std::string, parameter_value>& values,
                      std::chrono::nanoseconds timeout, std::vector<parameter_outcome>& outcomes,
                      const std::stop_token& stop) {
  std::vector<topic_state> topics;
  if (result listed = in.topics("**", topics); !listed) return listed;
  detail::parameter_client client(by);
  if (result known = client.look_up(in); !known) return known;
  std::map<std::string, std::string> owners;
  for (const topic_state& topic : topics) {
    if (detail::is_parameter(topic)) owners.emplace(topic.name, topic.publication->participant.id);
  }
  std::vector<detail::parameter_question> questions;
  std::map<std::string, parameter_outcome> all;
  for (const auto& [name, value] : values) {
    const auto owner = owners.find(name);
    if (owner == owners.end())
      all[name] = {name, detail::no_parameter(name), {}};
    else
      questions.push_back({name, owner->second, value});
  }
  for (auto& each : client.ask(questions, timeout, stop)) all[each.name] = std::move(each);
  outcomes.clear();
  for (auto& [name, each] : all) outcomes.push_back(std::move(each));
  return {};
}

}  // namespace orc
