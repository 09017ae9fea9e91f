// What tracing (ORC_TRACE) costs per call. A process is traced or not from its start, so this program starts itself
// again and again, traced and not in turn. Each receives samples of its own in batches: over inproc, in order, so that
// a batch of receives can be timed as one.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/unique_fd.h"
#include "base/process/child_process.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "orc.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr int batch = 500;

struct options {
  std::vector<std::string> sizes{"10", "100", "1k"};
  int rounds = 10;
  int batches = 200;
  std::size_t measure = 0;  // a child's size
};

struct costs {
  double receive = 0;  // ns
  double nothing = 0;
  double send = 0;
};

[[nodiscard]] double ns_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

int measure(std::size_t size, int batches) {
  participant node;
  if (!node.register_topic("cost") ||
      !node.request_topic("cost",
                          {.conflate = 0, .depth = 2 * batch, .connected_within = std::chrono::milliseconds(10'000)})
           .result())
    return 1;
  auto to = node.publisher("cost");
  auto from = node.subscriber("cost");
  const std::string sample(size, 'x');
  std::vector<double> send;
  std::vector<double> receive;
  std::vector<double> nothing;
  for (int i = 0; i < batches; ++i) {
    auto start = std::chrono::steady_clock::now();
    for (int n = 0; n < batch; ++n) (void)to.send(sample.data(), sample.size());
    send.push_back(ns_since(start) / batch);
    int received = 0;
    start = std::chrono::steady_clock::now();
    for (int n = 0; n < batch; ++n) received += from.recv(0) ? 1 : 0;
    receive.push_back(ns_since(start) / batch);
    if (received != batch) return 1;
    start = std::chrono::steady_clock::now();
    for (int n = 0; n < batch; ++n) (void)from.recv(0);
    nothing.push_back(ns_since(start) / batch);
  }
  // So that a batch during which another process ran does not count.
  std::printf("%.1f %.1f %.1f\n", median(receive), median(nothing), median(send));
  return 0;
}

[[nodiscard]] costs run(const std::string& broker, const std::string& trace, std::size_t size, int batches) {
  std::vector<std::string> environment{"ORC_BROKER=" + broker};
  if (!trace.empty()) environment.push_back("ORC_TRACE=" + trace);
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  detail::unique_fd input(ends[1]);
  std::FILE* const output = fdopen(ends[0], "r");
  auto child = detail::child_process::start(
      {"/proc/self/exe", "--measure", std::to_string(size), "--batches", std::to_string(batches)}, environment,
      {.output = input.get()});
  input.reset();
  costs found;
  const bool read = std::fscanf(output, "%lf %lf %lf", &found.receive, &found.nothing, &found.send) == 3;
  std::fclose(output);
  (void)child.wait(std::chrono::seconds(10));
  if (!trace.empty()) std::filesystem::remove(trace);
  if (!read) throw std::runtime_error("a measuring process failed");
  return found;
}

int compare(const options& how) {
  const scratch_dir scratch;
  const auto broker = start_broker(scratch.ipc("broker"));
  std::printf("median ns per call, %d rounds in turn\n", how.rounds);
  std::printf("%8s  %-8s %10s %10s %10s\n", "size", "call", "untraced", "traced", "cost");
  for (const std::size_t size : sizes_named(how.sizes)) {
    std::map<std::string, std::vector<double>> all[2];
    for (int round = 0; round < how.rounds; ++round) {
      for (const int traced : {0, 1}) {
        const costs found = run(scratch.ipc("broker"), traced == 1 ? scratch.path() + "/trace" : "", size, how.batches);
        all[traced]["recv"].push_back(found.receive);
        all[traced]["nothing"].push_back(found.nothing);
        all[traced]["send"].push_back(found.send);
      }
    }
    for (const char* const call : {"recv", "nothing", "send"}) {
      const double without = median(all[0][call]);
      const double with = median(all[1][call]);
      std::printf("%8zu  %-8s %10.0f %10.0f %10.0f\n", size, call, without, with, with - without);
    }
  }
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  orc::bench::command_line app("What tracing costs per call", "trace_cost");
  orc::bench::options how;
  orc::bench::add_size(app, "--size", how.sizes, "Sizes of samples");
  app.add_option("--rounds", how.rounds, "Processes of each kind").without_default().between(1, 1000);
  app.add_option("--batches", how.batches, "Batches of 500 samples per process").without_default().between(1, 100000);
  app.add_option("--measure", how.measure);
  return orc::bench::main_of(
      app, argc, argv,
      [&] { return how.measure != 0 ? orc::bench::measure(how.measure, how.batches) : orc::bench::compare(how); }, "");
}
