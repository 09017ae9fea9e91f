// Predictive waiting beside blocking and spinning: the age of a sample when recv() returns it, what the receiving
// thread costs, and how long send() takes the publisher, for streams with a period and for streams without one. Each
// end is a process on a core of its own; the three ways to wait take turns.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "base/threads/fine_timers.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "orc/participant.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

enum class stream : std::uint8_t { steady, jitter, changing, bursts, stopping };
constexpr std::array stream_names = {"steady", "jitter", "changing", "bursts", "stopping"};
enum class way : std::uint8_t { block, predictive, spin };
constexpr std::array way_names = {"block", "predictive", "spin"};

struct options {
  std::vector<orc::transport> transports;
  std::vector<stream> streams;
  std::size_t size = 100;
  double rate = 1000;
  double budget = 0.1;
  int rounds = 5;
  double seconds = 3;
  common_options common;
};

// What the publisher is to send. seconds 0: it ends.
struct order {
  orc::transport transport{};
  stream kind{};
  unsigned number = 0;
  std::size_t size = 0;
  std::int64_t period_ns = 0;
  double seconds = 0;
  char broker[200] = {};
};

[[nodiscard]] std::string topic_of(const order& o) { return "predictive/" + std::to_string(o.number); }

[[nodiscard]] participant_options over(const order& o, const char* name) {
  auto made = participant_at(o.broker, name);
  made.transports = {o.transport};
  return made;
}

// When samples of a stream are sent: the time to the next one, sample by sample.
class schedule {
 public:
  schedule(stream kind, std::int64_t period) : kind_(kind), period_(period) {}
  [[nodiscard]] std::int64_t next() {
    const std::uint64_t n = count_++;
    const auto second = static_cast<std::uint64_t>(1'000'000'000 / period_);
    const auto tenth = static_cast<std::int64_t>(second / 10);
    switch (kind_) {
      case stream::steady: return period_;
      case stream::jitter: {  // of up to 100 us around the clock's tick
        const std::int64_t now = std::uniform_int_distribution<std::int64_t>(-100'000, 100'000)(random_);
        return period_ + now - std::exchange(jitter_, now);
      }
      case stream::changing: return n / (second / 2 + 1) % 2 == 0 ? period_ : period_ * 3 / 2;
      case stream::bursts: return n % 5 == 4 ? 5 * period_ : 0;
      case stream::stopping: return n % (second / 10 + 1) == 0 ? tenth * period_ : period_;
    }
    return period_;
  }

 private:
  const stream kind_;
  const std::int64_t period_;
  std::uint64_t count_ = 0;
  std::int64_t jitter_ = 0;
  std::mt19937_64 random_{1};
};

// Returns the times that send() took.
std::vector<std::int64_t> publish(const order& o) {
  participant publisher(over(o, "predictive (publisher)"));
  const std::string topic = topic_of(o);
  std::vector<std::int64_t> took;
  if (!publisher.register_topic(topic, {.expected_size = o.size})) return took;
  auto out = publisher.publisher(topic);
  const std::vector<std::byte> payload(o.size, std::byte{0x5a});
  schedule times(o.kind, o.period_ns);
  std::int64_t at = now_ns();
  const std::int64_t end = at + static_cast<std::int64_t>(o.seconds * 1e9);
  while (at < end && !interrupted()) {
    at += times.next();
    sleep_until_ns(at);
    const std::int64_t before = now_ns();
    if (!out.send(payload.data(), payload.size())) break;
    took.push_back(now_ns() - before);
  }
  return took;
}

void serve(channel& line, int cpu) {
  pin_this_thread(cpu);
  detail::fine_timers();
  while (const auto o = line.get<order>()) line.put(publish(*o));
}

struct trial {
  summary age;
  summary send;
  double core = 0;  // share that the receiving thread used
  prediction_info prediction;
};

std::optional<trial> receive(channel& line, order o, way how, const options& all) {
  participant subscriber(over(o, "predictive"));
  request_options wish;
  if (how == way::predictive) wish.wait = wait::predictive;
  if (how == way::spin) wish.spin = std::chrono::microseconds(1'000'000);
  wish.cpu_budget = all.budget;
  if (!subscriber.request_topic(topic_of(o), wish).result()) return std::nullopt;
  auto in = subscriber.subscriber(topic_of(o));
  if (!line.put(o)) return std::nullopt;
  if (!in.wait_connected(5000)) return std::nullopt;
  std::vector<std::int64_t> ages;
  trial t;
  // What it learns first is not measured.
  const std::int64_t begin = now_ns() + static_cast<std::int64_t>(o.seconds * 0.1e9);
  const std::int64_t end = begin + static_cast<std::int64_t>(o.seconds * 0.8e9);
  std::int64_t cpu = 0;
  std::int64_t from = 0;
  while (now_ns() < end) {
    const message m = in.recv(200);
    if (!m) continue;
    const std::int64_t age = m.age_ns();
    if (from == 0 && now_ns() >= begin) {
      from = now_ns();
      cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    } else if (from != 0) {
      ages.push_back(age);
    }
  }
  t.core = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu) / static_cast<double>(now_ns() - from);
  t.prediction = in.link().prediction;
  auto took = line.get_list<std::int64_t>(10'000);
  if (!took || ages.empty()) return std::nullopt;
  t.age = summarize(ages);
  t.send = summarize(*took);
  return t;
}

struct row {
  orc::transport transport{};
  stream kind{};
  std::array<std::vector<trial>, way_names.size()> trials;
};

template <class Figure>
double middle(const std::vector<trial>& of, Figure figure) {
  std::vector<double> values;
  for (const trial& each : of) values.push_back(figure(each));
  return median(values);
}

void print_rows(std::FILE* to, const std::vector<row>& rows) {
  table lines{{"transport", "stream", "wait", "age p50", "p99", "p99.9", "max", "core %", "send p50", "hits %"}};
  for (const row& r : rows) {
    for (std::size_t w = 0; w < way_names.size(); ++w) {
      const auto& of = r.trials[w];
      if (of.empty()) continue;
      const auto hits = middle(of, [](const trial& t) {
        const auto& p = t.prediction;
        const auto all = static_cast<double>(p.hits + p.early + p.misses);
        return all == 0 ? 0 : 100 * static_cast<double>(p.hits) / all;
      });
      lines.push_back({std::string(to_string(r.transport)), stream_names[static_cast<std::size_t>(r.kind)],
                       way_names[w], us(middle(of, [](const trial& t) { return t.age.p50; })),
                       us(middle(of, [](const trial& t) { return t.age.p99; })),
                       us(middle(of, [](const trial& t) { return t.age.p999; })),
                       us(middle(of, [](const trial& t) { return t.age.max; })),
                       fixed(100 * middle(of, [](const trial& t) { return t.core; }), 1),
                       us(middle(of, [](const trial& t) { return t.send.p50; })), fixed(hits, 0)});
    }
  }
  std::fprintf(to, "\nMicroseconds; medians of the rounds\n\n");
  print(to, lines);
}

std::string rows_to_json(const std::vector<row>& rows) {
  std::vector<json_value> objects;
  for (const row& r : rows) {
    for (std::size_t w = 0; w < way_names.size(); ++w) {
      for (const trial& t : r.trials[w]) {
        objects.push_back({{"transport", to_string(r.transport)},
                           {"stream", stream_names[static_cast<std::size_t>(r.kind)]},
                           {"wait", way_names[w]},
                           {"age_p50_us", t.age.p50},
                           {"age_p99_us", t.age.p99},
                           {"age_p999_us", t.age.p999},
                           {"age_max_us", t.age.max},
                           {"core", t.core},
                           {"send_p50_us", t.send.p50},
                           {"send_p99_us", t.send.p99},
                           {"period_ns", t.prediction.period_ns},
                           {"hits", t.prediction.hits},
                           {"early", t.prediction.early},
                           {"misses", t.prediction.misses}});
      }
    }
  }
  return to_json(objects);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  auto [here, there] = channel::make();
  // Before this process has threads.
  detail::child_process other = detail::child_process::run([&, &here = here, &there = there] {
    here.close();
    serve(there, o.common.cpus.second);
    return 0;
  });
  there.close();
  const auto broker = start_broker(files.ipc("broker"));
  pin_this_thread(o.common.cpus.first);
  std::vector<row> rows;
  unsigned number = 0;
  for (const auto transport : o.transports) {
    for (const stream kind : o.streams) {
      row r{transport, kind, {}};
      std::fprintf(stderr, "%s %s\n", std::string(to_string(transport)).c_str(),
                   stream_names[static_cast<std::size_t>(kind)]);
      for (int round = 0; round < o.rounds && !interrupted(); ++round) {
        for (std::size_t step = 0; step < way_names.size(); ++step) {
          const std::size_t w = (step + static_cast<std::size_t>(round)) % way_names.size();
          order what{transport, kind, ++number, o.size, static_cast<std::int64_t>(1e9 / o.rate), o.seconds, {}};
          std::snprintf(what.broker, sizeof what.broker, "%s", broker->endpoints().front().c_str());
          const auto t = receive(here, what, static_cast<way>(w), o);
          if (interrupted()) break;
          if (!t) throw std::runtime_error("the stream did not arrive");
          r.trials[w].push_back(*t);
        }
      }
      rows.push_back(std::move(r));
    }
  }
  here.close();
  print_rows(o.common.tables(), rows);
  if (!o.common.json.empty() && !write_text(o.common.json, rows_to_json(rows))) return 1;
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("Predictive waiting beside blocking and spinning, interleaved", "predictive");
  options o;
  std::vector<std::string> transports{"shm", "ipc", "tcp"};
  std::vector<std::string> streams(stream_names.begin(), stream_names.end());
  std::string size = "100";
  add_transports(app, transports, "shm, ipc, tcp");
  app.add_option("--stream", streams, "steady, jitter (100 us), changing, bursts, stopping", "NAME");
  add_size(app, "--size", size, "Bytes of a sample");
  app.add_option("--rate", o.rate, "Samples per second").between(1.0, 100000.0);
  app.add_option("--budget", o.budget, "request_options::cpu_budget");
  app.add_option("--rounds", o.rounds, "Of each, in turn").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per round and way to wait").between(0.1, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    o.size = sizes_named({size}).front();
    for (const std::string& name : streams) {
      const auto at = std::find(stream_names.begin(), stream_names.end(), name);
      if (at == stream_names.end()) throw usage_error("--stream", "'" + name + "' is none of them");
      o.streams.push_back(static_cast<stream>(at - stream_names.begin()));
    }
    return run(o);
  });
}
