// save_parameters and load_parameters.
#include <map>
#include <utility>

#include "orc/parameters/remote_parameters.h"
#include "parameter_client.h"
#include "parameter_toml.h"

namespace orc {

result save_parameters(participant& by, directory& in, std::string_view pattern, std::chrono::nanoseconds timeout,
                       std::string& toml, std::vector<parameter_outcome>& outcomes) {
  std::vector<parameter_description> parameters;
  if (result listed = list_parameters(in, pattern, parameters); !listed) return listed;
  std::erase_if(parameters, [](const parameter_description& each) { return each.read_only; });
  if (result asked = get_parameters(by, in, parameters, timeout, outcomes); !asked) return asked;
  std::map<std::string, parameter_value> values;
  for (const parameter_outcome& each : outcomes) {
    if (each.outcome) values.emplace(each.name, each.value);
  }
  toml = detail::to_toml(values);
  return {};
}

result load_parameters(participant& by, directory& in, std::string_view toml, std::chrono::nanoseconds timeout,
                       std::vector<parameter_outcome>& outcomes) {
  std::map<std::string, std::optional<parameter_value>> wanted;
  if (result read = detail::from_toml(toml, wanted); !read) return read;
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
  for (auto& [name, value] : wanted) {
    const auto owner = owners.find(name);
    if (owner == owners.end()) {
      all[name] = {name, detail::no_parameter(name), {}};
    } else if (!value) {
      all[name] = {name,
                   {errc::bad_argument, name + ": a parameter is true or false, a number, a text or a list of numbers"},
                   {}};
    } else {
      questions.push_back({name, owner->second, std::move(value)});
    }
  }
  for (auto& each : client.ask(questions, timeout)) all[each.name] = std::move(each);
  outcomes.clear();
  for (auto& [name, each] : all) outcomes.push_back(std::move(each));
  return {};
}

}  // namespace orc
