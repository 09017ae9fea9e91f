// What keeping the past costs per receive (orc/history.h). Samples are sent in batches to one in-order subscription,
// which receives a batch plainly and the next one with a history of 10,000 samples: 10 s at 1 kHz.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "orc.h"
#include "orc/history.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

constexpr std::size_t batch = 500;
constexpr std::size_t kept_samples = 10'000;
constexpr int patience_ms = 10'000;

struct options {
  std::vector<std::string> sizes{"10", "100", "1k"};
  int batches = 200;
};

// ns per call of `receive`, which gets one sample.
template <class Receive>
[[nodiscard]] double time_batch(publisher& to, const std::string& sample, Receive receive) {
  for (std::size_t n = 0; n < batch; ++n) {
    if (!to.send(sample.data(), sample.size())) throw std::runtime_error("a send failed");
  }
  if (!receive()) throw std::runtime_error("a sample was lost");  // the first one looks at the link
  const auto start = std::chrono::steady_clock::now();
  bool all = true;
  for (std::size_t n = 1; n < batch; ++n) all = receive() && all;
  const auto passed = std::chrono::steady_clock::now() - start;
  if (!all) throw std::runtime_error("a sample was lost");
  return std::chrono::duration<double, std::nano>(passed).count() / (batch - 1);
}

void compare(const std::string& broker, transport over, std::size_t size, int batches) {
  participant_options with;
  with.broker = broker;
  participant sender(with);
  participant receiver(with);
  topic_options offered;
  offered.transports = {over};
  request_options wanted;
  wanted.transports = {over};
  wanted.conflate = 0;
  wanted.depth = 2 * batch;
  wanted.connected_within = std::chrono::milliseconds(patience_ms);
  if (!sender.register_topic("cost", offered) || !receiver.request_topic("cost", wanted).result())
    throw std::runtime_error("there is no link");
  auto to = sender.publisher("cost");
  auto from = receiver.subscriber("cost");
  history past(from, {.samples = kept_samples, .max_bytes = 1u << 30});
  const std::string sample(size, 'x');
  const auto plain = [&] { return static_cast<bool>(from.recv(patience_ms)); };
  const auto kept = [&] { return past.recv_next(patience_ms) == errc::ok; };
  for (std::size_t n = 0; n < 2 * kept_samples; n += batch) (void)time_batch(to, sample, kept);
  std::vector<double> without;
  std::vector<double> with_history;
  for (int i = 0; i < batches; ++i) {
    without.push_back(time_batch(to, sample, plain));
    with_history.push_back(time_batch(to, sample, kept));
  }
  const double one = median(without);
  const double other = median(with_history);
  std::printf("%-8s %8zu %10.0f %10.0f %10.0f\n", std::string(to_string(over)).c_str(), size, one, other, other - one);
}

int run(const options& how) {
  const scratch_dir scratch;
  const auto broker = start_broker(scratch.ipc("broker"));
  std::printf("median ns per receive, %d batches of %zu samples each, in turn\n", how.batches, batch);
  std::printf("%-8s %8s %10s %10s %10s\n", "", "size", "plain", "kept", "cost");
  for (const transport over : {transport::inproc, transport::ipc, transport::shm}) {
    for (const std::size_t size : sizes_named(how.sizes)) compare(scratch.ipc("broker"), over, size, how.batches);
  }
  return 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  orc::bench::command_line app("What keeping the last samples costs per receive", "history_cost");
  orc::bench::options how;
  orc::bench::add_size(app, "--size", how.sizes, "Sizes of samples");
  app.add_option("--batches", how.batches, "Batches of each kind").without_default().between(1, 100000);
  return orc::bench::main_of(
      app, argc, argv, [&] { return orc::bench::run(how); }, "");
}
