// What a real orc-broker costs and how fast it answers with many topics and participants: request_topic latency,
// memory, processor time at rest, and the time until everything is known again after it was killed and restarted.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/files/fd_limit.h"
#include "base/process/child_process.h"
#include "benchmarks/broker_load_clients.h"
#include "benchmarks/broker_load_federation.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/process_usage.h"
#include "orc/directory.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

struct options {
  std::size_t topics = 10'000;
  std::size_t participants = 500;
  std::size_t requests = 10'000;
  double rest_seconds = 10;
  std::string program;
  bool federation = false;
  federation_options federated;
  common_options common;
};

class broker_process {
 public:
  broker_process(std::string program, std::string endpoint, std::size_t topics)
      : program_(std::move(program)), endpoint_(std::move(endpoint)), max_topics_(std::max(2 * topics, usual_topics)) {
    start();
  }
  void start() {
    process_ = detail::child_process::start(
        {program_, "--listen", endpoint_, "--log-level", "error", "--max-topics", std::to_string(max_topics_)});
  }
  void kill() { process_.kill(); }
  [[nodiscard]] double rss_mb() const { return memory_mb_of(process_.pid(), "VmRSS"); }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_of(process_.pid()); }
  [[nodiscard]] const std::string& endpoint() const noexcept { return endpoint_; }

 private:
  static constexpr std::size_t usual_topics = 65'536;  // of which one user may have half

  std::string program_;
  std::string endpoint_;
  std::size_t max_topics_;
  detail::child_process process_;
};

struct results {
  double first_registration_s = 0;
  double rest_cpu_percent = 0;
  double rss_mb = 0;
  summary request;
  summary storm;
  double storm_cpu_us = 0;  // of the broker, for each request
  double rss_after_mb = 0;
  double restored_s = 0;
};

bool everything_known(const fleet& all) { return all.registered() == all.topics(); }

// A participant of its own requests topics one after the other.
void request_topics(const std::string& broker, const options& o, const fleet& all, std::vector<std::int64_t>& ns) {
  const zmq_context context;
  control_client client(context, broker, "requester");
  if (!client.meet(5000)) return;
  std::mt19937 random(1);
  for (std::size_t i = 0; i < o.requests && !interrupted(); ++i) {
    const std::string topic = all.topic(random() % o.topics);
    const std::uint64_t request = 100 + i;
    const std::int64_t start = now_ns();
    client.send(request, wire::request_topic{topic, wire::id::random()});
    if (!client.answer_to(request, 5000)) return;
    ns.push_back(now_ns() - start);
    if (i % 1000 == 999) client.send(2, wire::heartbeat{});
  }
  client.send(3, wire::goodbye{});
}

// Topics with a publication, as the broker lists them.
std::size_t listed_topics(const std::string& broker) {
  std::vector<topic_state> topics;
  if (!directory({.broker = broker, .broker_timeout = std::chrono::milliseconds(5000)}).topics("**", topics)) return 0;
  return static_cast<std::size_t>(
      std::count_if(topics.begin(), topics.end(), [](const auto& each) { return each.publication.has_value(); }));
}

void measure_requests(const broker_process& broker, const options& o, fleet& all, results& r) {
  std::vector<std::int64_t> ns;
  ns.reserve(o.requests);
  std::atomic<bool> done{false};
  std::thread requester([&] {
    request_topics(broker.endpoint(), o, all, ns);
    done = true;
  });
  all.run(120, [&] { return done.load(); });
  requester.join();
  if (ns.size() < o.requests && !interrupted()) throw std::runtime_error("a request_topic was not answered within 5 s");
  r.request = summarize(ns);
  std::vector<std::int64_t> storm_ns;
  const double cpu = broker.cpu_seconds();
  if (!all.request_storm(20, 60, storm_ns) && !interrupted())
    throw std::runtime_error("requests of all participants at once were not all answered within 60 s");
  r.storm_cpu_us = (broker.cpu_seconds() - cpu) * 1e6 / static_cast<double>(storm_ns.size());
  r.storm = summarize(storm_ns);
}

void measure(broker_process& broker, const options& o, fleet& all, results& r) {
  std::int64_t start = now_ns();
  if (!all.run(60, [&] { return everything_known(all); })) {
    if (interrupted()) return;
    throw std::runtime_error("only " + std::to_string(all.registered()) + " topics were registered within 60 s, with " +
                             std::to_string(all.errors()) + " errors from the broker");
  }
  r.first_registration_s = static_cast<double>(now_ns() - start) / 1e9;
  all.run(2, [] { return false; });  // what registration left to do

  std::fprintf(stderr, "at rest for %g s\n", o.rest_seconds);
  const double cpu = broker.cpu_seconds();
  start = now_ns();
  all.run(o.rest_seconds, [] { return false; });
  r.rest_cpu_percent = (broker.cpu_seconds() - cpu) / (static_cast<double>(now_ns() - start) / 1e9) * 100;
  r.rss_mb = broker.rss_mb();
  if (interrupted()) return;

  std::fprintf(stderr, "requests\n");
  measure_requests(broker, o, all, r);
  r.rss_after_mb = broker.rss_mb();
  if (interrupted()) return;

  std::fprintf(stderr, "killed and restarted\n");
  broker.kill();
  all.forget_registrations();
  all.run(0.5, [] { return false; });  // everybody notices
  start = now_ns();
  broker.start();
  if (!all.run(60, [&] { return everything_known(all); }) && !interrupted())
    throw std::runtime_error("not all topics were registered again within 60 s");
  r.restored_s = static_cast<double>(now_ns() - start) / 1e9;
  if (const std::size_t listed = listed_topics(broker.endpoint()); listed != o.topics && !interrupted())
    throw std::runtime_error("the broker lists " + std::to_string(listed) + " topics after its restart");
  if (all.errors() > 0) throw std::runtime_error(std::to_string(all.errors()) + " errors from the broker");
}

void report(const options& o, const results& r) {
  std::FILE* to = o.common.tables();
  const auto latency = [](const summary& s) {
    return "p50 " + us(s.p50) + ", p99 " + us(s.p99) + ", max " + us(s.max) + " us";
  };
  std::fprintf(to, "\n%zu topics of %zu participants, each with heartbeats and counters at 1 Hz\n\n", o.topics,
               o.participants);
  print(to, {{"all registered after", fixed(r.first_registration_s, 3) + " s"},
             {"broker CPU at rest", fixed(r.rest_cpu_percent, 1) + " % of a core"},
             {"broker RSS", fixed(r.rss_mb, 1) + " MB"},
             {"request_topic, one at a time", latency(r.request)},
             {"request_topic, all participants at once", latency(r.storm)},
             {"broker CPU for each of them", fixed(r.storm_cpu_us, 1) + " us"},
             {"broker RSS after the requests", fixed(r.rss_after_mb, 1) + " MB"},
             {"all registered again after SIGKILL, from its restart", fixed(r.restored_s, 3) + " s"}});
  if (o.common.json.empty()) return;
  json_value object = {{"topics", o.topics},
                       {"participants", o.participants},
                       {"first_registration_s", r.first_registration_s},
                       {"rest_cpu_percent", r.rest_cpu_percent},
                       {"rss_mb", r.rss_mb},
                       {"rss_after_requests_mb", r.rss_after_mb},
                       {"request_p50_us", r.request.p50},
                       {"request_p99_us", r.request.p99},
                       {"request_max_us", r.request.max},
                       {"storm_p50_us", r.storm.p50},
                       {"storm_p99_us", r.storm.p99},
                       {"storm_max_us", r.storm.max},
                       {"storm_cpu_us", r.storm_cpu_us},
                       {"restored_s", r.restored_s}};
  if (!write_text(o.common.json, to_json({object}))) throw std::runtime_error("cannot write " + o.common.json);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  detail::raise_fd_limit();
  if (!detail::room_for_fds(2 * o.participants + 100))
    throw std::runtime_error("too few open files allowed for so many participants: raise ulimit -n");
  if (o.program.empty()) o.program = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "orc-broker";
  if (::access(o.program.c_str(), X_OK) != 0)
    throw std::runtime_error(o.program + " is not there; see --broker-program");
  if (o.federation) return run_federation(o.federated, o.program, o.rest_seconds, o.common);
  const scratch_dir files;
  o.common.print_machine();
  broker_process broker(o.program, files.ipc("broker"), o.topics);
  zmq_context context;
  context.allow_sockets(static_cast<int>(o.participants) + 10);
  fleet all(context, {broker.endpoint()}, o.participants, o.topics);
  results r;
  measure(broker, o, all, r);
  if (interrupted()) return interrupted_exit_code();
  report(o, r);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("A real orc-broker under load: request latency, memory, CPU at rest, recovery after SIGKILL",
                   "broker_load");
  options o;
  app.add_option("--topics", o.topics, "Topics").between(1, 1'000'000);
  app.add_option("--participants", o.participants, "Participants").between(1, 20'000);
  app.add_option("--requests", o.requests, "request_topic calls, one at a time").between(1, 10'000'000);
  app.add_option("--rest-seconds", o.rest_seconds, "How long its CPU at rest is measured").between(1.0, 600.0);
  app.add_option("--broker-program", o.program, "Default: orc-broker beside this program", "FILE");
  app.add_flag("--federation", o.federation,
               "Brokers that know each other instead, in a network of their own: time from boot to complete maps, "
               "propagation of changes, traffic and CPU at rest");
  app.add_option("--brokers", o.federated.brokers, "Brokers of --federation").between(2, 64);
  app.add_option("--topics-each", o.federated.topics_each, "Topics on each of them").between(1, 256);
  app.add_option("--changes", o.federated.changes, "Topics that come and go, one after the other").between(1, 100'000);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] { return run(o); });
}
