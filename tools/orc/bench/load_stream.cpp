#include "tools/orc/bench/load_stream.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/process/child_process.h"
#include "base/threads/fine_timers.h"
#include "orc/participant.h"
#include "orc/realtime.h"
#include "tools/orc/bench/bench.h"
#include "tools/orc/exit_code.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"

namespace orc::cli {

namespace {

constexpr std::int64_t stream_period_ns = 1'000'000;
constexpr std::size_t stream_bytes = 100;
constexpr std::uint64_t stream_learned = 100;  // samples at the start that are not counted
constexpr const char* stream_topic = "bench.load.stream";
constexpr int silence_ms = 3'000;

[[nodiscard]] std::uint64_t samples_in(double seconds) {
  return static_cast<std::uint64_t>(seconds * 1e9 / static_cast<double>(stream_period_ns));
}

// Ends with a sample without bytes.
int publish(const stream_options& options) {
  participant source(bench::participant_at(options.broker, "orc bench load (stream)"));
  auto out = source.register_topic(stream_topic, {.transports = {options.transport}, .expected_size = stream_bytes});
  if (!out.result()) return bench_failed("stream: " + out.error().message());
  if (const auto joined = out.wait_readers(1, bench::connect_within_ms); !joined)
    return bench_failed("stream: " + joined.error().message());
  if (!bench::pin_this_thread(options.cpus.second)) return bench_failed("stream: cannot run on that core");
  if (options.priority != 0)
    if (const auto fifo = set_realtime(options.priority); !fifo)
      return bench_failed("stream: " + fifo.error().message());
  detail::fine_timers();
  std::byte bytes[stream_bytes] = {};
  const std::uint64_t count = samples_in(options.seconds) + stream_learned;
  std::int64_t at = bench::now_ns();
  for (std::uint64_t n = 0; n < count && !bench::interrupted(); ++n) {
    at += stream_period_ns;
    std::memcpy(bytes, &at, sizeof at);
    bench::sleep_until_ns(at);
    if (!out.send(bytes, sizeof bytes)) return exit_code::failed;
  }
  bench::sleep_until_ns(at + 100 * stream_period_ns);
  return out.send(nullptr, 0) ? exit_code::ok : exit_code::failed;
}

detail::child_process start_publisher(const stream_options& options) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  return detail::child_process::start({self, "bench", "load-stream", "--broker", options.broker, "--transport",
                                       std::string(to_string(options.transport)), "--seconds",
                                       std::to_string(options.seconds), "--cpu", std::to_string(options.cpus.second),
                                       "--priority", std::to_string(options.priority)});
}

}  // namespace

detail::expected<stream_result> measure_stream(const stream_options& options) {
  auto source = start_publisher(options);
  participant node(bench::participant_at(options.broker, "orc bench load"));
  request_options wish;
  wish.transports = {options.transport};
  wish.connected_within = std::chrono::milliseconds(bench::connect_within_ms);
  if (options.predictive) wish.wait = wait::predictive;
  auto in = node.request_topic(stream_topic, wish);
  if (!in.result()) return in.error();
  if (options.priority != 0)
    if (const auto fifo = set_realtime(options.priority); !fifo) return fifo.error();
  stream_result all;
  const std::uint64_t count = samples_in(options.seconds) + 1;
  all.ages_ns.reserve(count);
  all.lateness_ns.reserve(count);
  errc end = errc::ok;
  while (!bench::interrupted()) {
    const message sample = in.recv(silence_ms);
    end = sample.status();
    std::int64_t due = 0;
    if (!sample || sample.copy_to(&due, sizeof due) != sizeof due) break;
    const std::int64_t late = bench::now_ns() - due;
    const std::int64_t age = sample.age_ns();
    if (sample.sequence() <= stream_learned) continue;
    const std::uint64_t replaced = all.ages_ns.empty() ? 0 : sample.missed();  // the first one's may not count
    all.ages_ns.push_back(age);
    all.lateness_ns.push_back(late);
    all.sent += 1 + replaced;
    all.missed += replaced + (late > stream_period_ns ? 1 : 0);
  }
  if (options.priority != 0) (void)set_realtime(0);
  (void)source.wait(std::chrono::seconds(1));
  if (end != errc::ok || (all.ages_ns.empty() && !bench::interrupted()))
    return detail::unable("the stream over " + std::string(to_string(options.transport)) + " did not arrive");
  return all;
}

void add_load_stream(CLI::App& bench_command, int& exit_code) {
  CLI::App* const command = bench_command.add_subcommand("load-stream", "The other end of load")->group("");
  struct arguments {
    stream_options options;
    std::string transport;
  };
  const auto args = std::make_shared<arguments>();
  command->add_option("--broker", args->options.broker)->required();
  command->add_option("--transport", args->transport)->required();
  command->add_option("--seconds", args->options.seconds)->required();
  command->add_option("--cpu", args->options.cpus.second)->required();
  command->add_option("--priority", args->options.priority)->required();
  command->callback([args, &exit_code] {
    args->options.transport = transport_named(args->transport);
    exit_code = publish(args->options);
  });
}

}  // namespace orc::cli
