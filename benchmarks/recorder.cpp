// What `orc record` costs and keeps up with, on files in a tmpfs:
//
//   lcm        50,000 samples/s of 100 B on 100 LCM channels over multicast on loopback: orc record to MCAP and to an
//              LCM log, beside lcm-logger
//   ipc, shm   the same load as ORC topics
//   30 topics  30 topics of 6 MB/s each (100 kB at 60 Hz) over shm; 1 topic: one of 180 MB/s (6 MB at 30 Hz)
//   full       1 MB samples over shm, as many as can be sent: what the recorder writes, beside write(2)
//
// CPU: of the recorder alone, user and system. Lost: sent, but not in the file. Send p99: the publisher's, beside the
// same load with nobody who reads it, and with one ordinary subscriber of each topic. Rounds are interleaved.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "benchmarks/recorder_load.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "orc/recording/reader.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct options {
  std::string program;
  std::string directory = "/dev/shm";
  std::vector<std::string> loads{"lcm", "ipc", "shm", "30topics", "1topic", "full"};
  double seconds = 4;
  int rounds = 3;
  int port = 17'767;
  common_options common;
};

struct load {
  std::string name;
  load_kind kind;
  int topics;
  std::size_t size;
  double hz;
  std::vector<std::string> recorders;  // "none", "reader", "mcap", "log", "lcm-logger"
};

const std::vector<load> all_loads{
    {"lcm", load_kind::lcm, 100, 100, 500, {"none", "mcap", "log", "lcm-logger"}},
    {"ipc", load_kind::ipc, 100, 100, 500, {"none", "reader", "mcap"}},
    {"shm", load_kind::shm, 100, 100, 500, {"none", "reader", "mcap"}},
    {"30topics", load_kind::shm, 30, 100'000, 60, {"none", "reader", "mcap"}},
    {"1topic", load_kind::shm, 1, 6'000'000, 30, {"none", "reader", "mcap"}},
    {"full", load_kind::shm, 1, 1'000'000, 0, {"mcap", "write"}},
};

struct outcome {
  double cpu_s = 0;
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;
  double p50_us = 0;
  double p99_us = 0;
  double mb_per_s = 0;
};

double cpu_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::uint64_t samples_in(const std::string& file) {
  std::unique_ptr<recording::reader> reader;
  if (const auto opened = recording::reader::open(file, reader); !opened)
    throw std::runtime_error(opened.error().message());
  return reader->summary().samples;
}

class bench {
 public:
  bench(const options& o, channel& line, channel& reader, std::string broker)
      : o_(o),
        line_(line),
        reader_(reader),
        broker_(std::move(broker)),
        file_(o.directory + "/orc-bench-recorder-" + std::to_string(::getpid())) {}
  ~bench() { remove(); }
  bench(const bench&) = delete;
  bench& operator=(const bench&) = delete;

  outcome measure(const load& what, const std::string& recorder) {
    if (recorder == "write") return plain_write();
    ++number_;
    load_plan plan;
    plan.number = number_;
    plan.kind = what.kind;
    plan.topics = what.topics;
    plan.size = what.size;
    plan.hz = what.hz;
    plan.seconds = o_.seconds;
    plan.port = o_.port;
    plan.readers = recorder == "none" || what.kind == load_kind::lcm ? 0 : 1;
    std::snprintf(plan.broker, sizeof plan.broker, "%s", broker_.c_str());
    remove();
    const double before = cpu_of_children();
    detail::child_process process = start(what, recorder);
    line_.put(plan);
    if (recorder == "reader") reader_.put(plan);
    if (const auto ready = line_.get<bool>(20'000); !ready || !*ready)
      throw std::runtime_error("the load did not start");
    // lcm-logger says nothing when it listens.
    sleep_until_ns(now_ns() + 500'000'000);
    line_.put(true);
    const auto report = line_.get<load_report>(static_cast<int>(o_.seconds * 1000) + 60'000);
    if (!report || !report->good) throw std::runtime_error("the load was not sent");
    sleep_until_ns(now_ns() + 200'000'000);
    outcome out;
    out.sent = report->sent;
    out.p50_us = report->p50_us;
    out.p99_us = report->p99_us;
    if (recorder == "reader") {
      reader_.put(true);
      if (!reader_.get<bool>(10'000)) throw std::runtime_error("the reader did not end");
    }
    if (!records(recorder)) return out;
    process.send_signal(SIGINT);
    if (!process.wait(60s)) throw std::runtime_error(recorder + " did not end");
    out.cpu_s = cpu_of_children() - before;
    const std::uint64_t kept = samples_in(name_of(recorder));
    out.lost = out.sent - std::min(kept, out.sent);
    out.mb_per_s = static_cast<double>(fs::file_size(name_of(recorder))) / 1e6 / report->seconds;
    remove();
    return out;
  }

 private:
  std::string name_of(const std::string& recorder) const { return file_ + (recorder == "mcap" ? ".mcap" : ".log"); }
  std::string url() const {
    return std::string("udpm://") + load_group + ":" + std::to_string(o_.port) + "?ttl=0&recv_buf_size=2097152";
  }

  static bool records(const std::string& recorder) { return recorder != "none" && recorder != "reader"; }

  detail::child_process start(const load& what, const std::string& recorder) {
    const detail::unique_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    const detail::child_process::streams quiet{null.get(), null.get(), null.get()};
    if (!records(recorder)) return {};
    if (recorder == "lcm-logger")
      return detail::child_process::start({"lcm-logger", "--quiet", "--lcm-url=" + url(), name_of(recorder)}, {},
                                          quiet);
    std::vector<std::string> words{o_.program, "record", "-o", name_of(recorder)};
    if (what.kind == load_kind::lcm)
      words.insert(words.end(), {"--multicast", url()});
    else
      words.insert(words.end(), {"--broker", broker_, "load" + std::to_string(number_) + "/*"});
    return detail::child_process::start(words, {}, quiet);
  }

  // As long as a run, in blocks of a chunk.
  outcome plain_write() {
    remove();
    const std::string name = name_of("mcap");
    const detail::unique_fd file(::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    const std::vector<char> block(std::size_t{1} << 20, 'x');
    std::uint64_t bytes = 0;
    const std::int64_t start = now_ns();
    const auto limit = static_cast<std::int64_t>(o_.seconds * 1e9);
    constexpr std::uint64_t most = 8'000'000'000;  // the tmpfs is memory
    while (now_ns() - start < limit && bytes < most) {
      const ssize_t n = ::write(file.get(), block.data(), block.size());
      if (n <= 0) break;
      bytes += static_cast<std::uint64_t>(n);
    }
    outcome out;
    out.mb_per_s = static_cast<double>(bytes) / 1e6 / (static_cast<double>(now_ns() - start) / 1e9);
    remove();
    return out;
  }

  void remove() const {
    for (const char* extension : {".mcap", ".log"}) {
      std::error_code ignored;
      fs::remove(file_ + extension, ignored);
    }
  }

  const options& o_;
  channel& line_;
  channel& reader_;
  const std::string broker_;
  const std::string file_;
  unsigned number_ = 0;
};

using results = std::map<std::string, std::vector<outcome>>;  // by recorder

template <typename Member>
double median_of(const std::vector<outcome>& all, Member member) {
  std::vector<double> values;
  for (const outcome& each : all) values.push_back(static_cast<double>(each.*member));
  return median(values);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  if (o.program.empty()) o.program = fs::read_symlink("/proc/self/exe").parent_path() / "orc";
  auto [here, there] = channel::make();  // before this process has threads
  const auto sender = detail::child_process::run([&, &mine = there, &theirs = here] {
    theirs.close();
    serve_load(mine);
    return 0;
  });
  there.close();
  auto [reader, reading] = channel::make();
  const auto subscriber = detail::child_process::run([&, &line = here, &mine = reading, &theirs = reader] {
    line.close();
    theirs.close();
    serve_reader(mine);
    return 0;
  });
  reading.close();
  const auto broker = start_broker(files.ipc("broker"));
  bench measured(o, here, reader, broker->endpoints().front());

  std::vector<std::pair<const load*, results>> all;
  for (const load& each : all_loads)
    if (std::find(o.loads.begin(), o.loads.end(), each.name) != o.loads.end()) all.emplace_back(&each, results{});
  for (int round = 0; round < o.rounds; ++round) {
    for (auto& [what, found] : all) {
      for (const std::string& recorder : what->recorders) {
        if (interrupted()) return interrupted_exit_code();
        std::fprintf(stderr, "round %d: %s, %s\n", round + 1, what->name.c_str(), recorder.c_str());
        found[recorder].push_back(measured.measure(*what, recorder));
      }
    }
  }
  table lines{{"load", "recorder", "CPU s", "sent", "lost", "send p50 us", "send p99 us", "MB/s"}};
  std::vector<json_value> objects;
  for (const auto& [what, found] : all) {
    for (const std::string& recorder : what->recorders) {
      const std::vector<outcome>& runs = found.at(recorder);
      std::uint64_t lost = 0;
      for (const outcome& each : runs) lost = std::max(lost, each.lost);
      const double cpu = median_of(runs, &outcome::cpu_s);
      const double sent = median_of(runs, &outcome::sent);
      const double p50 = median_of(runs, &outcome::p50_us);
      const double p99 = median_of(runs, &outcome::p99_us);
      const double rate = median_of(runs, &outcome::mb_per_s);
      lines.push_back(
          {what->name, recorder, fixed(cpu), fixed(sent, 0), std::to_string(lost), us(p50), us(p99), fixed(rate, 0)});
      objects.push_back({{"load", what->name},
                         {"recorder", recorder},
                         {"seconds", o.seconds},
                         {"cpu_s", cpu},
                         {"sent", sent},
                         {"most_lost", lost},
                         {"send_p50_us", p50},
                         {"send_p99_us", p99},
                         {"mb_per_s", rate}});
    }
  }
  std::fprintf(o.common.tables(), "\nMedians of %d rounds of %s s; lost: the most of a round\n\n", o.rounds,
               fixed(o.seconds, 1).c_str());
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("orc record under load, beside lcm-logger and write(2)", "recorder");
  options o;
  app.add_option("--load", o.loads, "What to record").one_of({"lcm", "ipc", "shm", "30topics", "1topic", "full"});
  app.add_option("--seconds", o.seconds, "Of each run").between(0.5, 600.0);
  app.add_option("--rounds", o.rounds, "Runs of each kind").between(1, 100);
  app.add_option("--directory", o.directory, "Where the files go", "DIR");
  app.add_option("--port", o.port, "Of the multicast group").between(1024, 65535);
  app.add_option("--program", o.program, "Default: orc beside this program", "FILE");
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] { return run(o); });
}
