#include "absent_topic.h"

#include <vector>

#include "tools/command_line/nearest_name.h"

namespace orc::cli {

std::string absence_text(const std::string& topic, directory& from) {
  std::vector<std::string> published;
  std::vector<topic_state> all;
  if (from.topics("**", all)) {
    for (const topic_state& each : all)
      if (each.publication && each.name != topic) published.push_back(each.name);
  }
  return "no publisher of '" + topic + "'" + did_you_mean(topic, published);
}

}  // namespace orc::cli
