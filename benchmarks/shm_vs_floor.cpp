// ORC's shm round trip against the same ping-pong on bare shared memory (a futex, or a spin on a word), interleaved in
// one run between the same two processes, each pinned to a core, which are new for each size. And how little it matters
// how large a sample is when both ends make it in place.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/floor_end.h"
#include "benchmarks/support/fresh_process.h"
#include "benchmarks/support/private_broker.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

struct options {
  std::vector<std::size_t> sizes;
  std::vector<std::size_t> loan_sizes;
  int repetitions = 5;
  double seconds = 0.3;
  common_options common;
};

// What is measured in one go.
struct trial {
  bool orc = false;
  wait_mode wait = wait_mode::block;
  send_mode send = send_mode::copy;
};
// One size, as told to the other end: it opens both implementations and then serves trials.
struct cell {
  std::size_t size = 0;
  unsigned number = 0;
  char broker[200] = {};
};
enum class state : char { ready, failed, done };
struct order {
  bool end_of_cell = false;
  trial what;
};

// Both implementations for one size; ORC has a pair of topics for each way to wait.
class ends {
 public:
  ends(const cell& c, floor_memory& memory, bool echo) : floor_(memory, echo ? 1 : 0) {
    for (const wait_mode wait : {wait_mode::block, wait_mode::spin}) {
      const std::string prefix = "shm." + std::to_string(c.number) + (wait == wait_mode::block ? ".b." : ".s.");
      const char* const names[2] = {"ping", "pong"};
      auto& end = wait == wait_mode::block ? blocking_ : spinning_;
      end = std::make_unique<orc_end>(
          c.broker, "shm_vs_floor",
          orc_link{prefix + names[echo ? 1 : 0], prefix + names[echo ? 0 : 1], orc::transport::shm, c.size, wait});
    }
  }
  result open() {
    if (auto done = blocking_->open(); !done) return done;
    return spinning_->open();
  }
  // Calls with(end) for the one that `t` is about.
  template <class With>
  bool with(const trial& t, With use) {
    floor_.wait_by(t.wait);
    if (!t.orc) return use(floor_);
    return use(t.wait == wait_mode::block ? *blocking_ : *spinning_);
  }

 private:
  floor_end floor_;
  std::unique_ptr<orc_end> blocking_;
  std::unique_ptr<orc_end> spinning_;
};

void serve(channel& line, floor_memory& memory, int cpu) {
  pin_this_thread(cpu);
  while (const auto c = line.get<cell>()) {
    ends here(*c, memory, true);
    const auto opened = here.open();
    if (!opened && !interrupted()) std::fprintf(stderr, "echo: %s\n", opened.error().message().c_str());
    line.put(opened ? state::ready : state::failed);
    while (const auto next = line.get<order>()) {
      if (next->end_of_cell) break;
      const trial& t = next->what;
      line.put(here.with(t, [&](auto& end) { return echo(end, t.wait, t.send); }) ? state::done : state::failed);
    }
  }
}

struct latency {
  double p50 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};

// Of one repetition.
struct measurement {
  std::size_t kind = 0;
  bool orc = false;
  latency what;
};

struct row {
  std::size_t size = 0;
  trial what;  // orc and its floor
  std::vector<latency> orc;
  std::vector<latency> floor;
};

// One size, between this process and another one.
class comparison {
 public:
  comparison(const options& o, channel& line, floor_memory& memory, std::string broker)
      : options_(o), line_(line), memory_(memory), broker_(std::move(broker)) {}

  // All trials, interleaved.
  std::vector<measurement> measure(std::size_t size, const std::vector<trial>& kinds) {
    cell c{size, 1, {}};
    std::snprintf(c.broker, sizeof c.broker, "%s", broker_.c_str());
    line_.put(c);
    ends here(c, memory_, false);
    const auto opened = here.open();
    const auto other = line_.get<state>(3 * connect_within_ms);
    if (!opened) throw std::runtime_error(opened.error().message());
    if (!other || *other != state::ready) throw std::runtime_error("the other end is not ready");
    std::vector<measurement> all;
    for (int i = 0; i < options_.repetitions; ++i) {
      for (std::size_t k = 0; k < kinds.size() && !interrupted(); ++k) {
        for (const bool orc : {i % 2 == 0, i % 2 != 0}) {
          trial t = kinds[k];
          t.orc = orc;
          all.push_back({k, orc, run(here, t, size)});
        }
      }
    }
    line_.put(order{true, {}});
    return all;
  }

 private:
  latency run(ends& here, const trial& t, std::size_t size) {
    line_.put(order{false, t});
    std::vector<std::byte> payload(size, std::byte{0x5a});
    std::vector<std::int64_t> ns;
    ns.reserve(1'000'000);
    std::atomic<std::uint64_t> progress{0};
    const bool complete = here.with(t, [&](auto& end) {
      bool all = false;
      {
        const watchdog watch(progress, [&] { end.close(); });
        const auto some = [&](std::uint64_t n) { return ping(end, payload, n, t.wait, progress, ns, t.send); };
        all = warm_up_and_measure(some, options_.seconds, 1'000'000, ns);
      }
      (void)end.send(nullptr, 0);  // ends the echo
      return all;
    });
    const auto other = line_.get<state>(5000);
    if (!complete || !other || *other != state::done) throw std::runtime_error("a sample did not come back within 5 s");
    const summary all = summarize(ns, 0.5);
    return {all.p50, all.p99, all.p999, all.max};
  }

  const options& options_;
  channel& line_;
  floor_memory& memory_;
  std::string broker_;
};

// In a process that does nothing else.
std::vector<measurement> measure(const options& o, std::size_t size, const std::vector<trial>& kinds,
                                 const scratch_dir& files) {
  floor_memory memory(size);
  auto line = channel::make();
  // Before this process has threads.
  const auto other = detail::child_process::run([&] {
    line.first.close();
    serve(line.second, memory, o.common.cpus.second);
    return 0;
  });
  line.second.close();
  const auto broker =
      start_broker(files.ipc("broker-" + std::to_string(size) + (kinds[0].send == send_mode::loan ? "-loan" : "")));
  pin_this_thread(o.common.cpus.first);
  auto all = comparison(o, line.first, memory, broker->endpoints().front()).measure(size, kinds);
  line.first.close();
  return all;
}

double middle(const std::vector<latency>& of, double latency::*which) {
  std::vector<double> values;
  for (const latency& each : of) values.push_back(each.*which);
  return median(values);
}

std::string name_of(const trial& t) {
  return std::string(t.wait == wait_mode::block ? "futex" : "spin") + (t.send == send_mode::loan ? ", in place" : "");
}

void report(const options& o, const std::vector<row>& rows) {
  table lines{
      {"wait", "size", "ORC p50", "p99", "p99.9", "max", "floor p50", "p99", "p50 ratio", "spread", "p99 ratio"}};
  std::vector<json_value> objects;
  for (const row& r : rows) {
    if (r.orc.empty() || r.orc.size() != r.floor.size()) continue;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < r.orc.size(); ++i) ratios.push_back(r.orc[i].p50 / r.floor[i].p50);
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    const double p50 = middle(r.orc, &latency::p50);
    const double p99 = middle(r.orc, &latency::p99);
    const double floor_p50 = middle(r.floor, &latency::p50);
    const double floor_p99 = middle(r.floor, &latency::p99);
    lines.push_back({name_of(r.what), size_label(r.size), us(p50), us(p99), us(middle(r.orc, &latency::p999)),
                     us(middle(r.orc, &latency::max)), us(floor_p50), us(floor_p99), fixed(p50 / floor_p50),
                     fixed(*low) + ".." + fixed(*high), fixed(p99 / floor_p99)});
    objects.push_back({{"wait", name_of(r.what)},
                       {"size", r.size},
                       {"orc_p50_us", p50},
                       {"orc_p99_us", p99},
                       {"floor_p50_us", floor_p50},
                       {"floor_p99_us", floor_p99},
                       {"p50_ratios", ratios}});
  }
  std::fprintf(
      o.common.tables(),
      "\nOne-way latency (round trip / 2), microseconds: medians of the repetitions; the ratio of the p50, and\n"
      "the smallest and largest one of a repetition. \"in place\": the payload is not touched\n\n");
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  std::vector<row> rows;
  const auto compare = [&](const std::vector<std::size_t>& sizes, send_mode send, const char* how) {
    const std::vector<trial> kinds{{.wait = wait_mode::block, .send = send}, {.wait = wait_mode::spin, .send = send}};
    for (const std::size_t size : sizes) {
      if (interrupted()) return;
      std::fprintf(stderr, "%s%s\n", size_label(size).c_str(), how);
      const std::size_t first = rows.size();
      for (const trial& kind : kinds) rows.push_back({size, kind, {}, {}});
      for (const auto& each : in_fresh_process<measurement>([&] { return measure(o, size, kinds, files); })) {
        row& of = rows[first + each.kind];
        (each.orc ? of.orc : of.floor).push_back(each.what);
      }
    }
  };
  compare(o.sizes, send_mode::copy, "");
  compare(o.loan_sizes, send_mode::loan, " in place");
  report(o, rows);
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("ORC over shared memory against bare shared memory, interleaved", "shm_vs_floor");
  options o;
  std::vector<std::string> sizes{"10", "1k", "10k", "100k", "1M"};
  std::vector<std::string> loan_sizes{"10", "1M", "100M"};
  add_size(app, "--size", sizes, "Bytes per sample");
  add_size(app, "--loan-size", loan_sizes, "Bytes per sample that is made in place");
  app.add_option("--repetitions", o.repetitions, "Of each, alternating").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition").between(0.01, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.sizes = sizes_named(sizes);
    o.loan_sizes = sizes_named(loan_sizes);
    return run(o);
  });
}
