// The tables of `orc top`: which columns fit, and how rows are sorted, filtered and moved in.
#include <numeric>

#include "support/catch.h"
#include "tools/orc/top/top_list.h"

using namespace orc;
using namespace orc::cli;

namespace {

using topics = top_list_of<view::topic_figures>;

std::shared_ptr<view::system_figures> some_topics(
    std::initializer_list<std::pair<const char*, std::optional<double>>> of) {
  auto figures = std::make_shared<view::system_figures>();
  for (const auto& [name, hz] : of) figures->topics.push_back({.name = name, .rate_hz = hz});
  return figures;
}

// The names that the table shows.
std::vector<std::string> names(topics& list, std::size_t rows = 20) {
  std::vector<std::string> found;
  const auto lines = list.draw(rows, 80, false);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::string line = lines[i];
    if (line.starts_with("\x1b[0;7m")) line.erase(0, 6);
    if (!line.empty()) found.push_back(line.substr(0, line.find(' ')));
  }
  return found;
}

std::vector<std::string_view> shown_columns(std::size_t columns) {
  std::vector<column_shape> shapes;
  for (const auto& each : top_columns<view::topic_figures>()) shapes.push_back(each.shape);
  const auto widths = fit(shapes, columns);
  std::size_t taken = 0;
  std::vector<std::string_view> shown;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    taken += widths[i] + (shown.empty() ? 0 : 1);
    shown.push_back(shapes[i].name);
  }
  CHECK(taken <= columns);
  return shown;
}

constexpr std::size_t rate_column = 4;

}  // namespace

TEST_CASE("top list: the most important columns fit into 80, and all of them into a wide terminal") {
  CHECK(shown_columns(80) == std::vector<std::string_view>{"TOPIC", "TRANSPORT", "RATE Hz", "JITTER", "BANDWIDTH",
                                                           "AGE", "MISSED/s", "SUBS"});
  CHECK(shown_columns(200).size() == 11);
  CHECK(shown_columns(5) == std::vector<std::string_view>{"TOPIC"});
  for (std::size_t columns = 1; columns < 250; ++columns) CHECK_FALSE(shown_columns(columns).empty());
}

TEST_CASE("top list: inproc is offered by nearly all topics, and shown when it is used or alone") {
  view::topic_figures topic{.offered = {transport::inproc, transport::ipc}};
  CHECK(transports_text(topic) == "(ipc)");
  topic.offered.pop_back();
  CHECK(transports_text(topic) == "(inproc)");
  topic.transports = {{transport::inproc, 1}};
  CHECK(transports_text(topic) == "inproc");
}

TEST_CASE("top list: sorts numbers from the greatest, what is unknown last, and reverses") {
  topics list;
  list.take(some_topics({{"a", 5}, {"b", std::nullopt}, {"c", 1000}, {"d", 0}}));
  CHECK(names(list) == std::vector<std::string>{"a", "b", "c", "d"});
  list.sort_by(rate_column);
  CHECK(names(list) == std::vector<std::string>{"c", "a", "d", "b"});
  list.reverse();
  CHECK(names(list) == std::vector<std::string>{"b", "d", "a", "c"});
  list.sort_by(0);
  CHECK(names(list) == std::vector<std::string>{"a", "b", "c", "d"});
  list.sort_by_neighbour(-1);  // around the left end: SUBS
  list.sort_by_neighbour(1);
  CHECK(names(list) == std::vector<std::string>{"a", "b", "c", "d"});
}

TEST_CASE("top list: a filter wants each word, in any case, in names, types and programs") {
  topics list;
  auto figures = some_topics({{"arm/left", 1}, {"arm/right", 1}, {"camera", 1}});
  figures->topics[2].type = topic_type{.name = "Image"};
  figures->topics[1].publisher = participant_state{.name = "driver"};
  list.take(figures);
  const auto with = [&](std::string words) {
    list.filter(std::move(words));
    return names(list);
  };
  CHECK(with("ARM") == std::vector<std::string>{"arm/left", "arm/right"});
  CHECK(with("arm driver") == std::vector<std::string>{"arm/right"});
  CHECK(with("image") == std::vector<std::string>{"camera"});
  CHECK(with("  ") == std::vector<std::string>{"arm/left", "arm/right", "camera"});
  list.filter("none");
  CHECK(list.size() == 0);
  CHECK(list.selected() == nullptr);
  CHECK(list.total() == 3);
  list.move_page(1);
  CHECK(with("").size() == 3);
}

TEST_CASE("top list: the topics of a participant are those that it publishes and those that it requests") {
  topics list;
  auto figures = some_topics({{"arm/left", 1}, {"arm/right", 1}, {"camera", 1}});
  figures->topics[0].publisher = participant_state{.id = "a", .name = "node"};
  figures->topics[1].publisher = participant_state{.id = "b", .name = "node"};
  figures->topics[2].subscriptions.push_back({.id = "s", .subscriber = {.id = "a", .name = "node"}});
  list.take(figures);
  list.move_to_last();
  list.show_only(top_owner{"a", "node (1)"});
  CHECK(names(list) == std::vector<std::string>{"arm/left", "camera"});
  CHECK(list.cursor() == 0);
  list.filter("right");
  CHECK(list.draw(3, 80, false)[1].find("no topic matches /right, Esc shows all") != std::string::npos);
  list.filter("left");
  CHECK(names(list) == std::vector<std::string>{"arm/left"});
  list.filter("");
  list.show_only(top_owner{"c", "node (3)"});
  CHECK(list.draw(3, 80, false)[1].find("node (3) has no topic now, Esc goes back") != std::string::npos);
  list.show_only({});
  CHECK(list.size() == 3);
  CHECK(list.draw(4, 30, false).size() == 4);
}

TEST_CASE("top list: the cursor follows its row, and at the top the first row") {
  topics list;
  list.take(some_topics({{"a", 1}, {"b", 2}, {"c", 3}}));
  list.sort_by(rate_column);
  CHECK(list.selected()->name == "c");
  list.take(some_topics({{"a", 9}, {"b", 2}, {"c", 3}}));
  CHECK(list.selected()->name == "a");
  list.move(1);
  CHECK(list.selected()->name == "c");
  list.take(some_topics({{"a", 9}, {"b", 10}, {"c", 0}}));
  CHECK(list.selected()->name == "c");
  list.take(some_topics({{"a", 9}, {"b", 10}}));  // gone
  CHECK(list.selected()->name == "a");
  list.take(some_topics({}));
  CHECK(list.selected() == nullptr);
  list.move_to_last();
  list.move(-3);
}

TEST_CASE("top list: only rows around the cursor are drawn, and it stops at the ends") {
  topics list;
  auto figures = std::make_shared<view::system_figures>();
  for (int i = 0; i < 10'000; ++i) figures->topics.push_back({.name = "t" + std::to_string(100'000 + i)});
  list.take(figures);
  CHECK(names(list, 11).size() == 10);
  list.move_page(1);
  CHECK(list.cursor() == 9);
  CHECK(names(list, 11).front() == "t100000");
  list.move(1);
  CHECK(names(list, 11).front() == "t100001");
  list.move_to_last();
  CHECK(names(list, 11).back() == "t109999");
  list.move(5);
  CHECK(list.selected()->name == "t109999");
  CHECK(names(list, 21).front() == "t109980");  // a higher window shows more, not blanks
  list.move(-20'000);
  CHECK(list.cursor() == 0);
  CHECK(list.draw(1, 80, false).size() == 1);
  CHECK(list.draw(0, 80, false).empty());
}
