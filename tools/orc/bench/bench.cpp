#include "tools/orc/bench/bench.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/command_line/help.h"
#include "tools/orc/bench/bench_rtt.h"
#include "tools/orc/commands.h"
#include "tools/orc/exit_code.h"
#include "tools/support/text.h"

namespace orc::cli {
namespace {

constexpr std::array offered{orc::transport::inproc, orc::transport::shm, orc::transport::ipc, orc::transport::tcp,
                             orc::transport::multicast};

}  // namespace

int bench_failed(const std::string& why) {
  std::fprintf(stderr, "orc: %s\n", why.c_str());
  return exit_code::failed;
}

orc::transport transport_named(const std::string& name) {
  for (const orc::transport t : offered) {
    if (to_string(t) == name) return t;
  }
  throw CLI::ValidationError("--transport",
                             "no transport is called '" + name + "'; there are inproc, shm, ipc, tcp and multicast");
}

bench::cpu_pair cpus_named(const std::string& text) {
  const auto pair = bench::parse_cpus(text);
  if (!pair) throw CLI::ValidationError("--cpu", "'" + text + "' is not two cores, such as 0,1, or none");
  for (const int cpu : {pair->first, pair->second}) {
    if (!bench::can_pin_to(cpu))
      throw CLI::ValidationError("--cpu", "core " + std::to_string(cpu) + " is not among those this process may use");
  }
  return *pair;
}

namespace {

std::size_t sample_size(const std::string& text) {
  if (const auto size = bench::parse_size(text)) return *size;
  throw CLI::ValidationError("--size", "'" + text + "' is not a size: 1 to 1000M bytes, such as 10, 100k or 1M");
}

const std::vector<std::string> wait_modes{"block", "spin"};

bench::wait_mode wait_mode_named(const std::string& name) {
  return name == "spin" ? bench::wait_mode::spin : bench::wait_mode::block;
}

constexpr const char* footer =
    "Prints the mean one-way latency (round trip / 2) per transport and size in microseconds, as Table I of the ORC\n"
    "paper, and p50, p90, p99, p99.9 and max. With --json - or --csv - stdout is that alone; the tables go to stderr.\n"
    "JSON: a list of objects with transport, size, messages, mean_us, p50_us, p90_us, p99_us, p999_us, max_us, and\n"
    "min_us, p25_us, p75_us, whisker_low_us, whisker_high_us (99.3% of all lie between), outliers_us (at most 200) "
    "for\n"
    "benchmarks/plot.\n\n"
    "Exit codes: 0 done, 1 no echo within 5 s or no link, 2 usage, 130 Ctrl-C.";

// What the command line says, as text where a check needs more than its type.
struct rtt_arguments {
  rtt_options options;
  std::vector<std::string> transports{"inproc", "shm", "ipc", "tcp"};
  std::vector<std::string> sizes{"10", "100", "1k", "10k", "100k", "1M", "10M", "100M"};
  std::string wait = "block";
  std::string cpu;
  std::uint64_t messages = 0;
  std::uint64_t warm_up = 0;
  bool move = false;
  bool loan = false;
};

void add_rtt(CLI::App& bench_command, int& exit_code) {
  CLI::App* rtt = bench_command.add_subcommand(
      "rtt", "Round trips between two processes (threads for inproc), with a broker of its own");
  rtt->footer(footer);
  const auto args = std::make_shared<rtt_arguments>();
  rtt->add_option("--transport", args->transports, "inproc, shm, ipc, tcp, multicast")
      ->type_name("NAME")
      ->delimiter(',')
      ->capture_default_str();
  rtt->add_option("--size", args->sizes, "Bytes per sample; k and M are 1000 and 1000000")
      ->type_name("SIZE")
      ->delimiter(',')
      ->capture_default_str();
  CLI::Option* messages = rtt->add_option("--messages", args->messages,
                                          "Round trips per transport and size (the paper: 1000000); default: what "
                                          "fits into --seconds")
                              ->check(between(std::uint64_t{1}, std::uint64_t{100'000'000}));
  CLI::Option* warm_up = rtt->add_option("--warmup", args->warm_up,
                                         "Round trips before the measurement, not counted; default: up to 1000, 0.25 s")
                             ->check(between(std::uint64_t{0}, std::uint64_t{100'000'000}));
  rtt->add_option("--seconds", args->options.seconds, "Time per transport and size without --messages")
      ->excludes(messages)
      ->check(between(0.01, 3600.0))
      ->capture_default_str();
  one_of(rtt->add_option("--wait", args->wait,
                         "block: wait in recv_msg; spin: look without pause (needs a core for each end)"),
         wait_modes)
      ->capture_default_str();
  rtt->add_option("--cpu", args->cpu, "Cores of the two ends, or none; default: the first two allowed ones")
      ->type_name("A,B");
  CLI::Option* move =
      rtt->add_flag("--move", args->move,
                    "Both ends hand the received message on (send_msg(topic, message&&)) instead of sending its bytes");
  rtt->add_flag("--loan", args->loan,
                "Both ends fill loans and write only the first 8 bytes: the cost of samples made in place")
      ->excludes(move);
  rtt->add_option("--json", args->options.json, "Write JSON to FILE, - is stdout")->type_name("FILE|-");
  rtt->add_option("--csv", args->options.csv, "Write CSV to FILE, - is stdout")->type_name("FILE|-");
  rtt->callback([args, messages, warm_up, &exit_code] {
    rtt_options& options = args->options;
    options.transports.clear();
    for (const std::string& name : args->transports) options.transports.push_back(transport_named(name));
    for (const std::string& size : args->sizes) options.sizes.push_back(sample_size(size));
    if (messages->count() > 0) options.messages = args->messages;
    if (warm_up->count() > 0) options.warm_up = args->warm_up;
    options.wait = wait_mode_named(args->wait);
    if (!args->cpu.empty()) options.cpus = cpus_named(args->cpu);
    if (args->move) options.send = bench::send_mode::move;
    if (args->loan) options.send = bench::send_mode::loan;
    if (options.json == "-" && options.csv == "-") {
      throw CLI::ValidationError("--csv", "--json and --csv cannot both go to stdout");
    }
    exit_code = run_rtt(options);
  });
}

// Started by rtt itself, not for people.
void add_rtt_echo(CLI::App& bench_command, int& exit_code) {
  CLI::App* echo = bench_command.add_subcommand("rtt-echo", "The other end of rtt")->group("");
  struct arguments {
    rtt_echo_options options;
    std::string transport;
    std::string wait = "block";
    bool move = false;
    bool loan = false;
  };
  const auto args = std::make_shared<arguments>();
  echo->add_option("--broker", args->options.broker)->required();
  echo->add_option("--topics", args->options.topics)->required();
  echo->add_option("--transport", args->transport)->required();
  echo->add_option("--size", args->options.size)->required();
  one_of(echo->add_option("--wait", args->wait), wait_modes);
  echo->add_option("--cpu", args->options.cpu);
  echo->add_option("--priority", args->options.priority);
  echo->add_flag("--move", args->move);
  echo->add_flag("--loan", args->loan);
  echo->callback([args, &exit_code] {
    args->options.transport = transport_named(args->transport);
    args->options.wait = wait_mode_named(args->wait);
    if (args->move) args->options.send = bench::send_mode::move;
    if (args->loan) args->options.send = bench::send_mode::loan;
    exit_code = run_rtt_echo(args->options);
  });
}

}  // namespace

void add_bench(CLI::App& app, int& exit_code) {
  CLI::App* bench_command = app.add_subcommand("bench", "Measure ORC on this machine");
  bench_command->require_subcommand(1);
  add_rtt(*bench_command, exit_code);
  add_rtt_echo(*bench_command, exit_code);
  add_load(*bench_command, exit_code);
}

}  // namespace orc::cli
