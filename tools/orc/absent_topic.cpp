#include "absent_topic.h"

#include <vector>

#include "exit_code.h"
#include "look.h"
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

std::string failure_text(const std::string& topic, directory& from, const result& failure) {
  return exit_code_of(failure) == exit_code::no_topic ? absence_text(topic, from) : text_of(failure);
}

}  // namespace orc::cli
