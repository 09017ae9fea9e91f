// Shared topics in `orc topic hz` and `orc topic echo`: figures and samples of each publisher.
#include <regex>
#include <set>
#include <string>

#include "support/orc_tool.h"
#include "support/test_node.h"

using namespace orc::test;

namespace {

// Two programs that share "stop", at 50 and 100 Hz.
class two_publishers {
 public:
  two_publishers() {
    for (test_node* const each : {&slow_, &fast_}) {
      each->must("open " + broker_.endpoint());
      each->must("share stop ipc");
    }
    slow_.must("stream stop 100 50 0");
    fast_.must("stream stop 100 100 0");
  }
  [[nodiscard]] const broker_process& broker() const { return broker_; }
  [[nodiscard]] std::string slow() const { return std::to_string(slow_.process().pid()); }
  [[nodiscard]] std::string fast() const { return std::to_string(fast_.process().pid()); }

 private:
  broker_process broker_;
  mutable test_node slow_;
  mutable test_node fast_;
};

// The rate that a line for this process has; -1: there is no line.
double rate_in(const std::string& text, const std::string& pid) {
  std::smatch found;
  const std::regex line("publisher=[^\n]*\\(" + pid + "\\) rate=([0-9.]+)Hz");
  return std::regex_search(text, found, line) ? std::stod(found[1]) : -1;
}

}  // namespace

TEST_CASE("orc topic hz shows the rate of each publisher of a shared topic") {
  const two_publishers on;
  const tool orc(on.broker());
  const auto text = orc.run("$orc topic hz stop -n 4");
  INFO(text.out << text.err);
  CHECK(text.exit_code == 0);
  const double slow = rate_in(text.out, on.slow());
  const double fast = rate_in(text.out, on.fast());
  CHECK(slow > 0);
  CHECK(fast > 1.5 * slow);
  const auto json = orc.run("$orc topic hz stop -n 4 --json");
  for (const std::string& pid : {on.slow(), on.fast()}) CHECK_THAT(json.out, contains("\"pid\":" + pid));
}

TEST_CASE("orc topic echo names the publisher of each sample of a shared topic") {
  const two_publishers on;
  const tool orc(on.broker());
  const auto text = orc.run("$orc topic echo stop --queue 100 -n 40");
  INFO(text.out << text.err);
  CHECK(text.exit_code == 0);
  for (const std::string& pid : {on.slow(), on.fast()})
    CHECK(std::regex_search(text.out, std::regex("publisher=[^\n]*\\(" + pid + "\\) seq=[0-9]+")));
  const auto json = orc.run("$orc topic echo stop --queue 100 -n 40 --json");
  for (const std::string& pid : {on.slow(), on.fast()}) CHECK_THAT(json.out, contains("\"pid\":" + pid));
}

TEST_CASE("orc top shows the figures of each publisher of a shared topic, and their sum") {
  const two_publishers on;
  const tool orc(on.broker());
  const auto json = orc.run("$orc top --json --filter stop");
  CHECK(is_json(orc, json.out));
  std::smatch found;
  const std::regex shared("\"shared_by\":\\[\\{.*\"pid\":([0-9]+).*\"pid\":([0-9]+).*\\],\"subscriber_count\"");
  INFO(json.out);
  REQUIRE(std::regex_search(json.out, found, shared));
  CHECK(std::set<std::string>{found[1], found[2]} == std::set<std::string>{on.slow(), on.fast()});
  CHECK_THAT(orc.run("$orc top --once").out, contains("2 publishers"));
}
