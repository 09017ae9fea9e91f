#include "support/call_peers.h"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "support/wait_until.h"

namespace orc::test {

std::vector<std::byte> obey(std::span<const std::byte> bytes, call_context& context, call_counts& counts) {
  ++counts.started;
  struct at_end {
    std::atomic<int>& ended;
    ~at_end() { ++ended; }
  } const count{counts.ended};
  const auto request = from_bytes<call_request>(bytes);
  switch (request.order) {
    case call_order::echo: break;
    case call_order::throw_error: throw std::out_of_range("as ordered");
    case call_order::fail: context.fail(static_cast<std::int32_t>(request.argument), "as ordered"); break;
    case call_order::hold:
      if (wait_until([&] { return context.cancelled(); })) ++counts.cancelled;
      context.fail(1, "held");
      break;
    case call_order::hold_anyway: (void)wait_until([&] { return counts.released.load(); }); break;
    case call_order::work: std::this_thread::sleep_for(std::chrono::milliseconds(request.argument)); break;
    case call_order::count_up:
      for (std::uint32_t n = 0; n < request.argument; ++n) context.feedback(to_bytes(n));
      break;
    case call_order::exit_at_once: _exit(3);
    case call_order::exit_normally: std::exit(3);
    case call_order::fork_child: (void)!fork(); break;
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace orc::test
