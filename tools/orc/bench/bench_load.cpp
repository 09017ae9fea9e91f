// `orc bench load`: what ORC does while the machine is busy (ORC paper, V). Its parts: this file the command line
// and the order of measurements, load_stream the stream at 1 kHz, load_noise what keeps the machine busy, cyclictest
// the reference of the kernel alone.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "orc/realtime.h"
#include "tools/command_line/help.h"
#include "tools/orc/bench/bench.h"
#include "tools/orc/bench/bench_rtt.h"
#include "tools/orc/bench/cyclictest.h"
#include "tools/orc/bench/load_noise.h"
#include "tools/orc/bench/load_stream.h"
#include "tools/orc/exit_code.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/machine.h"
#include "tools/support/text.h"

namespace orc::cli {

namespace {

constexpr std::array<std::size_t, 2> round_trip_sizes{10, 10'000};
constexpr double settle_seconds = 0.3;  // until the loads are busy

struct load_options {
  std::vector<load> loads;
  std::vector<orc::transport> transports;
  std::vector<int> priorities;  // 0: without SCHED_FIFO
  double seconds = 2;
  bench::cpu_pair cpus = bench::default_cpus();
  bool predictive = false;
  bool cyclictest = false;
  bool round_trips = true;
  bool stream = true;
  std::string json;
};

struct load_row {
  load what{};
  int priority = 0;
  std::string measure;  // "10 B", "10 kB", "stream", "stream due", "cyclictest"
  std::string transport;
  bench::summary us;
  std::optional<double> missed;  // deadlines, of a million
};

double per_million(std::uint64_t missed, std::uint64_t all) {
  return all == 0 ? 0 : 1e6 * static_cast<double>(missed) / static_cast<double>(all);
}

bool may_be_realtime(int priority) {
  result may;
  std::thread([&] { may = set_realtime(priority); }).join();
  if (!may) std::fprintf(stderr, "orc: without SCHED_FIFO only: %s\n", may.error().message().c_str());
  return static_cast<bool>(may);
}

class measurement {
 public:
  measurement(const load_options& options, std::string broker) : options_(options), broker_(std::move(broker)) {
    ::sched_getaffinity(0, sizeof everywhere_, &everywhere_);
  }

  // Throws std::runtime_error with what went wrong.
  void run() {
    for (const load what : options_.loads) {
      for (const int priority : options_.priorities) {
        if (bench::interrupted()) return;
        std::fprintf(stderr, "%s%s\n", std::string(name_of(what)).c_str(), priority != 0 ? ", SCHED_FIFO" : "");
        (void)::sched_setaffinity(0, sizeof everywhere_, &everywhere_);  // the loads inherit it
        noise busy(what);
        if (!bench::pin_this_thread(options_.cpus.first))
          throw std::runtime_error("cannot pin to core " + std::to_string(options_.cpus.first));
        bench::sleep_until_ns(bench::now_ns() + static_cast<std::int64_t>(settle_seconds * 1e9));
        for (const orc::transport transport : options_.transports) measure(what, priority, transport);
        if (options_.cyclictest && !bench::interrupted()) reference(what, priority);
        if (const auto ended = busy.ended(); ended && !bench::interrupted())
          throw std::runtime_error("the load '" + std::string(name_of(*ended)) +
                                   "' ended by itself: is there room for 128 MB in the temporary directory?");
      }
    }
  }
  [[nodiscard]] const std::vector<load_row>& rows() const noexcept { return rows_; }

 private:
  template <class Result>
  static Result value_of(detail::expected<Result>&& measured) {
    if (!measured) throw std::runtime_error(measured.error().message());
    return *std::move(measured);
  }

  void measure(load what, int priority, orc::transport transport) {
    const std::string over(to_string(transport));
    rtt_options round_trips;
    round_trips.seconds = options_.seconds;
    round_trips.cpus = options_.cpus;
    round_trips.priority = priority;
    for (const std::size_t size : round_trip_sizes) {
      if (bench::interrupted() || !options_.round_trips) break;
      auto row = measure_round_trips(round_trips, broker_, transport, size);
      if (!row && bench::interrupted()) return;
      rows_.push_back({what, priority, bench::size_label(size), over, value_of(std::move(row)).one_way, {}});
    }
    if (bench::interrupted() || !options_.stream) return;
    auto stream = measure_stream({broker_, transport, options_.seconds, options_.cpus, priority, options_.predictive});
    if (!stream && bench::interrupted()) return;
    auto arrived = value_of(std::move(stream));
    if (arrived.ages_ns.empty()) return;
    rows_.push_back({what, priority, "stream", over, bench::summarize(arrived.ages_ns), {}});
    rows_.push_back({what, priority, "stream due", over, bench::summarize(arrived.lateness_ns),
                     per_million(arrived.missed, arrived.sent)});
  }

  void reference(load what, int priority) {
    auto late = run_cyclictest(options_.seconds, priority, options_.cpus.first);
    if (!late && bench::interrupted()) return;
    const wake_ups found = value_of(std::move(late));
    rows_.push_back({what, priority, "cyclictest", "", found.late_us, per_million(found.missed, found.late_us.count)});
  }

  const load_options& options_;
  const std::string broker_;
  cpu_set_t everywhere_{};  // where this process may run
  std::vector<load_row> rows_;
};

void print_rows(std::FILE* to, const std::vector<load_row>& rows, const load_options& options) {
  if (rows.empty()) return;
  bench::table table{{"load", "policy", "transport", "measure", "p50", "p99", "p99.9", "max", "missed/M"}};
  for (const load_row& row : rows)
    table.push_back({std::string(name_of(row.what)), row.priority != 0 ? "FIFO" : "-",
                     row.transport.empty() ? "-" : row.transport, row.measure, bench::us(row.us.p50),
                     bench::us(row.us.p99), bench::us(row.us.p999), bench::us(row.us.max),
                     row.missed ? bench::fixed(*row.missed, 0) : "-"});
  std::fprintf(to, "# %s\n", bench::machine_facts(options.cpus).c_str());
  std::fprintf(to,
               "# 10 B, 10 kB: round trip / 2. stream: age of a sample when the receive returns, 1 kHz, %s;\n"
               "# due: since the time at which it had to be sent. cyclictest: how late a timer wakes a thread\n"
               "# missed/M: of a million, those not there 1 ms after they were due. Microseconds\n\n",
               options.predictive ? "predictive" : "block");
  bench::print(to, table);
}

std::string to_document(const std::vector<load_row>& rows) {
  std::vector<json_value> objects;
  for (const load_row& row : rows) {
    json_value object{
        {"load", name_of(row.what)},  {"priority", row.priority},
        {"transport", row.transport}, {"measure", row.measure},
        {"count", row.us.count},      {"p50_us", row.us.p50},
        {"p99_us", row.us.p99},       {"p999_us", row.us.p999},
        {"max_us", row.us.max},       {"missed_per_million", row.missed ? json_value(*row.missed) : json_value()}};
    objects.push_back(std::move(object));
  }
  return to_json(objects);
}

int run(const load_options& options) {
  const bench::interruptible in_order;
  if (!can_be_written(options.json)) return exit_code::failed;
  const bench::scratch_dir files;
  auto broker = start_broker(files);
  if (!broker) return bench_failed(broker.error().message());
  measurement all(options, (*broker)->endpoints().front());
  std::string failure;
  try {
    all.run();
  } catch (const std::exception& failed) {
    failure = failed.what();
  }
  print_rows(options.json == "-" ? stderr : stdout, all.rows(), options);
  if (bench::interrupted()) return bench::interrupted_exit_code();
  if (!failure.empty()) return bench_failed(failure);
  if (options.json.empty() || write_text(options.json, to_document(all.rows()))) return exit_code::ok;
  return bench_failed("cannot write " + options.json);
}

constexpr const char* load_footer =
    "Keeps the machine busy and measures meanwhile: round trips of 10 B and 10 kB, and a stream of 1 kHz. Loads: cpu\n"
    "(a process that computes on each core), memory (one that misses the caches), disk (one that writes 128 MB over\n"
    "and over), network (one that floods the loopback), all of them, and none. Each without and with SCHED_FIFO for\n"
    "the two measured ends, where that is allowed ('orc doctor --realtime'). The loads end with the command. The\n"
    "stream has a timetable: a sample misses its deadline when it is not received 1 ms after it is due, whoever was\n"
    "late. 'stream' is its age since it was sent, 'stream due' the time since it was due.\n"
    "JSON: a list of objects with load, priority, transport, measure, count, p50_us, p99_us, p999_us, max_us,\n"
    "missed_per_million.\n\n"
    "Exit codes: 0 done, 1 no link or no echo, 2 usage, 130 Ctrl-C.";

struct load_arguments {
  load_options options;
  std::vector<std::string> loads{load_names.begin(), load_names.end()};
  std::vector<std::string> transports{"shm"};
  std::vector<std::string> measures{"round-trip", "stream"};
  std::vector<std::string> policies{"other", "fifo"};
  std::string wait = "block";
  std::string cpu;
  int priority = 80;
};

void take(load_arguments& args) {
  load_options& options = args.options;
  for (const std::string& name : args.loads) {
    const auto at = std::find(load_names.begin(), load_names.end(), name);
    if (at == load_names.end()) throw CLI::ValidationError("--load", "no load is called '" + name + "'");
    options.loads.push_back(static_cast<load>(at - load_names.begin()));
  }
  for (const std::string& name : args.transports) {
    options.transports.push_back(transport_named(name));
    if (options.transports.back() == orc::transport::inproc)
      throw CLI::ValidationError("--transport", "the two ends are processes: not inproc");
  }
  const auto has = [](const std::vector<std::string>& words, const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  options.round_trips = has(args.measures, "round-trip");
  options.stream = has(args.measures, "stream");
  if (!args.cpu.empty()) options.cpus = cpus_named(args.cpu);
  options.predictive = args.wait == "predictive";
  if (options.cyclictest && !has_cyclictest()) {
    std::fprintf(stderr, "orc: without cyclictest, which is not installed (apt install rt-tests)\n");
    options.cyclictest = false;
  }
  const bool fifo = has(args.policies, "fifo") && may_be_realtime(args.priority);
  if (has(args.policies, "other") || !fifo) options.priorities.push_back(0);
  if (fifo) options.priorities.push_back(args.priority);
}

}  // namespace

void add_load(CLI::App& bench_command, int& exit_code) {
  CLI::App* const command = bench_command.add_subcommand("load", "Round trips and a stream while the machine is busy");
  command->footer(load_footer);
  const auto args = std::make_shared<load_arguments>();
  command->add_option("--load", args->loads, "none, cpu, memory, disk, network, all")
      ->type_name("NAME")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--transport", args->transports, "shm, ipc, tcp, multicast")
      ->type_name("NAME")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--measure", args->measures, "round-trip, stream")
      ->type_name("NAME")
      ->delimiter(',')
      ->check(CLI::IsMember({"round-trip", "stream"}))
      ->capture_default_str();
  command->add_option("--seconds", args->options.seconds, "Time per measurement")
      ->check(between(0.1, 3600.0))
      ->capture_default_str();
  command->add_option("--policy", args->policies, "Scheduling of the two ends: other (the usual one), fifo")
      ->type_name("NAME")
      ->delimiter(',')
      ->check(CLI::IsMember({"other", "fifo"}))
      ->capture_default_str();
  command->add_option("--priority", args->priority, "Of SCHED_FIFO")->check(between(1, 99))->capture_default_str();
  static const std::vector<std::string> waits{"block", "predictive"};
  one_of(command->add_option("--wait", args->wait, "How the stream is received: block or predictive"), waits)
      ->capture_default_str();
  command->add_flag("--cyclictest", args->options.cyclictest,
                    "Also run cyclictest (Debian's rt-tests) under each load, as the reference");
  command->add_option("--cpu", args->cpu, "Cores of the two ends, or none; default: the first two allowed ones")
      ->type_name("A,B");
  command->add_option("--json", args->options.json, "Write JSON to FILE, - is stdout")->type_name("FILE|-");
  command->callback([args, &exit_code] {
    take(*args);
    exit_code = run(args->options);
  });
  add_load_noise(bench_command, exit_code);
  add_load_stream(bench_command, exit_code);
}

}  // namespace orc::cli
