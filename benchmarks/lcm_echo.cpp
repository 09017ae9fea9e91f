// The echo test of the LCM paper (section 4, Figures 6 and 7), ORC and liblcm interleaved in one run: 800-byte messages
// at rising rates to 1, 2 and 4 clients that send them back; what comes back, what is lost, and how long it takes. Then
// one message at a time, beside bare UDP multicast. On a machine that is not idle: `chrt -f 50 lcm_echo`, or the
// scheduler's slices of 4 ms decide.

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/threads/fine_timers.h"
#include "benchmarks/lcm_echo.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr implementation rivals[] = {implementation::orc, implementation::lcm};

struct row {
  int clients = 0;
  std::size_t rate = 0;
  std::map<implementation, std::vector<echoed>> of;
};

using floor_row = std::map<implementation, std::vector<summary>>;

void serve(const echo_options& o, channel& line) {
  pin_this_thread(o.common.cpus.second);
  while (const auto next = line.get<order>()) {
    bool done = false;
    try {
      done = next->ping_pong ? serve_ping_pong_trial(o, *next, line) : serve_echo_trial(o, *next, line);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "client: %s\n", error.what());
    }
    line.put(done ? state::done : state::failed);
  }
}

// Before this process has threads.
std::vector<client> start_clients(const echo_options& o) {
  std::vector<client> all;
  for (int i = 0; i < *std::max_element(o.clients.begin(), o.clients.end()); ++i) {
    auto ends = channel::make();
    auto process = detail::child_process::run([&] {
      for (client& other : all) other.line.close();
      ends.first.close();
      serve(o, ends.second);
      return 0;
    });
    all.push_back({std::move(ends.first), std::move(process)});
  }
  return all;
}

std::vector<row> measure_rates(const echo_options& o, std::vector<client>& clients) {
  std::vector<row> rows;
  for (const int count : o.clients) {
    for (const std::size_t rate : o.rates) {
      std::fprintf(stderr, "%d client%s, %zu messages/s\n", count, count == 1 ? "" : "s", rate);
      row r{count, rate, {}};
      std::vector<client*> some;
      for (int i = 0; i < count; ++i) some.push_back(&clients[static_cast<std::size_t>(i)]);
      for (int i = 0; i < 2 * o.repetitions && !interrupted(); ++i) {
        const implementation which = rivals[(i + i / 2) % 2];  // who begins takes turns
        r.of[which].push_back(echo_trial(o, which, some, static_cast<double>(rate)));
      }
      if (interrupted()) return rows;
      rows.push_back(std::move(r));
    }
  }
  return rows;
}

floor_row measure_floor(const echo_options& o, client& with) {
  constexpr implementation all[] = {implementation::orc, implementation::udp, implementation::lcm};
  floor_row r;
  for (int i = 0; i < o.repetitions; ++i) {
    std::fprintf(stderr, "one at a time, repetition %d\n", i + 1);
    for (int k = 0; k < 3 && !interrupted(); ++k) {
      const implementation which = all[(i + k) % 3];
      r[which].push_back(ping_pong_trial(o, which, with));
    }
  }
  return r;
}

template <class Trial, class Get>
double middle(const std::vector<Trial>& of, Get get) {
  std::vector<double> values;
  for (const Trial& each : of) values.push_back(get(each));
  return median(values);
}

// "1.2 %", "0", and "0.004 %" for what is almost nothing.
std::string percent(double share) {
  if (share <= 0) return "0";
  return fixed(100 * share, share < 0.001 ? 3 : 1) + " %";
}

void report_rates(const echo_options& o, const std::vector<row>& rows, std::vector<json_value>& objects) {
  table lines{{"clients", "offered/s", "", "sent/s", "echoes MB/s", "lost", "mean", "p50", "p99", "p99.9", "max",
               "mean ratio"}};
  for (const row& r : rows) {
    std::map<implementation, double> mean;
    for (const implementation which : {implementation::lcm, implementation::orc}) {
      const auto& trials = r.of.at(which);
      const auto of = [&](auto get) { return middle(trials, get); };
      const auto time = [&](double summary::*m) { return of([&](const echoed& e) { return e.round_trip.*m; }); };
      mean[which] = time(&summary::mean);
      const double sent = of([](const echoed& e) { return e.sent_hz; });
      const double echoes = of([](const echoed& e) { return e.echoes_mb_s; });
      const double loss = of([](const echoed& e) { return e.loss; });
      const bool ratio = which == implementation::orc && mean[implementation::lcm] > 0;
      lines.push_back({std::to_string(r.clients), std::to_string(r.rate), name_of(which), fixed(sent, 0),
                       fixed(echoes, 1), percent(loss), us(mean[which]), us(time(&summary::p50)),
                       us(time(&summary::p99)), us(time(&summary::p999)), us(time(&summary::max)),
                       ratio ? fixed(mean[which] / mean[implementation::lcm]) : ""});
      objects.push_back({{"test", "echo"},
                         {"implementation", name_of(which)},
                         {"clients", r.clients},
                         {"size", o.size},
                         {"offered_hz", r.rate},
                         {"sent_hz", sent},
                         {"echoes_mb_s", echoes},
                         {"loss", loss},
                         {"mean_us", mean[which]},
                         {"p50_us", time(&summary::p50)},
                         {"p99_us", time(&summary::p99)},
                         {"p999_us", time(&summary::p999)},
                         {"max_us", time(&summary::max)}});
    }
  }
  std::fprintf(o.common.tables(),
               "\nEcho test, %zu-byte messages: round trips in microseconds, of the echoes that came back; medians of "
               "the\nrepetitions; the ratio of the mean round trips (ORC / liblcm)\n\n",
               o.size);
  print(o.common.tables(), lines);
}

void report_floor(const echo_options& o, const floor_row& r, std::vector<json_value>& objects) {
  table lines{{"", "p50", "p99", "p99.9", "max", "p50 ratio", "spread"}};
  const auto& bare = r.at(implementation::udp);
  for (const auto& [which, trials] : r) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(trials.size(), bare.size()); ++i)
      ratios.push_back(trials[i].p50 / bare[i].p50);
    const auto time = [&, &of = trials](double summary::*m) {
      return middle(of, [&](const summary& s) { return s.*m; });
    };
    const auto floor_p50 = middle(bare, [](const summary& s) { return s.p50; });
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    lines.push_back({name_of(which), us(time(&summary::p50)), us(time(&summary::p99)), us(time(&summary::p999)),
                     us(time(&summary::max)), fixed(time(&summary::p50) / floor_p50),
                     fixed(*low) + ".." + fixed(*high)});
    objects.push_back({{"test", "ping-pong"},
                       {"implementation", name_of(which)},
                       {"size", o.size},
                       {"p50_us", time(&summary::p50)},
                       {"p99_us", time(&summary::p99)},
                       {"p50_ratios", ratios}});
  }
  std::fprintf(o.common.tables(),
               "\nOne message at a time: round trips in microseconds, and the p50 over that of bare "
               "UDP multicast\n\n");
  print(o.common.tables(), lines);
}

int run(echo_options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  ::setenv("ORC_MULTICAST", o.url(implementation::orc).c_str(), 1);
  detail::fine_timers();  // the rate must not depend on how lazily the kernel wakes a sleeper
  o.common.print_machine();
  auto clients = start_clients(o);
  pin_this_thread(o.common.cpus.first);
  std::vector<json_value> objects;
  const auto floor = measure_floor(o, clients.front());
  const auto rows = interrupted() ? std::vector<row>{} : measure_rates(o, clients);
  for (client& each : clients) each.line.close();
  report_rates(o, rows, objects);
  if (floor.size() == 3) report_floor(o, floor, objects);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("The LCM paper's echo test, ORC and liblcm interleaved; and both beside bare UDP multicast",
                   "lcm_echo");
  echo_options o;
  std::vector<std::string> rates{"1k", "2k", "5k", "10k", "20k", "40k", "80k"};
  std::string size = "800";
  add_size(app, "--rate", rates, "Messages per second");
  app.add_option("--clients", o.clients, "Processes that echo").between(1, 16);
  add_size(app, "--size", size, "Bytes per message, at least 16");
  app.add_option("--repetitions", o.repetitions, "Of each, alternating").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition").between(0.01, 600.0);
  app.add_option("--port", o.port, "UDP ports, this one and the three above it").between(1024, 65000);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.rates = sizes_named(rates);
    o.size = sizes_named({size}).front();
    return run(o);
  });
}
