#include "absent_topic.h"

#include <vector>

#include "tools/command_line/nearest_name.h"

namespace orc::cli {

std::string absence_text(const std::string& topic, broker_query& broker) {
  std::vector<std::string> published;
  const auto answer = broker.list();
  if (const auto* const all = std::get_if<wire::topic_list>(&answer)) {
    for (const wire::topic_state& each : all->topics)
      if (each.publication && each.topic != topic) published.push_back(each.topic);
  }
  return "no publisher of '" + topic + "'" + did_you_mean(topic, published);
}

}  // namespace orc::cli
