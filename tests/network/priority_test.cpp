// A small topic beside a large one on a slow link whose queue does not look at priorities.
#include <cstdio>
#include <sstream>
#include <string>

#include "network/lab.h"
#include "support/budget.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;

namespace {

struct ages {
  double p50_ms = 0;
  double p99_ms = 0;
  double max_ms = 0;
  double large_mbit = 0;  // what arrived of the large topic
};

struct priorities {
  std::string small;
  std::string large;
};

// 100 B at 1 kHz, and 1 MB at 10 Hz, which is four times what the link takes.
class two_topics {
 public:
  two_topics(const lab_host& from, const lab_host& to, const std::string& broker, const priorities& with)
      : publisher_(node_on(from, broker)), subscriber_(node_on(to, broker)) {
    publisher_->must("register small tcp " + with.small);
    publisher_->must("register large tcp " + with.large);
    for (const char* topic : {"small", "large"}) {
      subscriber_->must(std::string("request ") + topic + " tcp 1 0 5000");
      publisher_->must(std::string("stream ") + topic + (topic[0] == 's' ? " 100 1000 0" : " 1000000 10 0"));
    }
    subscriber_->must("collect large");
    REQUIRE(wait_until([&] { return subscriber_->stats("large").received > 2; }));
  }

  ages measure(std::uint64_t samples) {
    subscriber_->must("collect small");
    const auto since = std::chrono::steady_clock::now();
    const auto before = subscriber_->stats("large").received;
    REQUIRE(wait_until([&] { return subscriber_->stats("small").received >= samples; }, std::chrono::minutes(5)));
    ages found;
    std::istringstream(subscriber_->ask("ages small")) >> found.p50_ms >> found.p99_ms >> found.max_ms;
    for (double* each : {&found.p50_ms, &found.p99_ms, &found.max_ms}) *each /= 1000;
    const auto large = static_cast<double>(subscriber_->stats("large").received - before);
    found.large_mbit = large * 8e6 / (static_cast<double>(ms_since(since)) * 1e3);
    return found;
  }

 private:
  std::unique_ptr<test_node> publisher_;
  std::unique_ptr<test_node> subscriber_;
};

void print(const std::string& control, const priorities& with, const ages& found) {
  std::printf("| %-6s | %-7s | %-6s | %8.2f | %8.2f | %8.2f | %5.1f |\n", control.c_str(), with.small.c_str(),
              with.large.c_str(), found.p50_ms, found.p99_ms, found.max_ms, found.large_mbit);
  std::fflush(stdout);
}

[[nodiscard]] bool can_use(const lab_host& host, const std::string& control) {
  const std::string setting = "net.ipv4.tcp_congestion_control";
  return host.sh("sysctl -qw " + setting + "=" + control + " 2>/dev/null || true; sysctl -n " + setting)
      .starts_with(control);
}

}  // namespace

TEST_CASE("8: a small topic beside a bulk topic is not delayed by a queue that ignores priorities", "[network]") {
  if (under_sanitizer) return skip("a sanitizer delays samples itself");
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_host& from = (*hosts)[0];
  const lab_host& to = (*hosts)[1];
  from.sh("tc qdisc replace dev eth0 root tbf rate 20mbit burst 32kbit latency 400ms");
  lab_broker broker(to);
  const bool is_long = long_run();
  constexpr std::uint64_t usual = 4000;
  std::printf("| tcp    | small   | large  |   p50 ms |   p99 ms |   max ms | large Mbit/s |\n");
  // Not every system lets a namespace choose cubic, which fills queues as reno does.
  for (const char* control : {"cubic", "reno", "bbr"}) {
    if (!can_use(from, control)) continue;
    const auto measured = [&](const priorities& with, std::uint64_t samples) {
      const auto found = two_topics(from, to, broker.endpoint(), with).measure(samples);
      print(control, with, found);
      return found;
    };
    const auto without = measured({"normal", "normal"}, 200);
    const auto with = measured({"control", "bulk"}, is_long ? 20'000 : usual);
    INFO(control);
    CHECK(with.p99_ms * 5 <= without.p99_ms);
    if (is_long) CHECK(with.p99_ms <= 5);
    CHECK(with.large_mbit > 2);  // of about 18 that are left; a busy machine looks like a queue
  }
}
