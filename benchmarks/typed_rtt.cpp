// The round trip of a typed topic (a struct with ORC_DESCRIBE) against one of bytes, interleaved in one run between the
// same two processes, each pinned to a core. Both copy the sample on sending. The typed ends read it as a struct.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "orc/typed.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {

struct sample_10 {
  std::uint16_t values[5];
};
ORC_DESCRIBE(sample_10, values)

template <std::size_t Size>
struct sample_of {
  std::uint64_t number;
  double values[Size / 8 - 1];
};
using sample_1k = sample_of<1000>;
using sample_10k = sample_of<10'000>;
using sample_100k = sample_of<100'000>;
using sample_1m = sample_of<1'000'000>;
ORC_DESCRIBE(sample_1k, number, values)
ORC_DESCRIBE(sample_10k, number, values)
ORC_DESCRIBE(sample_100k, number, values)
ORC_DESCRIBE(sample_1m, number, values)

namespace {

constexpr std::size_t sizes[] = {10, 1000, 10'000, 100'000, 1'000'000};
static_assert(sizeof(sample_10) == 10 && sizeof(sample_1m) == 1'000'000);

struct options {
  std::vector<std::string> transports{"shm", "ipc"};
  int repetitions = 11;
  double seconds = 0.3;
  common_options common;
};

// A received sample as ping_pong.h wants it. A sample of no bytes is no T, but ends the echo.
template <class T>
class typed_sample {
 public:
  explicit typed_sample(orc::typed_subscriber<T>& from) noexcept : got_(from.recv(-1)) {}
  explicit operator bool() const noexcept { return got_ || got_.raw(); }
  [[nodiscard]] const std::byte* data() const noexcept {
    return got_ ? reinterpret_cast<const std::byte*>(&*got_) : nullptr;
  }
  [[nodiscard]] std::size_t size() const noexcept { return got_ ? sizeof(T) : 0; }

 private:
  typed_message<T> got_;
};

// One end of a ping-pong over typed topics.
template <class T>
class typed_end {
 public:
  typed_end(const std::string& broker, orc_link link)
      : link_(std::move(link)), participant_(participant_at(broker, "typed_rtt")) {}

  result open() {
    topic_options offer;
    offer.transports = {link_.transport};
    offer.expected_size = link_.size;
    out_ = participant_.register_topic<T>(link_.out, offer);
    if (!out_.result()) return out_.result();
    request_options wish;
    wish.transports = {link_.transport};
    wish.connected_within = std::chrono::milliseconds(connect_within_ms);
    in_ = participant_.request_topic<T>(link_.in, wish);
    if (!in_.result()) return in_.result();
    return out_.wait_readers(1, connect_within_ms);
  }
  void close() { (void)participant_.release_topic(link_.in); }

  bool send(const std::byte* data, std::size_t size) noexcept {
    if (size == 0) {
      orc::publisher untyped = out_.untyped();
      return static_cast<bool>(untyped.send(nullptr, 0));
    }
    return static_cast<bool>(out_.send(*reinterpret_cast<const T*>(data)));
  }
  bool send_loaned(const std::byte*, std::size_t, std::size_t) noexcept { return false; }
  bool forward(typed_sample<T>&&) noexcept { return false; }
  typed_sample<T> receive(wait_mode) noexcept { return typed_sample<T>(in_); }

 private:
  orc_link link_;
  orc::participant participant_;
  typed_publisher<T> out_;
  typed_subscriber<T> in_;
};

struct cell {
  std::size_t size = 0;
  orc::transport transport = orc::transport::shm;
  unsigned number = 0;
  char broker[200] = {};
};
enum class state : char { ready, failed, done };
struct order {
  bool end_of_cell = false;
  bool typed = false;
};

// Calls use(T{}'s type as a null pointer) for the sample of this size.
template <class Use>
auto with_type_of(std::size_t size, Use use) {
  switch (size) {
    case 10: return use(static_cast<sample_10*>(nullptr));
    case 1000: return use(static_cast<sample_1k*>(nullptr));
    case 10'000: return use(static_cast<sample_10k*>(nullptr));
    case 100'000: return use(static_cast<sample_100k*>(nullptr));
    default: return use(static_cast<sample_1m*>(nullptr));
  }
}

orc_link link_of(const cell& c, bool echo, const char* kind) {
  const std::string prefix = "typed_rtt." + std::to_string(c.number) + "." + kind + ".";
  return {prefix + (echo ? "pong" : "ping"), prefix + (echo ? "ping" : "pong"), c.transport, c.size, wait_mode::block};
}

// The bytes end and the typed end for one size over one transport.
template <class T>
struct ends {
  ends(const cell& c, bool echo)
      : bytes(c.broker, "typed_rtt", link_of(c, echo, "bytes")), typed(c.broker, link_of(c, echo, "typed")) {}
  result open() {
    if (auto done = bytes.open(); !done) return done;
    return typed.open();
  }
  orc_end bytes;
  typed_end<T> typed;
};

void serve(channel& line, int cpu) {
  pin_this_thread(cpu);
  while (const auto c = line.get<cell>()) {
    with_type_of(c->size, [&]<class T>(T*) {
      ends<T> here(*c, true);
      const auto opened = here.open();
      if (!opened && !interrupted()) std::fprintf(stderr, "echo: %s\n", opened.error().message().c_str());
      line.put(opened ? state::ready : state::failed);
      while (const auto next = line.get<order>()) {
        if (next->end_of_cell) return;
        const bool done = next->typed ? echo(here.typed, wait_mode::block, send_mode::copy)
                                      : echo(here.bytes, wait_mode::block, send_mode::copy);
        line.put(done ? state::done : state::failed);
      }
    });
  }
}

struct row {
  orc::transport transport = orc::transport::shm;
  std::size_t size = 0;
  std::vector<summary> bytes;
  std::vector<summary> typed;
};

class comparison {
 public:
  comparison(const options& o, channel& line, std::string broker)
      : options_(o), line_(line), broker_(std::move(broker)) {}

  void measure(orc::transport transport, std::size_t size) {
    cell c{size, transport, ++number_, {}};
    std::snprintf(c.broker, sizeof c.broker, "%s", broker_.c_str());
    line_.put(c);
    with_type_of(size, [&]<class T>(T*) {
      ends<T> here(c, false);
      const auto opened = here.open();
      const auto other = line_.get<state>(3 * connect_within_ms);
      if (!opened) throw std::runtime_error(opened.error().message());
      if (!other || *other != state::ready) throw std::runtime_error("the other end is not ready");
      row r{transport, size, {}, {}};
      for (int i = 0; i < options_.repetitions && !interrupted(); ++i) {
        for (const bool typed : {i % 2 == 0, i % 2 != 0}) {
          if (typed) {
            r.typed.push_back(run(here.typed, true, size));
          } else {
            r.bytes.push_back(run(here.bytes, false, size));
          }
        }
      }
      rows_.push_back(std::move(r));
      line_.put(order{true, false});
    });
  }
  [[nodiscard]] const std::vector<row>& rows() const noexcept { return rows_; }

 private:
  template <class End>
  summary run(End& end, bool typed, std::size_t size) {
    line_.put(order{false, typed});
    std::vector<std::byte> payload(size, std::byte{0x5a});
    std::vector<std::int64_t> ns;
    ns.reserve(1'000'000);
    std::atomic<std::uint64_t> progress{0};
    bool complete = false;
    {
      const watchdog watch(progress, [&] { end.close(); });
      const auto some = [&](std::uint64_t n) { return ping(end, payload, n, wait_mode::block, progress, ns); };
      complete = warm_up_and_measure(some, options_.seconds, 1'000'000, ns);
    }
    (void)end.send(nullptr, 0);  // ends the echo
    const auto other = line_.get<state>(5000);
    if (!complete || !other || *other != state::done) throw std::runtime_error("a sample did not come back within 5 s");
    return summarize(ns);
  }

  const options& options_;
  channel& line_;
  std::string broker_;
  std::vector<row> rows_;
  unsigned number_ = 0;
};

double middle(const std::vector<summary>& of, double summary::*which) {
  std::vector<double> values;
  for (const summary& each : of) values.push_back(each.*which);
  return median(values);
}

void report(const options& o, const std::vector<row>& rows) {
  table lines{{"transport", "size", "typed p50", "p99", "bytes p50", "p99", "p50 ratio", "spread"}};
  std::vector<json_value> objects;
  for (const row& r : rows) {
    std::vector<double> ratios;
    for (std::size_t i = 0; i < std::min(r.typed.size(), r.bytes.size()); ++i)
      ratios.push_back(r.typed[i].p50 / r.bytes[i].p50);
    if (ratios.empty()) continue;
    const auto [low, high] = std::minmax_element(ratios.begin(), ratios.end());
    const double typed = middle(r.typed, &summary::p50);
    const double bytes = middle(r.bytes, &summary::p50);
    lines.push_back({std::string(to_string(r.transport)), size_label(r.size), us(typed),
                     us(middle(r.typed, &summary::p99)), us(bytes), us(middle(r.bytes, &summary::p99)),
                     fixed(typed / bytes, 3), fixed(*low) + ".." + fixed(*high)});
    objects.push_back({{"transport", std::string(to_string(r.transport))},
                       {"size", r.size},
                       {"typed_p50_us", typed},
                       {"bytes_p50_us", bytes},
                       {"p50_ratio", typed / bytes},
                       {"p50_ratios", ratios}});
  }
  std::fprintf(o.common.tables(),
               "\nRound trip, microseconds: medians of the repetitions; the ratio of the p50, and the smallest and\n"
               "largest one of a repetition\n\n");
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  auto ends_of_line = channel::make();
  auto& here = ends_of_line.first;
  auto& there = ends_of_line.second;
  // Before this process has threads.
  detail::child_process other = detail::child_process::run([&] {
    here.close();
    serve(there, o.common.cpus.second);
    return 0;
  });
  there.close();
  const auto broker = start_broker(files.ipc("broker"));
  pin_this_thread(o.common.cpus.first);
  comparison all(o, here, broker->endpoints().front());
  for (const orc::transport transport : transports_named(o.transports)) {
    for (const std::size_t size : sizes) {
      std::fprintf(stderr, "%s %s\n", std::string(to_string(transport)).c_str(), size_label(size).c_str());
      if (!interrupted()) all.measure(transport, size);
    }
  }
  here.close();
  report(o, all.rows());
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("Typed topics against topics of bytes, interleaved", "typed_rtt");
  options o;
  add_transports(app, o.transports, "inproc, shm, ipc, tcp");
  app.add_option("--repetitions", o.repetitions, "Of each, alternating").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition").between(0.01, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] { return run(o); });
}
