// Plots of a topic: shared decoding, and its limit.
#include "tools/web/feed/topic_feed.h"

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/budget.h"
#include "support/catch.h"
#include "tools/web/time_budget.h"

namespace {

using namespace orc;
using namespace std::chrono_literals;

constexpr std::int64_t second = 1'000'000'000;

std::shared_ptr<const web::decoded_type> json_type() {
  type_description type;
  type.message_encoding = "json";
  return web::decoded(type);
}

void plot(web::topic_feed& feed, std::string_view text, std::int64_t at) {
  feed.plot(std::as_bytes(std::span(text)), at, at);
}

}  // namespace

TEST_CASE("web time budget: a fifth of the time, and debts are paid", "[web]") {
  web::time_budget budget;
  const auto start = web::time_budget::clock::time_point(1h);
  CHECK(budget.has_time(start));
  budget.spend(300ms);
  CHECK_FALSE(budget.has_time(start + 300ms));
  CHECK_FALSE(budget.has_time(start + 990ms));
  CHECK(budget.has_time(start + 1010ms));
  CHECK(budget.has_time(start + 1h));
  budget.spend(110ms);  // what was not used is not kept
  CHECK_FALSE(budget.has_time(start + 1h));
}

TEST_CASE("web topic feed: all plots of a field get its numbers", "[web]") {
  web::topic_feed feed("t", [] {});
  const auto early = feed.add_plot("a", 100);
  feed.set_type(json_type());
  const auto late = feed.add_plot("a", 100);
  const auto other = feed.add_plot("b.c", 100);
  plot(feed, R"({"a":1,"b":{"c":2}})", second);
  feed.remove_plot(early);
  plot(feed, R"({"a":3,"b":{"c":4}})", 2 * second);
  CHECK(feed.take(*early, 9 * second).points == std::vector<web::plot_point>{{1, 1, 1}});
  CHECK(feed.take(*late, 9 * second).points == std::vector<web::plot_point>{{1, 1, 1}, {2, 3, 3}});
  CHECK(feed.take(*other, 9 * second).points == std::vector<web::plot_point>{{1, 2, 2}, {2, 4, 4}});
}

TEST_CASE("web topic feed: plots say why they have no points", "[web]") {
  web::topic_feed feed("t", [] {});
  const auto plotted = feed.add_plot("a", 100);
  CHECK(feed.problem_of(*plotted).empty());
  const auto before = feed.state_number();
  feed.set_type(nullptr);
  CHECK(feed.problem_of(*plotted) == "the topic is untyped: it has no fields");
  CHECK(feed.state_number() != before);
  feed.set_type(json_type());
  CHECK(feed.problem_of(*plotted).empty());
  plot(feed, R"({"a":"text"})", second);
  CHECK(feed.problem_of(*plotted) == "field 'a' is not one number");
  plot(feed, R"({"a":1})", second);
  CHECK(feed.problem_of(*plotted).empty());
}

// The attacker's sample takes its time for each field: without a limit, one sample of it stops all topics.
TEST_CASE("web topic feed: decoding beyond the limit is left out, in turns", "[web]") {
  web::feed_limits limits;
  limits.decoding_share = 0.01;
  web::topic_feed feed(
      "t", [] {}, limits);
  feed.set_type(json_type());
  std::vector<std::shared_ptr<web::topic_plot>> plots;
  for (const char* const path : {"a", "b", "c", "d"}) plots.push_back(feed.add_plot(path, 100));
  std::string large = R"({"a":1,"b":2,"c":3,"d":4,"e":[[])";
  for (int i = 0; i < (test::under_sanitizer ? 500 : 20'000); ++i) large += ",[]";
  large += "]}";
  // Decoding all the time is more than a hundredth of it, on any machine.
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  std::int64_t at = second;
  while (feed.problem_of(*plots[0]).empty() && std::chrono::steady_clock::now() < deadline) plot(feed, large, ++at);
  CHECK(feed.problem_of(*plots[3]) == "decoding takes too long: the plots do not show all samples");
  for (const auto& each : plots) (void)feed.take(*each, at + 9 * second);
  at += 100 * second;
  // Each field has its turn.
  for (const auto& each : plots) {
    while (!feed.plot_ready(*each, at + second) && std::chrono::steady_clock::now() < deadline) plot(feed, large, at);
    CHECK(feed.plot_ready(*each, at + second));
  }
}

TEST_CASE("web feed memory: the last of it is for small samples", "[web]") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  const web::feed_limits memory;
  CHECK_FALSE(memory.keep(web::max_shown_bytes + 1));
  std::vector<std::shared_ptr<const void>> shares;
  for (int i = 0; i < 6; ++i) shares.push_back(memory.keep(64 * mebibyte));
  for (const auto& each : shares) CHECK(each);
  CHECK_FALSE(memory.keep(2 * mebibyte));
  const auto small = memory.keep(mebibyte);
  CHECK(small);
  const auto copy = shares.back();
  shares.pop_back();
  CHECK_FALSE(memory.keep(64 * mebibyte));  // the copy has it still
  shares.pop_back();
  CHECK_FALSE(memory.keep(64 * mebibyte));  // a small one has taken of it
  CHECK(memory.keep(63 * mebibyte));
}
