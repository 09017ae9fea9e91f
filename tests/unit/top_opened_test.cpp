// The topic that `orc top` has open: what it says when the publisher or the broker is gone.
#include "tools/orc/top/top_opened.h"
#include <regex>

#include "support/catch.h"

using namespace orc;
using namespace orc::cli;
using orc::test::contains;

namespace {

std::shared_ptr<view::system_figures> one_topic(bool published, std::optional<topic_type> type = {}) {
  auto figures = std::make_shared<view::system_figures>();
  auto& topic = figures->topics.emplace_back(view::topic_figures{.name = "arm/state", .type = std::move(type)});
  if (published) topic.publisher = participant_state{.id = "a", .name = "driver", .pid = 7};
  return figures;
}

// Without its styles.
std::string drawn(top_opened& topic) {
  std::string text;
  for (const std::string& line : topic.draw(20, 100, false)) text += line + "\n";
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

}  // namespace

TEST_CASE("top opened: the type stays when the publisher ends, and changes when another one comes") {
  top_opened topic("arm/state");
  CHECK_THAT(drawn(topic), contains("no participant publishes"));
  topic.take(one_topic(true, topic_type{.name = "arm.State"}), false);
  CHECK_THAT(drawn(topic), contains("arm.State"));
  topic.take(one_topic(false), false);
  CHECK_THAT(drawn(topic), contains("arm.State"));
  topic.take(std::make_shared<view::system_figures>(), false);
  CHECK_THAT(drawn(topic), contains("arm.State"));
  topic.take(one_topic(true), false);
  CHECK_THAT(drawn(topic), !contains("arm.State"));
}

TEST_CASE("top opened: without an answer of the broker, a known publisher is not said to be missing") {
  top_opened topic("arm/state");
  topic.take(one_topic(true), false);
  topic.take({.topic = "arm/state", .link = "no publisher"});
  CHECK_THAT(drawn(topic), contains("no link: no publisher"));
  topic.take(one_topic(true), true);
  CHECK_THAT(drawn(topic), contains("no link: the broker does not answer"));
}
