// What a publisher over shm pays when subscribers join: the longest send call of a run during which six processes join
// one after the other, beside one in which none does. A standing subscriber is there in both. On a busy machine
// `chrt -f 1 join_stalls --priority 10` keeps the scheduler out of it.
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr int joiners = 6;
constexpr int joins_within_ms = 60'000;
constexpr std::uint64_t warm_up = 20;  // sends that touch memory for the first time

struct options {
  std::vector<std::size_t> sizes;
  std::vector<std::string> locks;
  std::size_t history = 1;
  double seconds = 2.0;
  int rounds = 3;
  int priority = 0;
  common_options common;
};

struct plan {
  unsigned number = 0;
  std::size_t size = 0;
  std::size_t history = 1;
  bool lock = false;
  char broker[200] = {};
};

std::string topic_of(const plan& p) { return "joins" + std::to_string(p.number); }

// Takes part until a sample without bytes comes.
void serve(channel& line) {
  while (const auto p = line.get<plan>()) {
    orc::participant participant(participant_at(p->broker, "join_stalls (subscriber)"));
    request_options wish;
    wish.transports = {orc::transport::shm};
    wish.connected_within = std::chrono::milliseconds(joins_within_ms);
    const bool open = static_cast<bool>(participant.request_topic(topic_of(*p), wish).result());
    line.put(open);
    if (!open) continue;
    auto in = participant.subscriber(topic_of(*p));
    while (const message sample = in.recv(joins_within_ms)) {
      if (sample.size() == 0) break;
    }
    line.put(true);
  }
}

struct subscriber_process {
  detail::child_process process;
  channel line;
};

void expect(channel& line) {
  const auto good = line.get<bool>(2 * joins_within_ms);
  if (!good || !*good) throw std::runtime_error("a subscriber has no link");
}

struct outcome {
  double worst_us = 0;
  double p99_us = 0;
  double slowest_join_ms = 0;
  std::uint64_t sends = 0;
};

double rate_of(std::size_t size) { return std::clamp(5e8 / static_cast<double>(size), 10.0, 1000.0); }

// `at_least`: sends.
// The calling thread only; 0: as it is.
void set_priority(int priority) {
  const sched_param wanted{priority};
  if (priority != 0 && ::pthread_setschedparam(::pthread_self(), SCHED_FIFO, &wanted) != 0)
    throw std::runtime_error("SCHED_FIFO is not allowed here");
}

outcome measure(const plan& p, const options& o, std::uint64_t at_least, std::vector<subscriber_process>& others,
                bool with_joins) {
  orc::participant participant(participant_at(p.broker, "join_stalls"));
  topic_options offer;
  offer.transports = {orc::transport::shm};
  offer.history = p.history;
  offer.memory.lock = p.lock;
  if (const auto done = participant.register_topic(topic_of(p), offer).result(); !done)
    throw std::runtime_error(done.error().message());
  auto publisher = participant.publisher(topic_of(p));
  const std::vector<std::byte> sample(p.size, std::byte{1});
  if (!publisher.send(sample.data(), sample.size())) throw std::runtime_error("a sample was not sent");
  others.front().line.put(p);
  expect(others.front().line);
  for (std::size_t i = 0; i < p.history; ++i) (void)publisher.send(sample.data(), sample.size());

  const double hz = rate_of(p.size);
  const auto period = static_cast<std::int64_t>(1e9 / hz);
  std::atomic<bool> joined{!with_joins};
  std::atomic<std::uint64_t> sent{0};
  outcome out;
  const int count = with_joins ? joiners : 0;
  std::thread joins([&] {
    while (sent < warm_up) sleep_until_ns(now_ns() + 1'000'000);
    for (int i = 1; i <= count; ++i) {
      auto& line = others[static_cast<std::size_t>(i)].line;
      const std::int64_t start = now_ns();
      line.put(p);
      (void)line.get<bool>(2 * joins_within_ms);
      out.slowest_join_ms = std::max(out.slowest_join_ms, static_cast<double>(now_ns() - start) / 1e6);
    }
    joined = true;
  });
  int policy = 0;
  sched_param usual{};
  ::pthread_getschedparam(::pthread_self(), &policy, &usual);
  set_priority(o.priority);
  std::vector<std::int64_t> calls;
  const std::uint64_t most = std::max(at_least, warm_up + static_cast<std::uint64_t>(o.seconds * hz));
  std::int64_t next = now_ns();
  while ((sent < most || !joined) && !interrupted()) {
    sleep_until_ns(next += period);
    const std::int64_t before = now_ns();
    if (!publisher.send(sample.data(), sample.size())) break;
    const std::int64_t after = now_ns();
    if (++sent > warm_up) calls.push_back(after - before);
    next = std::max(next, after - period);
  }
  joins.join();
  ::pthread_setschedparam(::pthread_self(), policy, &usual);
  sleep_until_ns(now_ns() + 50'000'000);
  (void)publisher.send(nullptr, 0);
  for (int i = 0; i <= count; ++i) expect(others[static_cast<std::size_t>(i)].line);
  const summary s = summarize(calls);
  out.worst_us = s.max;
  out.p99_us = s.p99;
  out.sends = sent;
  return out;
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  std::vector<subscriber_process> others;  // before this process has threads
  for (int i = 0; i <= joiners; ++i) {
    auto [here, there] = channel::make();
    auto process = detail::child_process::run([&, &mine = there, &theirs = here] {
      theirs.close();
      for (auto& each : others) each.line.close();
      serve(mine);
      return 0;
    });
    there.close();
    others.push_back({std::move(process), std::move(here)});
  }
  const auto broker = start_broker(files.ipc("broker"));
  table lines{{"size", "lock", "history", "worst without", "worst with joins", "difference", "p99 without",
               "p99 with joins", "slowest join (ms)"}};
  std::vector<json_value> objects;
  unsigned number = 0;
  for (const std::string& lock : o.locks) {
    for (const std::size_t size : o.sizes) {
      std::vector<double> with;
      std::vector<double> without;
      std::vector<double> p99_with;
      std::vector<double> p99_without;
      double slowest_join_ms = 0;
      for (int round = 0; round < o.rounds && !interrupted(); ++round) {
        std::fprintf(stderr, "%s, lock %s\n", size_label(size).c_str(), lock.c_str());
        plan p{++number, size, o.history, lock == "on", {}};
        std::snprintf(p.broker, sizeof p.broker, "%s", broker->endpoints().front().c_str());
        const outcome joined = measure(p, o, 0, others, true);
        p.number = ++number;
        const outcome alone = measure(p, o, joined.sends, others, false);
        with.push_back(joined.worst_us);
        without.push_back(alone.worst_us);
        p99_with.push_back(joined.p99_us);
        p99_without.push_back(alone.p99_us);
        slowest_join_ms = std::max(slowest_join_ms, joined.slowest_join_ms);
      }
      if (with.empty()) break;
      lines.push_back({size_label(size), lock, std::to_string(o.history), us(median(without)), us(median(with)),
                       us(median(with) - median(without)), us(median(p99_without)), us(median(p99_with)),
                       us(slowest_join_ms)});
      objects.push_back({{"size", size},
                         {"lock", lock},
                         {"history", o.history},
                         {"worst_without_us", median(without)},
                         {"worst_with_us", median(with)},
                         {"p99_without_us", median(p99_without)},
                         {"p99_with_us", median(p99_with)},
                         {"slowest_join_ms", slowest_join_ms}});
    }
  }
  std::fprintf(o.common.tables(),
               "\nThe longest send call in microseconds, without joins and while %d subscribers join one after the "
               "other; median\nof %d rounds; the first %d sends of each run are left out\n\n",
               joiners, o.rounds, static_cast<int>(warm_up));
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("The longest send call over shm while subscribers join", "join_stalls");
  options o;
  std::vector<std::string> sizes{"10", "1k", "100k", "1M", "10M", "50M"};
  o.locks = {"off", "on"};
  add_size(app, "--size", sizes, "Bytes per sample");
  app.add_option("--lock", o.locks, "memory.lock").one_of({"on", "off"});
  app.add_option("--history", o.history, "Samples kept").between(1, 65536);
  app.add_option("--seconds", o.seconds, "Of a run, at least").between(0.1, 600.0);
  app.add_option("--rounds", o.rounds, "Runs of each kind").between(1, 100);
  app.add_option("--priority", o.priority, "SCHED_FIFO priority of the sending thread; 0: none").between(0, 99);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.sizes = sizes_named(sizes);
    return run(o);
  });
}
