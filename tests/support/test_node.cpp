#include "support/test_node.h"

#include <sstream>

namespace orc::test {

namespace {

constexpr transport known[] = {transport::inproc, transport::ipc, transport::tcp, transport::shm, transport::multicast};

std::vector<std::string> command_line(std::vector<std::string> in_front) {
  in_front.push_back(program("orc_test_node"));
  return in_front;
}

}  // namespace

std::string to_text(transport_set set) {
  std::string text;
  for (const transport t : known) {
    if (!set.contains(t)) continue;
    if (!text.empty()) text += ',';
    text += to_string(t);
  }
  return text.empty() ? "any" : text;
}

transport_set to_transports(const std::string& text) {
  transport_set set;
  if (text == "any") return set;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    bool found = false;
    for (const transport t : known) {
      if (to_string(t) != word) continue;
      set.insert(t);
      found = true;
    }
    if (!found) throw std::runtime_error("no transport is called " + word);
  }
  return set;
}

test_node::test_node(std::vector<std::string> in_front, std::vector<std::string> environment)
    : process_(command_line(std::move(in_front)), std::move(environment), child_process::errors::pass_through) {}

std::string test_node::answer(std::chrono::milliseconds deadline) {
  auto line = process_.read_line(deadline);
  if (!line) throw std::runtime_error("orc_test_node gave no answer");
  return *line;
}

std::string test_node::ask(const std::string& command, std::chrono::milliseconds deadline) {
  tell(command);
  auto line = process_.read_line(deadline);
  if (!line) throw std::runtime_error("orc_test_node gave no answer to: " + command);
  return *line;
}

void test_node::must(const std::string& command) {
  const std::string line = ask(command);
  if (line != "ok") throw std::runtime_error("orc_test_node: " + command + ": " + line);
}

test_node::collected test_node::stats(const std::string& topic) {
  collected c;
  std::istringstream words(ask("stats " + topic));
  words >> c.received >> c.last_value >> c.missed >> c.gaps >> c.backwards >> c.corrupt >> c.median_age_us >>
      c.max_age_us >> c.restarts;
  if (!words) throw std::runtime_error("orc_test_node: stats " + topic + ": " + words.str());
  return c;
}

test_node::streamed test_node::progress(const std::string& topic) {
  streamed s;
  std::istringstream words(ask("progress " + topic));
  words >> s.sent >> s.failed >> s.slowest_us >> s.done;
  if (!words) throw std::runtime_error("orc_test_node: progress " + topic + ": " + words.str());
  return s;
}

}  // namespace orc::test
