// One publisher, 1, 2, 4 and 8 subscriber processes: how old a sample is when each has it, what the publisher pays per
// sample (CPU, and the time of the call: the MIRA paper's metric, V.B), and the memory that it takes (V.C).
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/floor_end.h"
#include "benchmarks/support/private_broker.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr const char* topic = "fanout";

struct options {
  std::vector<orc::transport> transports;
  std::vector<std::size_t> sizes;
  std::vector<int> subscribers;
  double seconds = 2.0;
  double hz = 1000;
  wait_mode wait = wait_mode::block;
  common_options common;
};

struct plan {
  orc::transport transport{};
  unsigned number = 0;
  wait_mode wait = wait_mode::block;
  char broker[200] = {};
};

std::string topic_of(const plan& p) { return topic + std::to_string(p.number); }

// ---- a subscriber's process ----

// Ages until a sample without bytes comes; the first 8 bytes are the time of the sending.
std::vector<std::int64_t> take_all(orc::subscriber in) {
  std::vector<std::int64_t> ages;
  ages.reserve(1'000'000);
  for (;;) {
    const message sample = in.recv(10'000);
    const std::int64_t now = now_ns();
    if (!sample || sample.size() < sizeof(std::int64_t)) return ages;
    std::int64_t sent = 0;
    std::memcpy(&sent, sample.data(), sizeof sent);
    ages.push_back(now - sent);
  }
}

void serve(channel& line) {
  while (const auto p = line.get<plan>()) {
    orc::participant participant(participant_at(p->broker, "fanout (subscriber)"));
    request_options wish;
    wish.transports = {p->transport};
    wish.connected_within = std::chrono::milliseconds(connect_within_ms);
    if (p->wait == wait_mode::spin && p->transport == orc::transport::shm)
      wish.spin = std::chrono::microseconds(1'000'000);
    const bool open = static_cast<bool>(participant.request_topic(topic_of(*p), wish).result());
    line.put(open);
    if (open) line.put(take_all(participant.subscriber(topic_of(*p))));
  }
}

struct subscriber_process {
  detail::child_process process;
  channel line;
};

// ---- the publisher ----

std::uint64_t resident_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kb = 0;
    if (word == "VmRSS:" && status >> kb) return kb;
  }
  return 0;
}

struct outcome {
  std::vector<std::int64_t> call_ns;
  std::vector<std::int64_t> age_ns;
  double cpu_us = 0;  // of the whole process, per sample
  std::uint64_t memory_kb = 0;
};

outcome measure(const options& o, const plan& p, std::size_t size, const std::vector<subscriber_process*>& others) {
  outcome out;
  ::malloc_trim(0);
  const std::uint64_t memory_before = resident_kb();
  orc::participant participant(participant_at(p.broker, "fanout"));
  topic_options offer;
  offer.transports = {p.transport};
  offer.expected_size = size;
  if (const auto done = participant.register_topic(topic_of(p), offer).result(); !done)
    throw std::runtime_error(done.error().message());
  for (auto* each : others) each->line.put(p);
  for (auto* each : others) {
    const auto open = each->line.get<bool>(2 * connect_within_ms);
    if (!open || !*open) throw std::runtime_error("a subscriber has no link");
  }
  auto publisher = participant.publisher(topic_of(p));
  const auto count = static_cast<std::uint64_t>(o.seconds * o.hz);
  const auto period = static_cast<std::int64_t>(1e9 / o.hz);
  out.call_ns.reserve(count);
  const std::int64_t cpu_before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  const std::int64_t start = now_ns() + period;
  for (std::uint64_t i = 0; i < count && !interrupted(); ++i) {
    sleep_until_ns(start + static_cast<std::int64_t>(i) * period);
    loan memory = publisher.loan(size);  // made in place where the transport can
    if (!memory) throw std::runtime_error("no memory for a sample");
    const std::int64_t before = now_ns();
    std::memcpy(memory.data(), &before, sizeof before);
    if (!publisher.send(std::move(memory))) throw std::runtime_error("a sample was not sent");
    out.call_ns.push_back(now_ns() - before);
  }
  out.cpu_us = static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_before) / 1000.0 /
               static_cast<double>(std::max<std::size_t>(1, out.call_ns.size()));
  const std::uint64_t memory_after = resident_kb();
  out.memory_kb = memory_after > memory_before ? memory_after - memory_before : 0;
  sleep_until_ns(now_ns() + 50'000'000);  // newest wins: the end must not overtake the last sample
  (void)publisher.send(nullptr, 0);
  for (auto* each : others) {
    const auto ages = each->line.get_list<std::int64_t>(15'000);
    if (!ages) throw std::runtime_error("a subscriber did not end");
    out.age_ns.insert(out.age_ns.end(), ages->begin(), ages->end());
  }
  return out;
}

struct row {
  plan what;
  std::size_t size = 0;
  int subscribers = 0;
  outcome result;
};

// What waking one process that sleeps on the other core costs the one that wakes it, with nothing around it.
double bare_wake_us(const options& o) {
  floor_memory memory(64);
  detail::child_process sleeper = detail::child_process::run([&] {
    pin_this_thread(o.common.cpus.second);
    floor_end end(memory, 1);
    while (end.receive(wait_mode::block).size() != 0) {
    }
    return 0;
  });
  floor_end end(memory, 0);
  const std::byte byte{0};
  const auto period = static_cast<std::int64_t>(1e9 / o.hz);
  const std::int64_t start = now_ns() + period;
  std::vector<double> us;
  for (int i = 0; i < 500; ++i) {
    sleep_until_ns(start + i * period);
    const std::int64_t before = now_ns();
    end.send(&byte, sizeof byte);
    us.push_back(static_cast<double>(now_ns() - before) / 1000.0);
  }
  end.send(&byte, 0);
  (void)sleeper.wait(std::chrono::seconds(1));
  return median(us);
}

void report(const options& o, std::vector<row>& rows, double idle_us, double wake_us) {
  table lines{{"transport", "size", "subscribers", "age p50", "p99", "p99.9", "max", "call p50", "p99", "CPU/sample",
               "memory"}};
  std::vector<json_value> objects;
  for (row& r : rows) {
    const summary age = summarize(r.result.age_ns);
    const summary call = summarize(r.result.call_ns);
    lines.push_back({std::string(to_string(r.what.transport)), size_label(r.size), std::to_string(r.subscribers),
                     us(age.p50), us(age.p99), us(age.p999), us(age.max), us(call.p50), us(call.p99),
                     us(r.result.cpu_us), size_label(r.result.memory_kb * 1000)});
    objects.push_back({{"transport", to_string(r.what.transport)},
                       {"size", r.size},
                       {"subscribers", r.subscribers},
                       {"age_p50_us", age.p50},
                       {"age_p99_us", age.p99},
                       {"age_max_us", age.max},
                       {"call_p50_us", call.p50},
                       {"call_p99_us", call.p99},
                       {"cpu_us", r.result.cpu_us},
                       {"memory_kb", r.result.memory_kb}});
  }
  std::fprintf(
      o.common.tables(),
      "\n%g samples a second, made in place, payload untouched; subscribers %s. Microseconds: age of a sample "
      "when\na subscriber has it, duration of the send call (a bare FUTEX_WAKE of one process that sleeps on the "
      "other core:\n%s), CPU time of the publisher's process per sample (an empty loop of that rate: %s); memory "
      "that the topic\nadded to the publisher\n\n",
      o.hz, o.wait == wait_mode::spin ? "look without pause" : "sleep", us(wake_us).c_str(), us(idle_us).c_str());
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
}

double idle_cpu_us(const options& o) {
  const auto period = static_cast<std::int64_t>(1e9 / o.hz);
  const std::int64_t start = now_ns();
  const std::int64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
  constexpr int turns = 500;
  for (int i = 0; i < turns; ++i) sleep_until_ns(start + i * period);
  return static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / 1000.0 / turns;
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  const int most = *std::max_element(o.subscribers.begin(), o.subscribers.end());
  // Before this process has threads.
  std::vector<subscriber_process> others;
  for (int i = 0; i < most; ++i) {
    auto [here, there] = channel::make();
    auto process = detail::child_process::run([&, &mine = there, &theirs = here] {
      theirs.close();
      for (auto& each : others) each.line.close();
      pin_this_thread(o.common.cpus.second);
      serve(mine);
      return 0;
    });
    there.close();
    others.push_back({std::move(process), std::move(here)});
  }
  pin_this_thread(o.common.cpus.first);
  const double wake_us = bare_wake_us(o);
  const double idle_us = idle_cpu_us(o);
  const auto broker = start_broker(files.ipc("broker"));
  std::vector<row> rows;
  unsigned number = 0;
  for (const auto transport : o.transports) {
    for (const std::size_t size : o.sizes) {
      for (const int count : o.subscribers) {
        if (interrupted()) break;
        plan p{transport, ++number, o.wait, {}};
        std::snprintf(p.broker, sizeof p.broker, "%s", broker->endpoints().front().c_str());
        std::vector<subscriber_process*> some;
        for (int i = 0; i < count; ++i) some.push_back(&others[static_cast<std::size_t>(i)]);
        std::fprintf(stderr, "%s, %s, %d\n", std::string(to_string(transport)).c_str(), size_label(size).c_str(),
                     count);
        rows.push_back({p, size, count, measure(o, p, size, some)});
      }
    }
  }
  report(o, rows, idle_us, wake_us);
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("One publisher and 1 to 8 subscriber processes: ages, CPU, duration of the call, memory", "fanout");
  options o;
  std::vector<std::string> transports{"shm", "ipc"};
  std::vector<std::string> sizes{"1k", "1M"};
  o.subscribers = {1, 2, 4, 8};
  bool spin = false;
  add_transports(app, transports, "shm, ipc, tcp");
  add_size(app, "--size", sizes, "Bytes per sample");
  app.add_option("--subscribers", o.subscribers, "How many processes").between(1, 64);
  app.add_option("--hz", o.hz, "Samples a second").between(1.0, 100'000.0);
  app.add_flag("--spin", spin, "Subscribers over shm look without pause instead of sleeping");
  app.add_option("--seconds", o.seconds, "Per line of the table").between(0.1, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    if (std::find(o.transports.begin(), o.transports.end(), orc::transport::inproc) != o.transports.end())
      throw usage_error("--transport", "the subscribers are processes: inproc does not reach them");
    o.sizes = sizes_named(sizes);
    if (spin) o.wait = wait_mode::spin;
    return run(o);
  });
}
