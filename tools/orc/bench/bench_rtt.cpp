#include "tools/orc/bench/bench_rtt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/process/child_process.h"
#include "orc/realtime.h"
#include "tools/orc/bench/bench.h"
#include "tools/orc/exit_code.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"
#include "tools/support/text.h"

namespace orc::cli {
namespace {

constexpr double warm_up_seconds = 0.25;
constexpr std::uint64_t default_warm_up = 1000;
constexpr std::uint64_t min_messages = 20;
constexpr std::uint64_t max_messages = 1'000'000;

// The echo of one transport and size: a thread for inproc, else a process.
class echo_side {
 public:
  echo_side(const rtt_options& rtt, rtt_echo_options echo) {
    if (echo.transport == orc::transport::inproc) {
      thread_ = std::thread([echo = std::move(echo)] { (void)run_rtt_echo(echo); });
      return;
    }
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::vector<std::string> arguments{self,
                                       "bench",
                                       "rtt-echo",
                                       "--broker",
                                       echo.broker,
                                       "--topics",
                                       echo.topics,
                                       "--transport",
                                       std::string(to_string(echo.transport)),
                                       "--size",
                                       std::to_string(echo.size)};
    if (echo.cpu != bench::no_cpu) arguments.insert(arguments.end(), {"--cpu", std::to_string(echo.cpu)});
    if (echo.priority != 0) arguments.insert(arguments.end(), {"--priority", std::to_string(echo.priority)});
    if (rtt.wait == bench::wait_mode::spin) arguments.insert(arguments.end(), {"--wait", "spin"});
    if (rtt.send == bench::send_mode::move) arguments.emplace_back("--move");
    if (rtt.send == bench::send_mode::loan) arguments.emplace_back("--loan");
    process_ = detail::child_process::start(arguments);
  }
  // The echo was told to end or never had a link, which ends it too.
  ~echo_side() {
    if (thread_.joinable()) thread_.join();
    (void)process_.wait(std::chrono::seconds(1));
  }
  echo_side(const echo_side&) = delete;
  echo_side& operator=(const echo_side&) = delete;

 private:
  std::thread thread_;
  detail::child_process process_;
};

class progress_line {
 public:
  explicit progress_line(std::string what) : what_(std::move(what)), shown_(::isatty(STDERR_FILENO) == 1) {}
  ~progress_line() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  void show(std::uint64_t done) const {
    if (shown_)
      std::fprintf(stderr, "\r\033[K%s: %llu round trips", what_.c_str(), static_cast<unsigned long long>(done));
  }

 private:
  std::string what_;
  bool shown_;
};

class round_trips {
 public:
  round_trips(bench::orc_end& end, const rtt_options& options, std::size_t size, std::atomic<std::uint64_t>& progress)
      : end_(end), options_(options), payload_(size, std::byte{0x5a}), progress_(progress) {}

  // False: the end was closed on the way.
  bool run() {
    if (!warm_up()) return false;
    const std::uint64_t count =
        options_.messages.value_or(bench::count_for(options_.seconds, ns_, min_messages, max_messages));
    ns_.clear();
    ns_.reserve(count);
    return some(count);
  }
  [[nodiscard]] std::vector<std::int64_t>& ns() noexcept { return ns_; }

 private:
  // At least one round trip, to judge the time by.
  bool warm_up() {
    const std::uint64_t count = options_.warm_up.value_or(default_warm_up);
    ns_.reserve(count + 1);
    const bool warm = bench::warm_up([this](std::uint64_t n) { return some(n); }, count, warm_up_seconds,
                                     options_.warm_up.has_value());
    return warm && (!ns_.empty() || options_.messages || some(1));
  }

  bool some(std::uint64_t count) {
    return options_.send == bench::send_mode::move
               ? bench::ping_by_move(end_, payload_, count, options_.wait, progress_, ns_)
               : bench::ping(end_, payload_, count, options_.wait, progress_, ns_, options_.send);
  }

  bench::orc_end& end_;
  const rtt_options& options_;
  std::vector<std::byte> payload_;
  std::atomic<std::uint64_t>& progress_;
  std::vector<std::int64_t> ns_;
};

}  // namespace

detail::expected<rtt_row> measure_round_trips(const rtt_options& options, const std::string& broker,
                                              orc::transport transport, std::size_t size) {
  const std::string what = std::string(to_string(transport)) + ", " + bench::size_label(size);
  const std::string topics = "bench." + std::string(to_string(transport)) + "." + std::to_string(size);
  const echo_side echo(
      options, {broker, topics, transport, size, options.wait, options.send, options.cpus.second, options.priority});
  bench::orc_end end(broker, "orc bench rtt", {topics + ".ping", topics + ".pong", transport, size, options.wait});
  if (const auto opened = end.open(); !opened) return error(opened.code(), what + ": " + opened.error().message());

  std::atomic<std::uint64_t> progress{0};
  round_trips trips(end, options, size, progress);
  bool complete = false;
  {
    const progress_line line(what);
    const bench::watchdog watch(
        progress, [&] { end.close(); }, [&](std::uint64_t done) { line.show(done); });
    if (options.priority != 0)
      if (const auto fifo = set_realtime(options.priority); !fifo) return fifo.error();
    complete = trips.run();
    if (options.priority != 0) (void)set_realtime(0);
  }
  (void)end.send(nullptr, 0);  // ends the echo
  if (!complete)
    return detail::unable(what + ": no echo within 5 s after " + std::to_string(progress.load()) + " round trips");
  return rtt_row{transport, size, bench::summarize(trips.ns(), 0.5)};
}

detail::expected<std::unique_ptr<address_broker>> start_broker(const bench::scratch_dir& files) {
  if (files.path().empty()) return detail::unable("cannot make a directory in the temporary directory");
  address_broker_options options;
  options.listen = {files.ipc("broker")};
  return address_broker::start(std::move(options));
}

bool can_be_written(const std::string& file) {
  if (file.empty() || file == "-") return true;
  std::FILE* const opened = std::fopen(file.c_str(), "ab");
  if (opened != nullptr && std::fclose(opened) == 0) return true;
  std::fprintf(stderr, "orc: cannot write %s: %s\n", file.c_str(), std::strerror(errno));
  return false;
}

int run_rtt(const rtt_options& options) {
  const bench::interruptible in_order;
  for (const std::string& file : {options.json, options.csv}) {
    if (!can_be_written(file)) return exit_code::failed;
  }
  const bench::scratch_dir files;
  auto started = start_broker(files);
  if (!started) return bench_failed(started.error().message());
  const auto& broker = *started;
  // The broker's thread exists already: it stays free to run anywhere.
  if (!bench::pin_this_thread(options.cpus.first))
    return bench_failed("cannot pin to core " + std::to_string(options.cpus.first));

  std::vector<rtt_row> rows;
  std::string failure;
  for (const orc::transport transport : options.transports) {
    for (const std::size_t size : options.sizes) {
      if (bench::interrupted() || !failure.empty()) break;
      auto result = measure_round_trips(options, broker->endpoints().front(), transport, size);
      if (result)
        rows.push_back(*std::move(result));
      else
        failure = result.error().message();
    }
  }
  print_rtt_tables(options.json == "-" || options.csv == "-" ? stderr : stdout, rows, options);
  if (bench::interrupted()) return bench::interrupted_exit_code();
  if (!failure.empty()) return bench_failed(failure);
  return write_rtt_files(rows, options) ? exit_code::ok : exit_code::failed;
}

int run_rtt_echo(const rtt_echo_options& options) {
  if (!bench::pin_this_thread(options.cpu)) {
    std::fprintf(stderr, "orc: the echo cannot run on core %d\n", options.cpu);
    return exit_code::failed;
  }
  bench::orc_end end(
      options.broker, "orc bench rtt (echo)",
      {options.topics + ".pong", options.topics + ".ping", options.transport, options.size, options.wait});
  if (const auto opened = end.open(); !opened) {
    if (!bench::interrupted()) std::fprintf(stderr, "orc: echo: %s\n", opened.error().message().c_str());
    return exit_code::failed;
  }
  if (options.priority != 0) {
    if (const auto fifo = set_realtime(options.priority); !fifo) {
      std::fprintf(stderr, "orc: echo: %s\n", fifo.error().message().c_str());
      return exit_code::failed;
    }
  }
  return bench::echo(end, options.wait, options.send) ? exit_code::ok : exit_code::failed;
}

}  // namespace orc::cli
