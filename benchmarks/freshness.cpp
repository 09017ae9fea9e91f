// Does the newest sample arrive? (a) Two samples back to back, many times: the second one must be received, on ORC and
// on stock ZMQ_CONFLATE. (b) A stream that is ten times what a link carries: how old are the samples, does the last one
// arrive?
#include "benchmarks/freshness.h"

#include <nlohmann/json.hpp>

#include "base/process/child_process.h"
#include "tools/support/interrupt.h"

namespace orc::bench {
namespace {

int run(freshness_options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  std::vector<json_value> rows;
  // The throttled link first: it needs a process without threads to make its own.
  const bool ran = !o.throttled || run_throttled(o, files, rows);
  if (o.bursts > 0 && !interrupted()) run_bursts(o, files, rows);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(rows))) return 1;
  return interrupted() ? interrupted_exit_code() : ran ? 0 : 1;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app(
      "Newest sample of two-sample bursts lost, and the age of samples on a throttled link; ORC and libzmq",
      "freshness");
  freshness_options o;
  std::vector<std::string> transports{"inproc", "ipc", "tcp"};
  bool no_throttle = false;
  add_transports(app, transports, "Of the bursts: inproc, ipc, tcp");
  app.add_option("--bursts", o.bursts, "Bursts of two samples over ORC; 0: leave this part out");
  app.add_option("--stock-bursts", o.stock_bursts, "The same over each libzmq twin (a lost one costs 0.25 s)");
  app.add_flag("--no-throttled", no_throttle, "Leave the throttled link out");
  app.add_option("--rate", o.rate_bytes, "Of the throttled link, bytes per second").between(1e4, 1e8);
  app.add_option("--queue", o.queue_bytes, "Bytes that the throttled link queues itself");
  app.add_option("--stream-seconds", o.stream_seconds, "Length of the stream of 1 kB at 1 kHz").between(1.0, 600.0);
  app.add_option("--wait-seconds", o.wait_seconds, "Wait for the last sample after the stream").between(0.1, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    o.throttled = !no_throttle;
    return run(o);
  });
}
