// A small topic beside a large one on a slow link whose queue does not look at priorities.
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

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

TEST_CASE("8: bulk topics share a slow link with a control topic, which waits for two packets of them at most",
          "[network]") {
  if (under_sanitizer) return skip("a sanitizer delays samples itself");
  std::string why;
  const auto hosts = lab::make(2, why);
  if (!hosts) return skip(why);
  const lab_host& from = (*hosts)[0];
  const lab_host& to = (*hosts)[1];
  lab_broker broker(to);
  std::printf("| Mbit/s |   p50 ms |   p99 ms |   max ms | allowed | bulk Mbit/s | new link ms |\n");
  for (const double mbit : long_run() ? std::vector{0.5, 1.0, 2.0, 5.0, 20.0} : std::vector{1.0}) {
    from.sh("tc qdisc replace dev eth0 root tbf rate " + std::to_string(static_cast<int>(mbit * 1000)) +
            "kbit burst 3000 latency 4000ms");
    const auto publisher = node_on(from, broker.endpoint());
    const auto subscriber = node_on(to, broker.endpoint());
    publisher->must("register small tcp control");
    publisher->must("register late tcp control");
    subscriber->must("request small tcp 1 0 5000");
    publisher->must("stream small 100 100 0");
    for (const char* topic : {"map", "camera", "lidar"}) {
      publisher->must(std::string("register ") + topic + " tcp bulk");
      subscriber->must(std::string("request ") + topic + " tcp 1 0 5000");
      subscriber->must(std::string("collect ") + topic);
      publisher->must(std::string("stream ") + topic + " 30000 100 0");
    }
    const auto received = [&](const char* topic) { return subscriber->stats(topic).received; };
    REQUIRE(wait_until([&] { return received("map") > 0 && received("camera") > 0 && received("lidar") > 0; }));
    subscriber->must("collect small");
    const auto since = std::chrono::steady_clock::now();
    const auto before = received("map") + received("camera") + received("lidar");
    const auto wanted = received("small") + (long_run() ? 2000 : 500);
    REQUIRE(wait_until([&] { return received("small") >= wanted; }, std::chrono::minutes(2)));
    const auto bulk = static_cast<double>(received("map") + received("camera") + received("lidar") - before) * 30e3 *
                      8 / (static_cast<double>(ms_since(since)) * 1e3);
    ages found;
    std::istringstream(subscriber->ask("ages small")) >> found.p50_ms >> found.p99_ms >> found.max_ms;
    const auto asked = std::chrono::steady_clock::now();
    subscriber->must("request late tcp 1 0 5000");
    const auto linked_ms = ms_since(asked);
    const double allowed_ms = 2 * 1500 * 8 / (mbit * 1e3) + 20;
    std::printf("| %6.1f | %8.2f | %8.2f | %8.2f | %7.1f | %11.2f | %11ld |\n", mbit, found.p50_ms / 1e3,
                found.p99_ms / 1e3, found.max_ms / 1e3, allowed_ms, bulk, static_cast<long>(linked_ms));
    std::fflush(stdout);
    INFO(mbit << " Mbit/s");
    CHECK(found.p99_ms / 1e3 <= (long_run() ? 1 : 3) * allowed_ms);
    CHECK(bulk >= mbit / 4);
  }
}
