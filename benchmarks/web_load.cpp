// What orc-web costs under load, and what it costs the publishers. One process publishes 100 typed topics at 1 kHz. Two
// WebSocket clients open all of them and 8 plots; one of them reads 10 kB/s. All processes are real, on a broker of
// their own.
//
//   none        nobody reads
//   subscriber  an ordinary subscriber of all topics
//   orc-web     orc-web with both clients
//
// Rounds are interleaved. CPU: user and system, in cores. Age: when the client has the message, less the sample's
// stamp.
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/fd_limit.h"
#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/process_usage.h"
#include "benchmarks/web_load_client.h"
#include "benchmarks/web_load_topics.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr int start_within_ms = 30'000;
constexpr double slow_bytes_per_s = 10'000;
constexpr std::int64_t settle_ns = 10'000'000'000;  // until what the slow client has on the way fits what it reads

struct options {
  std::vector<std::string> readers{"none", "subscriber", "orc-web"};
  int topics = 100;
  int plots = 8;
  double hz = 1000;
  double seconds = 10;
  int rounds = 3;
  std::string program;
  common_options common;
};

// A copy of this process that serves one end of a line.
class helper {
 public:
  // Call it before this process has threads.
  explicit helper(void (*serve)(channel&)) {
    auto [here, there] = channel::make();
    process_ = detail::child_process::run([&, &mine = there, &theirs = here] {
      theirs.close();
      serve(mine);
      return 0;
    });
    line_ = std::move(here);
  }

  template <class Plan>
  void begin(const Plan& plan) {
    line_.put(plan);
  }
  void await_ready(const char* what) {
    const auto ready = line_.get<bool>(start_within_ms);
    if (!ready || !*ready) throw std::runtime_error(std::string(what) + " did not start");
  }
  void give_word() { line_.put(true); }
  template <class Report>
  [[nodiscard]] Report report(const char* what) {
    const auto report = line_.get<Report>(start_within_ms);
    if (!report) throw std::runtime_error(std::string(what) + " ended too early");
    return *report;
  }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_of(process_.pid()); }

 private:
  detail::child_process process_;
  channel line_;  // closes first: then the process ends by itself
};

class web_process {
 public:
  web_process(const std::string& program, const std::string& broker) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("out of file descriptors");
    const detail::unique_fd output(ends[0]);
    const detail::unique_fd input(ends[1]);
    process_ = detail::child_process::start({program, "--listen", "127.0.0.1:0", "--broker", broker}, {},
                                            {-1, input.get(), -1});
    port_ = port_in(first_line(output.get()));
  }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_of(process_.pid()); }
  [[nodiscard]] double memory_mb() const { return memory_mb_of(process_.pid(), "VmRSS"); }
  [[nodiscard]] double most_memory_mb() const { return memory_mb_of(process_.pid(), "VmHWM"); }

 private:
  static std::string first_line(int from) {
    std::string line;
    pollfd readable{from, POLLIN, 0};
    for (char c = 0; ::poll(&readable, 1, start_within_ms) == 1 && ::read(from, &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }
  static std::uint16_t port_in(std::string_view url) {
    std::uint16_t port = 0;
    const std::string_view text = url.substr(std::min(url.size(), url.rfind(':') + 1));
    std::from_chars(text.data(), text.data() + text.size(), port);
    if (port == 0) throw std::runtime_error("orc-web did not start");
    return port;
  }

  detail::child_process process_;
  std::uint16_t port_ = 0;
};

// What one run of one kind found. Without orc-web its part is empty.
struct outcome {
  sending_report sending = {};
  double publisher_cores = 0;
  double web_cores = 0;
  double start_mb = 0;
  double most_mb = 0;
  client_report fast = {};
  client_report slow = {};
};

using results = std::map<std::string, std::vector<outcome>>;  // by kind

class bench {
 public:
  explicit bench(const options& o) : o_(o) {}

  void start_broker_at(const std::string& endpoint) { broker_ = start_broker(endpoint); }

  outcome measure(const std::string& kind) {
    ++trial_;
    topics_plan plan{trial_, o_.topics, o_.hz, o_.seconds, {}};
    std::snprintf(plan.broker, sizeof plan.broker, "%s", broker_->endpoints().front().c_str());
    publisher_.begin(plan);
    publisher_.await_ready("the publisher");
    outcome found;
    if (kind == "orc-web") {
      measure_web(plan, found);
    } else if (kind == "subscriber") {
      subscriber_.begin(plan);
      subscriber_.await_ready("the subscriber");
      measure_sending(found);
      subscriber_.give_word();
      (void)subscriber_.report<bool>("the subscriber");
    } else {
      measure_sending(found);
    }
    return found;
  }

 private:
  void measure_sending(outcome& found) {
    const double before = publisher_.cpu_seconds();
    publisher_.give_word();
    wait(static_cast<std::int64_t>(o_.seconds * 1e9));
    found.publisher_cores = (publisher_.cpu_seconds() - before) / o_.seconds;
    publisher_.give_word();
    found.sending = publisher_.report<sending_report>("the publisher");
  }

  void measure_web(const topics_plan& topics, outcome& found) {
    const web_process web(o_.program, topics.broker);
    found.start_mb = web.memory_mb();
    client_plan plan;
    plan.port = web.port();
    plan.trial = topics.number;
    plan.topics = o_.topics;
    plan.plots = o_.plots;
    fast_.begin(plan);
    plan.bytes_per_s = slow_bytes_per_s;
    plan.ready_at_first = true;
    slow_.begin(plan);
    fast_.await_ready("the fast client");
    slow_.await_ready("the slow client");
    wait(settle_ns);
    fast_.give_word();
    slow_.give_word();
    const double before = web.cpu_seconds();
    const std::int64_t from = now_ns();
    measure_sending(found);
    found.web_cores = (web.cpu_seconds() - before) / (static_cast<double>(now_ns() - from) / 1e9);
    fast_.give_word();
    slow_.give_word();
    found.fast = fast_.report<client_report>("the fast client");
    found.slow = slow_.report<client_report>("the slow client");
    found.most_mb = web.most_memory_mb();
  }

  static void wait(std::int64_t duration_ns) {
    const std::int64_t end = now_ns() + duration_ns;
    while (now_ns() < end && !interrupted()) sleep_until_ns(std::min(end, now_ns() + 100'000'000));
  }

  const options& o_;
  helper publisher_{serve_topics};
  helper subscriber_{serve_subscriber};
  helper fast_{serve_client};
  helper slow_{serve_client};
  std::unique_ptr<address_broker> broker_;
  unsigned trial_ = 0;
};

template <class Get>
double median_of(const std::vector<outcome>& all, Get get) {
  std::vector<double> values;
  for (const outcome& each : all) values.push_back(static_cast<double>(get(each)));
  return median(values);
}

template <class Get>
double most_of(const std::vector<outcome>& all, Get get) {
  double most = 0;
  for (const outcome& each : all) most = std::max(most, static_cast<double>(get(each)));
  return most;
}

double rate_of(std::uint64_t count, double seconds) { return static_cast<double>(count) / std::max(seconds, 1e-9); }

json_value report_sending(const std::string& kind, const std::vector<outcome>& runs, table& lines) {
  const double p50 = median_of(runs, [](const outcome& each) { return each.sending.p50_us; });
  const double p99 = median_of(runs, [](const outcome& each) { return each.sending.p99_us; });
  const double p999 = median_of(runs, [](const outcome& each) { return each.sending.p999_us; });
  const double cores = median_of(runs, [](const outcome& each) { return each.publisher_cores; });
  const double rate =
      median_of(runs, [](const outcome& each) { return rate_of(each.sending.sent, each.sending.seconds); });
  lines.push_back({kind, us(p50), us(p99), us(p999), fixed(rate, 0), fixed(cores)});
  return {{"readers", kind},      {"send_p50_us", p50}, {"send_p99_us", p99},
          {"send_p999_us", p999}, {"sent_per_s", rate}, {"publisher_cores", cores}};
}

json_value report_client(const std::string& name, const std::vector<outcome>& runs, client_report outcome::*client,
                         table& lines) {
  const auto median_report = [&](auto member) {
    return median_of(runs, [&](const outcome& each) { return (each.*client).*member; });
  };
  const auto rate = [&](std::uint64_t client_report::*member) {
    return median_of(runs,
                     [&](const outcome& each) { return rate_of((each.*client).*member, (each.*client).seconds); });
  };
  const double bytes = rate(&client_report::bytes);
  const double samples = rate(&client_report::samples);
  const double fewest = rate(&client_report::fewest_samples);
  const double points = rate(&client_report::points);
  const double p50 = median_report(&client_report::sample_p50_ms);
  const double p99 = median_report(&client_report::sample_p99_ms);
  const double max = most_of(runs, [&](const outcome& each) { return (each.*client).sample_max_ms; });
  const double plot_p50 = median_report(&client_report::plot_p50_ms);
  const double plot_p99 = median_report(&client_report::plot_p99_ms);
  const double plot_max = most_of(runs, [&](const outcome& each) { return (each.*client).plot_max_ms; });
  const double problems = most_of(runs, [&](const outcome& each) { return (each.*client).problems; });
  const auto ages = [](double middle, double high, double highest) {
    return fixed(middle, 0) + " / " + fixed(high, 0) + " / " + fixed(highest, 0);
  };
  lines.push_back({name, fixed(bytes / 1e3, 0), fixed(samples, 0), fixed(fewest, 1), ages(p50, p99, max),
                   fixed(points, 0), ages(plot_p50, plot_p99, plot_max), fixed(problems, 0)});
  return {{"client", name},
          {"bytes_per_s", bytes},
          {"samples_per_s", samples},
          {"fewest_samples_per_s", fewest},
          {"age_p50_ms", p50},
          {"age_p99_ms", p99},
          {"age_max_ms", max},
          {"points_per_s", points},
          {"plot_age_p50_ms", plot_p50},
          {"plot_age_p99_ms", plot_p99},
          {"plot_age_max_ms", plot_max},
          {"problems", problems}};
}

void report_web(const std::vector<outcome>& runs, std::FILE* to, std::vector<json_value>& objects) {
  const double cores = median_of(runs, [](const outcome& each) { return each.web_cores; });
  const double start = median_of(runs, [](const outcome& each) { return each.start_mb; });
  const double most = most_of(runs, [](const outcome& each) { return each.most_mb; });
  std::fprintf(to, "\norc-web: %s cores; memory at the start %s MB, most %s MB\n\n", fixed(cores).c_str(),
               fixed(start, 1).c_str(), fixed(most, 1).c_str());
  objects.push_back({{"orc_web_cores", cores}, {"memory_at_start_mb", start}, {"most_memory_mb", most}});

  table clients{{"client", "kB/s", "samples/s", "fewest of a topic", "age p50 / p99 / max ms", "points/s",
                 "plots' age p50 / p99 / max ms", "problems"}};
  objects.push_back(report_client("fast", runs, &outcome::fast, clients));
  objects.push_back(report_client("10 kB/s", runs, &outcome::slow, clients));
  print(to, clients);
}

void report(const options& o, const results& found) {
  std::FILE* const to = o.common.tables();
  std::vector<json_value> objects;
  std::fprintf(to, "\n%d topics at %g Hz, medians of %d rounds of %s s\n\n", o.topics, o.hz, o.rounds,
               fixed(o.seconds, 1).c_str());
  table sending{{"readers", "send p50 us", "p99 us", "p99.9 us", "samples/s", "publisher's cores"}};
  for (const auto& [kind, runs] : found) objects.push_back(report_sending(kind, runs, sending));
  print(to, sending);

  if (const auto web = found.find("orc-web"); web != found.end()) report_web(web->second, to, objects);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
}

int run(options& o) {
  o.common.cpus = {};
  const interruptible in_order;
  detail::raise_fd_limit();
  const scratch_dir files;
  o.common.print_machine();
  if (o.program.empty()) o.program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orc-web";
  if (::access(o.program.c_str(), X_OK) != 0) throw std::runtime_error(o.program + " is not there; see --program");
  bench measured(o);  // its processes begin before this one has threads
  measured.start_broker_at(files.ipc("broker"));
  results found;
  for (int round = 0; round < o.rounds; ++round) {
    for (const std::string& kind : o.readers) {
      std::fprintf(stderr, "round %d: %s\n", round + 1, kind.c_str());
      found[kind].push_back(measured.measure(kind));
      if (interrupted()) return interrupted_exit_code();
    }
  }
  report(o, found);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("orc-web under load: 100 topics at 1 kHz, two clients that open all of them, one of them slow",
                   "web_load");
  options o;
  app.add_option("--readers", o.readers, "Who reads, one run each").one_of({"none", "subscriber", "orc-web"});
  app.add_option("--topics", o.topics, "Topics; each client opens all of them").between(8, 240);
  app.add_option("--plots", o.plots, "Plots of each client").between(0, 8);
  app.add_option("--hz", o.hz, "Samples per second of each topic").between(1.0, 10'000.0);
  app.add_option("--seconds", o.seconds, "Of each run").between(0.5, 3600.0);
  app.add_option("--rounds", o.rounds, "Runs of each kind").between(1, 100);
  app.add_option("--program", o.program, "Default: orc-web beside this program", "FILE");
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] { return run(o); });
}
