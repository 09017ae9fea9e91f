// What many topics cost while hardly any carries a sample: one program publishes them, another one subscribes to them,
// each as one participant. Prints processor time, memory, threads and descriptors of both, and how long the
// declarations took. In one case a topic carries a stream that its subscriber does not receive.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/files/fd_limit.h"
#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/process_usage.h"
#include "orc/participant.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr int declared_within_ms = 600'000;
constexpr int settled_within_ms = 120'000;

struct options {
  std::size_t topics = 1000;
  std::size_t rate = 1000;
  double seconds = 10;
  common_options common;
};

enum class role : std::uint8_t { publisher, subscriber };

struct order {
  enum class what : std::uint8_t { declare, wait_linked, stream } task;
  double seconds = 0;
  char broker[200] = {};
};

struct reply {
  bool good = false;
  double seconds = 0;
};

std::string topic_of(std::size_t which) { return "rest/topic" + std::to_string(which); }

double seconds_since(std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e9; }

// One of the two programs: does what the line orders, until it closes.
class end {
 public:
  end(role which, const options& o) : role_(which), options_(o) {}

  void serve(channel& line) {
    while (const auto wanted = line.get<order>()) {
      const std::int64_t start = now_ns();
      const bool good = obey(*wanted);
      line.put(reply{good, seconds_since(start)});
    }
  }

 private:
  bool obey(const order& wanted) {
    switch (wanted.task) {
      case order::what::declare: return declare(wanted.broker);
      case order::what::wait_linked: return wait_linked();
      case order::what::stream: return stream(wanted.seconds);
    }
    return false;
  }
  bool declare(const char* broker) {
    participant_.emplace(participant_at(broker, role_ == role::publisher ? "at_rest (publisher)" : "at_rest"));
    for (std::size_t i = 0; i < options_.topics; ++i) {
      const auto done = role_ == role::publisher ? participant_->register_topic(topic_of(i)).result()
                                                 : participant_->request_topic(topic_of(i)).result();
      if (!done) {
        std::fprintf(stderr, "%s: %s\n", topic_of(i).c_str(), done.error().message().c_str());
        return false;
      }
    }
    return true;
  }
  bool wait_linked() {
    const std::int64_t until = now_ns() + settled_within_ms * std::int64_t{1'000'000};
    for (std::size_t i = 0; i < options_.topics; ++i) {
      const auto left_ms = static_cast<int>(std::max<std::int64_t>(until - now_ns(), 0) / 1'000'000);
      if (!participant_->subscriber(topic_of(i)).wait_connected(left_ms)) return false;
    }
    return true;
  }
  bool stream(double seconds) {
    auto out = participant_->publisher(topic_of(0));
    const std::int64_t period = 1'000'000'000 / static_cast<std::int64_t>(options_.rate);
    const std::int64_t until = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    const std::byte sample[100] = {};
    for (std::int64_t next = now_ns(); next < until; next += period) {
      if (!out.send(sample, sizeof sample)) return false;
      sleep_until_ns(next + period);
    }
    return true;
  }

  const role role_;
  const options& options_;
  std::optional<participant> participant_;
};

struct program {
  detail::child_process process;
  channel line;

  void tell(const order& wanted) { line.put(wanted); }
  double done(const char* what) {
    const auto answer = line.get<reply>(declared_within_ms);
    if (!answer || !answer->good) throw std::runtime_error(std::string(what) + " failed");
    return answer->seconds;
  }
  double obey(const order& wanted, const char* what) {
    tell(wanted);
    return done(what);
  }
};

program start(role which, const options& o, channel* other) {
  auto [here, there] = channel::make();
  auto process = detail::child_process::run([&, &mine = there, &theirs = here] {
    theirs.close();
    if (other != nullptr) other->close();
    detail::raise_fd_limit();
    end(which, o).serve(mine);
    return 0;
  });
  there.close();
  return {std::move(process), std::move(here)};
}

std::size_t entries(const std::string& directory) {
  const std::filesystem::directory_iterator all(directory);
  return static_cast<std::size_t>(std::distance(begin(all), std::filesystem::end(all)));
}

struct usage {
  double cpu_percent = 0;
  double declared_s = 0;
  double rss_mb = 0;
  std::size_t threads = 0;
  std::size_t descriptors = 0;
};

usage figures_of(pid_t pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  return {
      .rss_mb = memory_mb_of(pid, "VmRSS"), .threads = entries(proc + "/task"), .descriptors = entries(proc + "/fd")};
}

void pause_for(double seconds) {
  const std::int64_t until = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (now_ns() < until && !interrupted()) sleep_until_ns(std::min(until, now_ns() + 100'000'000));
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  detail::raise_fd_limit();
  const scratch_dir files;
  o.common.print_machine();
  program sender = start(role::publisher, o, nullptr);  // before this process has threads
  program receiver = start(role::subscriber, o, &sender.line);
  const auto broker = start_broker(files.ipc("broker"));
  order wanted{order::what::declare, o.seconds, {}};
  std::snprintf(wanted.broker, sizeof wanted.broker, "%s", broker->endpoints().front().c_str());
  const double registered_s = sender.obey(wanted, "register_topic");
  const double requested_s = receiver.obey(wanted, "request_topic");
  wanted.task = order::what::wait_linked;
  const double linked_s = receiver.obey(wanted, "linking");
  pause_for(3);  // what the set-up left to do

  table lines{{"case", "program", "CPU (%)", "RSS (MB)", "threads", "descriptors"}};
  std::vector<json_value> objects;
  const auto measure = [&](const char* name, bool streams) {
    const double cpu[2] = {cpu_seconds_of(sender.process.pid()), cpu_seconds_of(receiver.process.pid())};
    const std::int64_t began = now_ns();
    wanted.task = order::what::stream;
    if (streams)
      sender.obey(wanted, "the stream");
    else
      pause_for(o.seconds);
    const double took = seconds_since(began);
    for (const auto* each : {&sender, &receiver}) {
      const bool sends = each == &sender;
      const pid_t pid = each->process.pid();
      usage now = figures_of(pid);
      now.cpu_percent = (cpu_seconds_of(pid) - cpu[sends ? 0 : 1]) / took * 100;
      lines.push_back({name, sends ? "publisher" : "subscriber", fixed(now.cpu_percent, 1), fixed(now.rss_mb, 1),
                       std::to_string(now.threads), std::to_string(now.descriptors)});
      objects.push_back({{"topics", o.topics},
                         {"case", name},
                         {"program", sends ? "publisher" : "subscriber"},
                         {"cpu_percent", now.cpu_percent},
                         {"rss_mb", now.rss_mb},
                         {"threads", now.threads},
                         {"descriptors", now.descriptors},
                         {"declared_s", sends ? registered_s : requested_s}});
    }
  };
  measure("rest", false);
  measure("unread stream", true);
  if (interrupted()) return interrupted_exit_code();
  std::fprintf(o.common.tables(),
               "\n%zu topics over the default transports; all registered after %s s, requested after %s s more, linked "
               "after\n%s s more. CPU is a share of one core. The stream has %zu samples a second.\n\n",
               o.topics, fixed(registered_s, 2).c_str(), fixed(requested_s, 2).c_str(), fixed(linked_s, 2).c_str(),
               o.rate);
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("What many topics cost at rest, and while one of them is not received", "at_rest");
  options o;
  app.add_option("--topics", o.topics, "Topics").between(1, 100'000);
  app.add_option("--rate", o.rate, "Samples a second of the stream").between(1, 100'000);
  app.add_option("--seconds", o.seconds, "Of each case").between(0.5, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] { return run(o); });
}
