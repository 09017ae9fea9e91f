// ORC's round trip against the same ping-pong on bare libzmq, interleaved in one run between the same two processes
// (two threads for inproc), each pinned to a core, which are new for each transport and size. What ORC adds shows as a
// ratio above 1.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/fresh_process.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/zmq_end.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

struct options {
  std::vector<orc::transport> transports;
  std::vector<std::size_t> sizes;
  int repetitions = 5;
  double seconds = 0.3;
  int offset = 16;  // where malloc puts what it maps
  wait_mode wait = wait_mode::block;
  common_options common;
};

// One transport and size, as told to the other end.
struct cell {
  orc::transport transport{};
  std::size_t size = 0;
  unsigned number = 0;
  wait_mode wait = wait_mode::block;
  char broker[200] = {};
  char zmq_ping[200] = {};  // where the measuring end's PUB is bound
};
struct endpoint_name {
  char text[200] = {};
};
enum class order : char { echo_orc, echo_zmq, end_of_cell };
enum class state : char { ready, failed, done };

void copy_text(char (&to)[200], const std::string& from) { std::snprintf(to, sizeof to, "%s", from.c_str()); }

std::string bind_endpoint(const cell& c, const char* who, const std::string& directory) {
  const std::string name = std::string("zmq-") + who + std::to_string(c.number);
  if (c.transport == orc::transport::inproc) return "inproc://" + name;
  if (c.transport == orc::transport::ipc) return "ipc://" + directory + "/" + name;
  return "tcp://127.0.0.1:*";
}

orc_link link_of(const cell& c, const char* out, const char* in) {
  const std::string prefix = "rtt." + std::to_string(c.number) + ".";
  return {prefix + out, prefix + in, c.transport, c.size};
}

// The other end of one cell: has both implementations open, serves the one that it is told to.
void serve_cell(channel& line, const cell& c, const zmq_context& context, const std::string& directory) {
  zmq_end zmq(context);
  const bool bound = zmq.bind(bind_endpoint(c, "pong", directory)) && zmq.connect(c.zmq_ping);
  endpoint_name where;
  copy_text(where.text, zmq.endpoint());
  line.put(where);
  orc_end orc(c.broker, "rtt_vs_zmq (echo)", link_of(c, "pong", "ping"));
  const auto opened = orc.open();
  if (!opened && !interrupted()) std::fprintf(stderr, "echo: %s\n", opened.error().message().c_str());
  line.put(bound && opened ? state::ready : state::failed);
  while (const auto next = line.get<order>()) {
    if (*next == order::end_of_cell) break;
    const bool served =
        *next == order::echo_orc ? echo(orc, c.wait, send_mode::copy) : echo(zmq, c.wait, send_mode::copy);
    line.put(served ? state::done : state::failed);
  }
}

void serve(channel& line, const zmq_context& context, int cpu, const std::string& directory) {
  pin_this_thread(cpu);
  while (const auto c = line.get<cell>()) serve_cell(line, *c, context, directory);
}

struct latency {
  double p50 = 0;
  double p99 = 0;
};

struct repetition {
  latency orc;
  latency zmq;
};

// What is sent, at this offset in its page.
class caller_memory {
 public:
  caller_memory(std::size_t size, std::size_t offset) : all_(size + 2 * page, std::byte{0x5a}) {
    const auto begin = reinterpret_cast<std::uintptr_t>(all_.data());
    bytes_ = std::span(all_).subspan((page - begin % page) + offset, size);
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t page = 4096;
  std::vector<std::byte> all_;
  std::span<std::byte> bytes_;
};

struct row {
  orc::transport transport{};
  std::size_t size = 0;
  std::vector<repetition> repetitions;
};

// The measuring end of one cell.
class ping_side {
 public:
  ping_side(channel& line, const cell& c, std::size_t offset, const zmq_context& context, const std::string& directory)
      : line_(line), cell_(c), zmq_(context), payload_(c.size, offset) {
    if (!zmq_.bind(bind_endpoint(c, "ping", directory))) throw std::runtime_error("cannot bind a libzmq socket");
    copy_text(cell_.zmq_ping, zmq_.endpoint());
    line_.put(cell_);
    const auto pong = line_.get<endpoint_name>(connect_within_ms);
    if (!pong || !zmq_.connect(pong->text)) throw std::runtime_error("the other end has no libzmq socket");
    orc_ = std::make_unique<orc_end>(cell_.broker, "rtt_vs_zmq", link_of(c, "ping", "pong"));
    const auto opened = orc_->open();
    const auto other = line_.get<state>(2 * connect_within_ms);
    if (!opened) throw std::runtime_error(opened.error().message());
    if (!other || *other != state::ready) throw std::runtime_error("the other end is not ready");
  }
  ~ping_side() { line_.put(order::end_of_cell); }
  ping_side(const ping_side&) = delete;
  ping_side& operator=(const ping_side&) = delete;

  // `zmq_first` alternates, so that neither always runs on what the other one warmed up.
  std::optional<repetition> run(bool zmq_first, double seconds, const zmq_context& context) {
    repetition r;
    const auto run_zmq = [&] { return run_one(zmq_, order::echo_zmq, seconds, r.zmq, [&] { context.shut_down(); }); };
    const auto run_orc = [&] { return run_one(*orc_, order::echo_orc, seconds, r.orc, [&] { orc_->close(); }); };
    const bool complete = zmq_first ? run_zmq() && run_orc() : run_orc() && run_zmq();
    return complete ? std::optional(r) : std::nullopt;
  }

 private:
  template <class End, class GiveUp>
  bool run_one(End& end, order what, double seconds, latency& result, GiveUp give_up) {
    line_.put(what);
    std::vector<std::int64_t> ns;
    ns.reserve(200'000);
    std::atomic<std::uint64_t> progress{0};
    bool complete = false;
    {
      const watchdog watch(progress, give_up);
      const auto some = [&](std::uint64_t n) { return ping(end, payload_.bytes(), n, cell_.wait, progress, ns); };
      complete = meet(end) && warm_up_and_measure(some, seconds, 200'000, ns);
    }
    (void)end.send(nullptr, 0);  // ends the echo, also after a failure
    if (!complete) return false;
    const auto other = line_.get<state>(5000);
    const summary all = summarize(ns, 0.5);
    result = {all.p50, all.p99};
    return other && *other == state::done;
  }
  bool meet(orc_end&) { return true; }  // open() has waited for both links
  bool meet(zmq_end& end) { return std::exchange(met_, true) || end.meet(5000); }

  channel& line_;
  cell cell_;
  zmq_end zmq_;
  std::unique_ptr<orc_end> orc_;
  caller_memory payload_;
  bool met_ = false;
};

std::vector<double> ratios(const row& r, double latency::*which) {
  std::vector<double> values;
  for (const repetition& each : r.repetitions) values.push_back(each.orc.*which / each.zmq.*which);
  return values;
}

double middle(const row& r, latency repetition::*side, double latency::*which) {
  std::vector<double> values;
  for (const repetition& each : r.repetitions) values.push_back(each.*side.*which);
  return median(values);
}

std::string spread(std::vector<double> values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return fixed(*low) + ".." + fixed(*high);
}

void print_rows(std::FILE* to, const std::vector<row>& rows) {
  table lines{{"transport", "size", "ORC p50", "zmq p50", "ratio", "spread", "ORC p99", "zmq p99", "ratio", "spread"}};
  for (const row& r : rows) {
    std::vector<std::string> line{std::string(to_string(r.transport)), size_label(r.size)};
    for (const auto which : {&latency::p50, &latency::p99}) {
      const double orc = middle(r, &repetition::orc, which);
      const double zmq = middle(r, &repetition::zmq, which);
      line.insert(line.end(), {us(orc), us(zmq), fixed(orc / zmq), spread(ratios(r, which))});
    }
    lines.push_back(std::move(line));
  }
  std::fprintf(to,
               "\nOne-way latency (round trip / 2), microseconds: medians of the repetitions, their ratio, and the\n"
               "smallest and largest ratio of one repetition\n\n");
  print(to, lines);
}

std::string rows_to_json(const std::vector<row>& rows) {
  std::vector<json_value> objects;
  for (const row& r : rows) {
    objects.push_back({{"transport", to_string(r.transport)},
                       {"size", r.size},
                       {"repetitions", r.repetitions.size()},
                       {"orc_p50_us", middle(r, &repetition::orc, &latency::p50)},
                       {"zmq_p50_us", middle(r, &repetition::zmq, &latency::p50)},
                       {"orc_p99_us", middle(r, &repetition::orc, &latency::p99)},
                       {"zmq_p99_us", middle(r, &repetition::zmq, &latency::p99)},
                       {"p50_ratios", ratios(r, &latency::p50)},
                       {"p99_ratios", ratios(r, &latency::p99)}});
  }
  return to_json(objects);
}

std::vector<repetition> alternate(ping_side& side, const options& o, const zmq_context& context) {
  std::vector<repetition> all;
  for (int i = 0; i < o.repetitions && !interrupted(); ++i) {
    const auto measured = side.run(i % 2 == 1, o.seconds, context);
    if (interrupted()) break;
    if (!measured) throw std::runtime_error("a sample did not come back within 5 s");
    all.push_back(*measured);
  }
  return all;
}

// In a process that does nothing else.
std::vector<repetition> measure(const options& o, orc::transport transport, std::size_t size,
                                const scratch_dir& files) {
  auto ends = channel::make();
  const bool between_threads = transport == orc::transport::inproc;
  std::optional<detail::child_process> other;
  if (!between_threads) {  // before this process has threads
    other = detail::child_process::run([&] {
      ends.first.close();
      const zmq_context context;
      serve(ends.second, context, o.common.cpus.second, files.path());
      return 0;
    });
    ends.second.close();
  }
  const std::string name = "broker-" + std::string(to_string(transport)) + "-" + std::to_string(size);
  const auto broker = start_broker(files.ipc(name));
  pin_this_thread(o.common.cpus.first);
  zmq_context context;
  std::optional<std::jthread> thread;
  if (between_threads) thread.emplace([&] { serve(ends.second, context, o.common.cpus.second, files.path()); });
  cell c{transport, size, 1, o.wait, {}, {}};
  copy_text(c.broker, broker->endpoints().front());
  std::vector<repetition> all;
  try {
    ping_side side(ends.first, c, static_cast<std::size_t>(o.offset), context, files.path());
    all = alternate(side, o, context);
  } catch (...) {
    context.shut_down();
    ends.first.close();
    throw;
  }
  ends.first.close();
  return all;
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  std::vector<row> rows;
  for (const orc::transport transport : o.transports) {
    for (const std::size_t size : o.sizes) {
      if (interrupted()) break;
      std::fprintf(stderr, "%s %s\n", std::string(to_string(transport)).c_str(), size_label(size).c_str());
      auto all = in_fresh_process<repetition>([&] { return measure(o, transport, size, files); });
      if (!all.empty()) rows.push_back({transport, size, std::move(all)});
    }
  }
  print_rows(o.common.tables(), rows);
  if (!o.common.json.empty() && !write_text(o.common.json, rows_to_json(rows))) return 1;
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("ORC's round trip against the same ping-pong on bare libzmq, interleaved", "rtt_vs_zmq");
  options o;
  std::vector<std::string> transports{"inproc", "ipc", "tcp"};
  std::vector<std::string> sizes{"10", "100", "1k", "10k", "100k", "1M"};
  bool spin = false;
  add_transports(app, transports, "inproc, ipc, tcp");
  add_size(app, "--size", sizes, "Bytes per sample");
  app.add_option("--offset", o.offset, "Of the sent bytes in their page").between(0, 4095);
  app.add_option("--repetitions", o.repetitions, "Of each implementation, alternating").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition and implementation").between(0.01, 600.0);
  app.add_flag("--spin", spin, "Poll without pause instead of waiting");
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    o.sizes = sizes_named(sizes);
    if (spin) o.wait = wait_mode::spin;
    return run(o);
  });
}
