#include "benchmarks/broker_load_federation.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/broker_load_clients.h"
#include "benchmarks/support/own_network.h"
#include "benchmarks/support/process_usage.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

constexpr int patience_ms = 10'000;
constexpr double patience_s = 120;

// Participants and tools use ipc, so only what the brokers tell each other crosses the network.
class federated_brokers {
 public:
  federated_brokers(std::string program, const scratch_dir& files, std::size_t count) : program_(std::move(program)) {
    for (std::size_t n = 0; n < count; ++n) {
      ipc_.push_back(files.ipc("broker" + std::to_string(n)));
      tcp_.push_back("tcp://127.0.0.1:" + std::to_string(5'570 + n));
    }
  }
  void start() {
    for (std::size_t n = 0; n < size(); ++n) {
      std::vector<std::string> command = {program_,   "--log-level", "error",
                                          "--listen", ipc_[n],       "--listen",
                                          tcp_[n],    "--host-name", "host" + std::to_string(n)};
      for (std::size_t other = 0; other < size(); ++other) {
        if (other != n) command.insert(command.end(), {"--peer", tcp_[other]});
      }
      running_.push_back(detail::child_process::start(std::move(command)));
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return ipc_.size(); }
  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return ipc_; }
  [[nodiscard]] std::vector<double> cpu_seconds() const {
    std::vector<double> all;
    for (const auto& each : running_) all.push_back(cpu_seconds_of(each.pid()));
    return all;
  }
  [[nodiscard]] double rss_mb() const {
    double most = 0;
    for (const auto& each : running_) most = std::max(most, memory_mb_of(each.pid(), "VmRSS"));
    return most;
  }

 private:
  const std::string program_;
  std::vector<std::string> ipc_;
  std::vector<std::string> tcp_;
  std::vector<detail::child_process> running_;
};

// Asks each broker for its peers until it has all topics.
class completeness {
 public:
  completeness(const zmq_context& context, const federated_brokers& brokers, std::size_t topics) : topics_(topics) {
    for (const auto& each : brokers.endpoints())
      asking_.push_back(std::make_unique<control_client>(context, each, "completeness"));
    known_.resize(brokers.size());
  }
  bool reached() {
    for (std::size_t n = 0; n < asking_.size(); ++n) {
      if (known_[n] >= topics_) continue;
      while (const auto answer = asking_[n]->try_receive()) {
        const auto* const list = std::get_if<wire::peer_list>(&answer->content);
        if (list == nullptr) continue;
        known_[n] = list->topics;
        for (const auto& peer : list->peers) known_[n] += peer.topics;
      }
      if (known_[n] < topics_ && now_ns() >= next_ns_) asking_[n]->send(7, wire::list_peers{});
    }
    if (now_ns() >= next_ns_) next_ns_ = now_ns() + 20'000'000;
    return std::all_of(known_.begin(), known_.end(), [this](std::size_t each) { return each >= topics_; });
  }
  [[nodiscard]] std::size_t least() const { return *std::min_element(known_.begin(), known_.end()); }

 private:
  const std::size_t topics_;
  std::vector<std::unique_ptr<control_client>> asking_;
  std::vector<std::size_t> known_;
  std::int64_t next_ns_ = 0;
};

// A program on each host that watches the topics that come and go.
class observers {
 public:
  observers(const zmq_context& context, const federated_brokers& brokers) {
    for (const auto& each : brokers.endpoints()) {
      auto& made = all_.emplace_back();
      made.client = std::make_unique<control_client>(context, each, "observer");
      if (!made.client->answer_to(0, patience_ms)) throw std::runtime_error(each + " does not answer");
      ask(made);
    }
  }
  // Nanoseconds from `since_ns` until each host but `source` knows whether `topic` is published.
  void wait_for(const std::string& topic, bool published, std::size_t source, std::int64_t since_ns,
                std::vector<std::int64_t>& ns) {
    std::vector<bool> seen(all_.size());
    seen[source] = true;
    std::size_t missing = all_.size() - 1;
    while (missing > 0 && !interrupted()) {
      if (now_ns() - since_ns > patience_ms * std::int64_t{1'000'000})
        throw std::runtime_error("a change did not reach " + std::to_string(missing) + " brokers within 10 s");
      turn([&](std::size_t which, const wire::topic_state& state) {
        if (state.topic != topic || state.publication.has_value() != published || seen[which]) return;
        seen[which] = true;
        --missing;
        ns.push_back(now_ns() - since_ns);
      });
    }
  }

 private:
  struct observer {
    std::unique_ptr<control_client> client;
    wire::watch_position position;
  };
  static void ask(observer& one) { one.client->send(3, wire::watch{{"change/**"}, false, one.position, 10'000}); }
  template <class Saw>
  void turn(Saw saw) {
    std::vector<zmq_pollitem_t> items;
    items.reserve(all_.size());
    for (const auto& each : all_) items.push_back({each.client->socket(), 0, ZMQ_POLLIN, 0});
    if (::zmq_poll(items.data(), static_cast<int>(items.size()), 100) <= 0) return;
    for (std::size_t n = 0; n < all_.size(); ++n) {
      if ((items[n].revents & ZMQ_POLLIN) == 0) continue;
      while (const auto message = all_[n].client->try_receive()) {
        const auto* const news = std::get_if<wire::changes>(&message->content);
        if (news == nullptr) continue;
        for (const auto& each : news->topics) saw(n, each);
        all_[n].position = news->position;
        ask(all_[n]);
      }
    }
  }

  std::vector<observer> all_;
};

// A topic comes, then goes, on one host after the other.
std::vector<std::int64_t> propagate(const federated_brokers& brokers, std::size_t changes) {
  const zmq_context context;
  observers all(context, brokers);
  std::vector<std::int64_t> ns;
  std::mt19937 random(1);
  for (std::size_t n = 0; n < changes && !interrupted(); ++n) {
    const std::size_t source = n % brokers.size();
    control_client client(context, brokers.endpoints()[source], "changer");
    if (!client.meet(patience_ms)) throw std::runtime_error("broker " + std::to_string(source) + " does not answer");
    // Not in step with the brokers' periods.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 50'000));
    const std::string topic = "change/" + std::to_string(n);
    auto since = now_ns();
    wire::register_topic what{topic, wire::id::random(), {{wire::transport::tcp, "tcp://127.0.0.1:40000"}}, {}};
    client.send(4, what);
    all.wait_for(topic, true, source, since, ns);
    since = now_ns();
    client.send(5, wire::unregister_topic{topic, what.publication});
    all.wait_for(topic, false, source, since, ns);
    client.send(6, wire::goodbye{});
  }
  return ns;
}

struct results {
  double complete_s = 0;
  summary change;
  double idle_bytes_per_s = 0;
  double cpu_percent_most = 0;
  double cpu_percent_all = 0;
  double rss_mb = 0;
};

void measure(const federated_brokers& brokers, fleet& all, double rest_seconds, results& r) {
  std::fprintf(stderr, "at rest for %g s\n", rest_seconds);
  all.run(3, [] { return false; });  // what the start left to do
  const auto cpu = brokers.cpu_seconds();
  const auto bytes = loopback_bytes();
  const auto start = now_ns();
  all.run(rest_seconds, [] { return false; });
  const double seconds = static_cast<double>(now_ns() - start) / 1e9;
  r.idle_bytes_per_s = static_cast<double>(loopback_bytes() - bytes) / seconds;
  const auto later = brokers.cpu_seconds();
  for (std::size_t n = 0; n < cpu.size(); ++n) {
    const double percent = (later[n] - cpu[n]) / seconds * 100;
    r.cpu_percent_all += percent;
    r.cpu_percent_most = std::max(r.cpu_percent_most, percent);
  }
  r.rss_mb = brokers.rss_mb();
}

void measure_changes(const federated_brokers& brokers, fleet& all, std::size_t changes, results& r) {
  std::fprintf(stderr, "changes\n");
  std::atomic<bool> done{false};
  std::exception_ptr failed;
  std::vector<std::int64_t> ns;
  std::thread changing([&] {
    try {
      ns = propagate(brokers, changes);
    } catch (...) {
      failed = std::current_exception();
    }
    done = true;
  });
  all.run(600, [&] { return done.load(); });
  changing.join();
  if (failed) std::rethrow_exception(failed);
  r.change = summarize(ns);
}

void report(const federation_options& o, const results& r, const common_options& common) {
  const std::size_t pair_count = o.brokers * (o.brokers - 1) / 2;
  const auto pairs = static_cast<double>(pair_count);
  const auto ms = [](double us) { return fixed(us / 1'000, 1); };
  std::fprintf(common.tables(), "\n%zu brokers that know each other, %zu topics on each\n\n", o.brokers, o.topics_each);
  print(common.tables(),
        {{"from the start of the first until all know all topics", fixed(r.complete_s, 2) + " s"},
         {"a change reaches each of the others",
          "p50 " + ms(r.change.p50) + ", p99 " + ms(r.change.p99) + ", max " + ms(r.change.max) + " ms"},
         {"traffic at rest, with TCP and IP, per pair", fixed(r.idle_bytes_per_s / pairs, 0) + " B/s"},
         {"CPU at rest of one broker, the most", fixed(r.cpu_percent_most, 2) + " % of a core"},
         {"CPU at rest of all", fixed(r.cpu_percent_all, 1) + " % of a core"},
         {"RSS of one broker, the most", fixed(r.rss_mb, 1) + " MB"}});
  if (common.json.empty()) return;
  json_value object = {{"brokers", o.brokers},
                       {"topics_each", o.topics_each},
                       {"complete_s", r.complete_s},
                       {"change_p50_us", r.change.p50},
                       {"change_p99_us", r.change.p99},
                       {"change_max_us", r.change.max},
                       {"idle_bytes_per_s_and_pair", r.idle_bytes_per_s / pairs},
                       {"rest_cpu_percent_most", r.cpu_percent_most},
                       {"rest_cpu_percent_all", r.cpu_percent_all},
                       {"rss_mb", r.rss_mb}};
  if (!write_text(common.json, to_json({object}))) throw std::runtime_error("cannot write " + common.json);
}

}  // namespace

int run_federation(const federation_options& o, const std::string& program, double rest_seconds,
                   const common_options& common) {
  if (!enter_own_network() || !loopback_up())
    throw std::runtime_error(std::string("no network of its own here: ") + std::strerror(errno));
  const scratch_dir files;
  common.print_machine();
  federated_brokers brokers(program, files, o.brokers);
  zmq_context context;
  context.allow_sockets(static_cast<int>(4 * o.brokers) + 10);
  const std::size_t topics = o.brokers * o.topics_each;
  results r;
  const auto start = now_ns();
  brokers.start();
  fleet all(context, brokers.endpoints(), o.brokers, topics);
  completeness complete(context, brokers, topics);
  if (!all.run(patience_s, [&] { return complete.reached(); }) && !interrupted())
    throw std::runtime_error("a broker knows only " + std::to_string(complete.least()) + " of " +
                             std::to_string(topics) + " topics after 120 s, with " + std::to_string(all.errors()) +
                             " errors from the brokers");
  r.complete_s = static_cast<double>(now_ns() - start) / 1e9;
  if (!interrupted()) measure(brokers, all, rest_seconds, r);
  if (!interrupted()) measure_changes(brokers, all, o.changes, r);
  if (interrupted()) return interrupted_exit_code();
  report(o, r, common);
  return 0;
}

}  // namespace orc::bench
