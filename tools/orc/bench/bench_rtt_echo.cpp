#include <cstdio>

#include "orc/realtime.h"
#include "tools/orc/bench/bench_rtt.h"
#include "tools/orc/exit_code.h"
#include "tools/support/orc_end.h"

namespace orc::cli {

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
