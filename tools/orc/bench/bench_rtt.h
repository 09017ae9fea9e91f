// `orc bench rtt`, the paper's round-trip test (ORC paper, IV.A): what is asked for, what comes out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/expected.h"
#include "broker/address_broker.h"
#include "orc/options.h"
#include "tools/support/cpu.h"
#include "tools/support/ping_pong.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"

namespace orc::cli {

struct rtt_options {
  std::vector<orc::transport> transports{orc::transport::inproc, orc::transport::shm, orc::transport::ipc,
                                         orc::transport::tcp};
  std::vector<std::size_t> sizes;
  std::optional<std::uint64_t> messages;  // exactly; else as many as fit into `seconds`
  std::optional<std::uint64_t> warm_up;   // exactly; else up to 1000, for a moment
  double seconds = 2.0;                   // per transport and size
  bench::wait_mode wait = bench::wait_mode::block;
  bench::send_mode send = bench::send_mode::copy;
  bench::cpu_pair cpus = bench::default_cpus();
  int priority = 0;  // SCHED_FIFO of both ends; 0: none
  std::string json;  // file, "-" for stdout, empty: none
  std::string csv;
};

// One-way latencies: round trip / 2.
struct rtt_row {
  orc::transport transport{};
  std::size_t size = 0;
  bench::summary one_way;
};

// Round trips over one transport with samples of one size. A broker must be there.
[[nodiscard]] detail::expected<rtt_row> measure_round_trips(const rtt_options& options, const std::string& broker,
                                                            orc::transport transport, std::size_t size);

// A broker of the measurement's own, in its directory.
[[nodiscard]] detail::expected<std::unique_ptr<address_broker>> start_broker(const bench::scratch_dir& files);

// Whether a file that is to be written later can be. Says so, if not: before minutes of measuring, not after.
[[nodiscard]] bool can_be_written(const std::string& file);

// Runs the test and reports. Returns the exit code.
int run_rtt(const rtt_options& options);

// The other end, a process of its own (for inproc a thread) that sends back what it receives until a sample without
// bytes comes. Returns the exit code.
struct rtt_echo_options {
  std::string broker;
  std::string topics;  // prefix of the two topics' names
  orc::transport transport = orc::transport::ipc;
  std::size_t size = 0;
  bench::wait_mode wait = bench::wait_mode::block;
  bench::send_mode send = bench::send_mode::copy;
  int cpu = bench::no_cpu;
  int priority = 0;
};
int run_rtt_echo(const rtt_echo_options& options);

// Tables for people, and the files that were asked for. False when one could not be written.
void print_rtt_tables(std::FILE* to, const std::vector<rtt_row>& rows, const rtt_options& options);
bool write_rtt_files(const std::vector<rtt_row>& rows, const rtt_options& options);

}  // namespace orc::cli
