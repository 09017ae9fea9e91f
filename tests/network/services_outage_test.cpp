// Services and parameters through outages: a broker on host 0, the server on 1, a client on 2 that calls ten times a
// second. Who is cut off from whom, how, and for how long. Prints the table. Every row has a lab of its own, and all
// run at the same time.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "network/lab.h"
#include "network/rows.h"
#include "support/catch.h"
#include "support/wait_until.h"

using namespace orc::test;
using namespace std::chrono_literals;

namespace {

constexpr int back_within_ms = 1500;
constexpr int slack_ms = under_sanitizer ? 1500 : 300;  // of a busy machine
constexpr std::size_t broker_host = 0, server_host = 1, client_host = 2;

[[nodiscard]] long now_ms() {
  return static_cast<long>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::milliseconds(1));
}

// A program of services on one host, and the line with which it says that it is ready.
[[nodiscard]] child_process peer_on(const lab_host& host, std::vector<std::string> words) {
  auto line = host.here();
  line.insert(line.end(), words.begin(), words.end());
  child_process peer(std::move(line));
  if (peer.read_line() != "ready") throw std::runtime_error(words[1] + " did not start");
  return peer;
}

// What the client does, and what the server offers.
struct kind {
  const char* name;
  const char* calls;
  std::vector<std::string> server;
};
const kind calls{"calls", "pace", {"orc_test_call_peer", "serve", "BROKER", "arm", "tcp", "LOG"}};
const kind sets{"parameters", "tune", {"orc_test_parameter_peer", "BROKER", "tcp", "arm"}};

class called_over_networks {
 public:
  called_over_networks(lab& all, const kind& what)
      : hosts(all),
        broker_(all[broker_host]),
        log_("/tmp/orc-services-" + std::to_string(::getpid()) + "-" + std::to_string(count++)) {
    std::vector<std::string> words = what.server;
    words[0] = program(words[0]);
    for (auto& each : words) each = each == "BROKER" ? broker_.endpoint() : each == "LOG" ? log_ : each;
    server_.emplace(peer_on(all[server_host], words));
    client_.emplace(
        peer_on(all[client_host], {program("orc_test_call_peer"), what.calls, broker_.endpoint(), "arm", "tcp"}));
    if (works_again_after(now_ms()) < 0) throw std::runtime_error("no call succeeds");
  }
  ~called_over_networks() { ::unlink(log_.c_str()); }
  called_over_networks(const called_over_networks&) = delete;
  called_over_networks& operator=(const called_over_networks&) = delete;

  // Milliseconds until the first of the calls that began after `begun` has succeeded; -1: none does.
  [[nodiscard]] long works_again_after(long begun) {
    for (outcome each; next(each) && each.begun < begun + patience_ms;) {
      if (each.begun >= begun && each.code == 0) return each.ended - begun;
    }
    return -1;
  }
  // Reads what ended until `until`. Returns how many calls that began after `begun` failed.
  [[nodiscard]] int failures(long begun, long until) {
    int failed = 0;
    for (outcome each; next(each) && each.begun < until;) failed += each.begun >= begun && each.code != 0 ? 1 : 0;
    return failed;
  }
  [[nodiscard]] bool ran_twice() const {
    std::ifstream log(log_);
    std::set<std::string> numbers;
    for (std::string each; std::getline(log, each);) {
      if (!numbers.insert(each).second) return true;
    }
    return false;
  }

  lab& hosts;

 private:
  struct outcome {
    int code = 0;
    long begun = 0, ended = 0;
  };
  [[nodiscard]] bool next(outcome& to) {
    const auto line = client_->read_line();
    return line && std::istringstream(*line) >> to.code >> to.begun >> to.ended;
  }

  static inline std::atomic<int> count = 0;
  lab_broker broker_;
  std::string log_;
  std::optional<child_process> server_, client_;
};

using action = std::function<void(lab&)>;

// A fault, and its end.
struct fault {
  const char* name;
  action begins;
  action ends = [](lab& all) {
    for (const std::size_t host : {broker_host, server_host, client_host}) all.mend(host);
  };
  bool keeps_calls = false;  // server and client see each other all the time: no call fails
};

[[nodiscard]] action silent(std::size_t host) {
  return [host](lab& all) { all.cut(host, outage::silent); };
}
[[nodiscard]] action between(std::size_t one, std::size_t other) {
  return [=](lab& all) { all.cut_between(one, other, outage::ip); };
}

struct row {
  const kind& what;
  fault how;
  std::vector<std::chrono::seconds> lengths;
  std::unique_ptr<lab> hosts = {};
  // What came of it
  std::vector<long> took = {};  // ms
  int failed = 0;
  bool twice = false;
  std::string failure = {};
};

void run(row& of) try {
  called_over_networks there(*of.hosts, of.what);
  for (const auto length : of.lengths) {
    const long begun = now_ms();
    of.how.begins(*of.hosts);
    std::this_thread::sleep_for(length);
    of.how.ends(*of.hosts);
    const long mended = now_ms();
    if (of.how.keeps_calls) {
      of.failed += there.failures(begun, mended);
      of.took.push_back(0);
    } else {
      of.took.push_back(there.works_again_after(mended));
    }
    // From then on every call succeeds, also when the broker has heard of everything.
    const long whole = std::max(now_ms(), mended + back_within_ms + slack_ms);
    of.failed += there.failures(of.how.keeps_calls ? mended : whole, whole + 2000);
  }
  of.twice = there.ran_twice();
} catch (const std::exception& e) {
  of.failure = e.what();
}

[[nodiscard]] std::vector<std::chrono::seconds> lengths_of(std::chrono::seconds usual) {
  if (long_run()) return {1s, 3s, 5s, 8s, 12s, 40s};
  return {usual};
}

[[nodiscard]] std::deque<row> rows_of_this_run() {
  const auto drops = [](std::size_t host, const std::string& rule) {
    return [=](lab& all) {
      all[host].sh(
          "nft add table inet cut; nft 'add chain inet cut in { type filter hook input priority 0; }'; nft 'add rule "
          "inet cut in " +
          rule + " drop'");
    };
  };
  const auto moves = [](std::size_t host, const std::string& address) {
    return [=](lab& all) { all[host].sh("ip addr flush dev eth0; ip addr add " + address + "/24 dev eth0"); };
  };
  std::deque<row> rows;
  rows.push_back({calls,
                  {.name = "server from broker", .begins = between(server_host, broker_host), .keeps_calls = true},
                  lengths_of(6s)});
  rows.push_back({calls,
                  {.name = "client from broker", .begins = between(client_host, broker_host), .keeps_calls = true},
                  lengths_of(6s)});
  rows.push_back({calls, {.name = "broker", .begins = silent(broker_host), .keeps_calls = true}, lengths_of(5s)});
  rows.push_back({calls, {.name = "client", .begins = silent(client_host)}, lengths_of(6s)});
  rows.push_back({calls, {.name = "server", .begins = silent(server_host)}, lengths_of(5s)});
  // TCP's next attempt comes soon in one direction, and after 5 s in the other.
  if (!long_run()) rows.push_back({calls, {.name = "server", .begins = silent(server_host)}, {8s, 8s}});
  rows.push_back({calls, {.name = "client from server", .begins = between(client_host, server_host)}, lengths_of(5s)});
  rows.push_back({calls,
                  {.name = "client to server, one way", .begins = drops(server_host, "ip saddr 10.78.0.3")},
                  lengths_of(5s)});
  rows.push_back({calls,
                  {.name = "server to client, one way", .begins = drops(client_host, "ip saddr 10.78.0.2")},
                  lengths_of(5s)});
  rows.push_back({calls,
                  {.name = "broker flaps",
                   .begins =
                       [](lab& all) {
                         for (int n = 0; n < 6; ++n) {
                           all.cut(broker_host, outage::carrier);
                           std::this_thread::sleep_for(900ms);
                           all.mend(broker_host);
                           std::this_thread::sleep_for(700ms);
                         }
                       },
                   .keeps_calls = true},
                  {1s}});
  rows.push_back({calls,
                  {.name = "server moves",
                   .begins = silent(server_host),
                   .ends =
                       [=](lab& all) {
                         moves(server_host, "10.78.0.42")(all);
                         all.mend(server_host);
                       }},
                  {2s}});
  rows.push_back({calls,
                  {.name = "client moves",
                   .begins = silent(client_host),
                   .ends =
                       [=](lab& all) {
                         moves(client_host, "10.78.0.43")(all);
                         all.mend(client_host);
                       }},
                  {2s}});
  rows.push_back({sets, {.name = "server", .begins = silent(server_host)}, lengths_of(5s)});
  return rows;
}

}  // namespace

TEST_CASE("4 and 7: calls and parameters work when the path is back", "[network]") {
  auto rows = rows_of_this_run();
  std::string why;
  if (!run_rows(rows, why, 100ms, run)) return skip(why);

  std::printf("works again after (ms): what, cut off, for (s), ms, later failures\n");
  for (const auto& each : rows) {
    for (std::size_t i = 0; i < each.took.size(); ++i)
      std::printf("  %-10s %-26s %3ld %6ld %3d\n", each.what.name, each.how.name,
                  static_cast<long>(each.lengths[i].count()), each.took[i], each.failed);
    INFO(each.what.name << ", " << each.how.name << ": " << each.failure);
    CHECK(each.failure.empty());
    CHECK(each.took.size() == each.lengths.size());
    CHECK(each.failed == 0);
    CHECK_FALSE(each.twice);
    for (const long took : each.took) {
      CHECK(took >= 0);
      CHECK(took <= back_within_ms + slack_ms);
    }
  }
}
