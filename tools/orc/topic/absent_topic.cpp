#include "tools/orc/topic/absent_topic.h"

#include <vector>

#include "tools/command_line/nearest_name.h"
#include "tools/orc/broker_directory.h"
#include "tools/orc/exit_code.h"

namespace orc::cli {

std::string absence_text(const std::string& topic, directory& from) {
  std::vector<topic_state> all;
  std::string question;
  if (from.topics("**", all)) {
    std::vector<std::string> published;
    std::vector<std::string> requested;
    for (const topic_state& each : all)
      if (each.name != topic) (each.publication ? published : requested).push_back(each.name);
    question = did_you_mean(topic, published);
    if (question.empty()) question = did_you_mean(topic, requested);
  }
  return "no publisher of '" + topic + "'" + question;
}

std::string failure_text(const std::string& topic, directory& from, const result& failure) {
  return exit_code_of(failure) == exit_code::no_topic ? absence_text(topic, from) : text_of(failure);
}

}  // namespace orc::cli
