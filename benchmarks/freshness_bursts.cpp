// Part (a): bursts of two samples. The receiver confirms the second one over a line of its own; one that is not
// confirmed in time is lost. The twin is what people do with libzmq for newest-only: ZMQ_CONFLATE.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/freshness.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/zmq_end.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

enum class kind : int { orc, conflate_sub, conflate_both };

const char* name_of(kind k) {
  switch (k) {
    case kind::orc: return "ORC";
    case kind::conflate_sub: return "libzmq, CONFLATE on SUB";
    case kind::conflate_both: return "libzmq, CONFLATE on both";
  }
  return "";
}

struct burst_sample {
  std::uint64_t burst = 0;  // 1, 2, 3…
  std::uint64_t part = 0;   // 0 or 1
};
constexpr std::uint64_t end_of_run = ~std::uint64_t{0};

struct plan {
  kind what{};
  orc::transport transport{};
  unsigned number = 0;
  char broker[200] = {};
  char endpoint[200] = {};
};

void copy_text(char (&to)[200], const std::string& from) { std::snprintf(to, sizeof to, "%s", from.c_str()); }
std::string topic(const plan& p) { return "burst." + std::to_string(p.number); }

// ---- receiver ----

// Confirms second samples; sends the number of samples that came after a newer one at the end.
template <class Receive>
void confirm_all(channel& line, Receive receive) {
  std::uint64_t backwards = 0;
  burst_sample newest;
  for (;;) {
    const auto message = receive();
    if (!message || message.size() != sizeof(burst_sample)) break;
    burst_sample sample;
    std::memcpy(&sample, message.data(), sizeof sample);
    if (sample.burst == end_of_run) break;
    if (sample.burst < newest.burst || (sample.burst == newest.burst && sample.part < newest.part)) ++backwards;
    newest = sample;
    if (sample.part == 1 && !line.put(sample.burst)) return;
  }
  line.put(end_of_run);
  line.put(backwards);
}

void receive_orc(channel& line, const plan& p) {
  orc::participant participant(participant_at(p.broker, "freshness (receiver)"));
  request_options wish;
  wish.transports = {p.transport};
  wish.connected_within = std::chrono::milliseconds(connect_within_ms);
  const bool open = static_cast<bool>(participant.request_topic(topic(p), wish).result());
  line.put(open);
  if (!open) return;
  auto in = participant.subscriber(topic(p));
  confirm_all(line, [&] { return in.recv(-1); });
  (void)line.get<bool>();
}

void receive_zmq(channel& line, const plan& p, const zmq_context& context) {
  zmq_socket in(context, ZMQ_SUB);
  line.put(in.set(ZMQ_CONFLATE, 1) && in.connect(p.endpoint));
  confirm_all(line, [&] {
    zmq_message message;
    message.receive(in.get());
    return message;
  });
  (void)line.get<bool>();
}

void serve(channel& line, const zmq_context& context, int cpu) {
  pin_this_thread(cpu);
  while (const auto p = line.get<plan>()) {
    if (p->what == kind::orc)
      receive_orc(line, *p);
    else
      receive_zmq(line, *p, context);
  }
}

// ---- publisher ----

struct result_row {
  kind what{};
  orc::transport transport{};
  std::uint64_t bursts = 0;
  std::uint64_t lost = 0;
  std::uint64_t backwards = 0;
  bool deaf = false;  // nothing arrived any more
  // From the first send of a burst to the confirmation of the second sample.
  double p50_us = 0;
  double p99_us = 0;
  double max_us = 0;
};

constexpr std::uint64_t deaf_after = 50;  // bursts lost in a row
// A second sample that is not confirmed in this time is lost. Generous, because a loaded machine may put a process
// aside for long: for ORC, whose count must be 0; less so for the twins, which lose many.
constexpr std::int64_t patience_ns = 5'000'000'000;
constexpr std::int64_t stock_patience_ns = 250'000'000;

bool confirmed(channel& line, std::uint64_t burst, std::int64_t within_ns) {
  const std::int64_t deadline = now_ns() + within_ns;
  for (;;) {
    const std::int64_t left_ms = (deadline - now_ns() + 999'999) / 1'000'000;
    const auto answer = left_ms > 0 ? line.get<std::uint64_t>(static_cast<int>(left_ms)) : std::nullopt;
    if (!answer) return false;
    if (*answer == burst) return true;
  }
}

template <class Send>
void send_bursts(channel& line, result_row& row, std::uint64_t count, std::int64_t patience, Send send) {
  std::vector<std::int64_t> ns;
  ns.reserve(count);
  std::uint64_t lost_in_a_row = 0;
  for (std::uint64_t burst = 1; burst <= count && !interrupted() && !row.deaf; ++burst) {
    const std::int64_t start = now_ns();
    send(burst_sample{burst, 0});
    send(burst_sample{burst, 1});
    ++row.bursts;
    if (confirmed(line, burst, patience)) {
      ns.push_back(now_ns() - start);
      lost_in_a_row = 0;
    } else {
      ++row.lost;
      row.deaf = ++lost_in_a_row == deaf_after;
    }
  }
  const summary s = summarize(ns);
  row.p50_us = s.p50;
  row.p99_us = s.p99;
  row.max_us = s.max;
}

// The receiver's loop ends with a sample; with ZMQ_CONFLATE that one may get lost as well.
template <class Send>
void end_run(channel& line, result_row& row, Send send) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    send(burst_sample{end_of_run, 1});
    if (!confirmed(line, end_of_run, 100'000'000)) continue;
    row.backwards = line.get<std::uint64_t>(1000).value_or(0);
    line.put(true);
    return;
  }
  throw std::runtime_error(std::string("the receiver is deaf: ") + name_of(row.what));
}

void expect_open(channel& line) {
  const auto open = line.get<bool>(2 * connect_within_ms);
  if (!open || !*open) throw std::runtime_error("the receiver has no link");
}

void publish_orc(channel& line, const freshness_options& o, const plan& p, result_row& row) {
  orc::participant participant(participant_at(p.broker, "freshness"));
  topic_options offer;
  offer.transports = {p.transport};
  if (const auto done = participant.register_topic(topic(p), offer).result(); !done)
    throw std::runtime_error(done.error().message());
  line.put(p);
  expect_open(line);
  auto out = participant.publisher(topic(p));
  const auto send = [&](const burst_sample& s) { (void)out.send(&s, sizeof s); };
  send_bursts(line, row, o.bursts, patience_ns, send);
  end_run(line, row, send);
}

void publish_zmq(channel& line, const freshness_options& o, plan p, const zmq_context& context,
                 const std::string& directory, result_row& row) {
  zmq_socket out(context, ZMQ_PUB);
  if (p.what == kind::conflate_both) out.set(ZMQ_CONFLATE, 1);
  const std::string name = "burst" + std::to_string(p.number);
  const std::string endpoint = p.transport == orc::transport::inproc ? "inproc://" + name
                               : p.transport == orc::transport::ipc  ? "ipc://" + directory + "/" + name
                                                                     : "tcp://127.0.0.1:*";
  if (!out.bind(endpoint)) throw std::runtime_error("cannot bind " + endpoint);
  copy_text(p.endpoint, out.endpoint());
  line.put(p);
  expect_open(line);
  std::uint64_t sequence = 0;
  const auto send = [&](const burst_sample& s) {
    send_sample(out, ++sequence, reinterpret_cast<const std::byte*>(&s), sizeof s);
  };
  // A PUB drops what it sends before the subscription arrived: burst 0 until it is seen.
  for (int attempt = 0; attempt < 500; ++attempt) {
    send({0, 1});
    if (confirmed(line, 0, 10'000'000)) break;
  }
  send_bursts(line, row, o.stock_bursts, stock_patience_ns, send);
  if (!row.deaf) end_run(line, row, send);
}

result_row measure(channel& line, const freshness_options& o, const scratch_dir& files, const std::string& broker,
                   const zmq_context& context, orc::transport transport, kind what) {
  std::fprintf(stderr, "%s, %s\n", name_of(what), std::string(to_string(transport)).c_str());
  plan p{what, transport, static_cast<unsigned>(::getpid()), {}, {}};
  copy_text(p.broker, broker);
  result_row row;
  row.what = what;
  row.transport = transport;
  if (what == kind::orc)
    publish_orc(line, o, p, row);
  else
    publish_zmq(line, o, p, context, files.path(), row);
  return row;
}

// With the receiver as a thread.
void run_inproc(const freshness_options& o, const scratch_dir& files, kind what, result_row& row) {
  const zmq_context context;
  auto [here, there] = channel::make();
  std::thread receiver([&, &far = there] { serve(far, context, o.common.cpus.second); });
  try {
    const auto broker = start_broker(files.ipc("broker"));
    row = measure(here, o, files, broker->endpoints().front(), context, orc::transport::inproc, what);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    ::_exit(1);  // the receiver may wait for ever
  }
  if (row.deaf) context.shut_down();
  here.close();
  receiver.join();
}

// With the receiver as a process.
void run_between_processes(const freshness_options& o, const scratch_dir& files, orc::transport transport, kind what,
                           result_row& row) {
  auto [here, there] = channel::make();
  const detail::child_process receiver = detail::child_process::run([&, &near = here, &far = there] {
    near.close();
    const zmq_context context;
    serve(far, context, o.common.cpus.second);
    return 0;
  });
  there.close();
  const auto broker = start_broker(files.ipc("broker"));
  const zmq_context context;
  row = measure(here, o, files, broker->endpoints().front(), context, transport, what);
  here.close();
}

// Each row in a process of its own, so that a receiver that went deaf cannot spoil the next row, and so that the
// processes are forked before there are threads.
result_row measure_apart(const freshness_options& o, const scratch_dir& files, orc::transport transport, kind what) {
  auto [here, there] = channel::make();
  const detail::child_process runner = detail::child_process::run([&, &near = here, &far = there] {
    near.close();
    pin_this_thread(o.common.cpus.first);
    result_row row;
    try {
      if (transport == orc::transport::inproc)
        run_inproc(o, files, what, row);
      else
        run_between_processes(o, files, transport, what, row);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
    return far.put(row) ? 0 : 1;
  });
  there.close();
  while (!here.readable(100)) {
    if (interrupted()) return {what, transport, 0, 0, 0, false, 0, 0, 0};
  }
  const auto row = here.get<result_row>();
  if (!row) throw std::runtime_error(std::string(name_of(what)) + ": the measurement ended early");
  return *row;
}

}  // namespace

void run_bursts(const freshness_options& o, const scratch_dir& files, std::vector<json_value>& rows) {
  table lines{
      {"bursts of two samples", "transport", "bursts", "newest lost", "went back", "confirmed p50", "p99", "max"}};
  for (const auto transport : o.transports) {
    for (const kind what : {kind::orc, kind::conflate_sub, kind::conflate_both}) {
      if (interrupted()) break;
      const result_row row = measure_apart(o, files, transport, what);
      const std::string lost = std::to_string(row.lost) + (row.deaf ? " (deaf)" : "");
      lines.push_back({name_of(what), std::string(to_string(transport)), std::to_string(row.bursts), lost,
                       std::to_string(row.backwards), us(row.p50_us), us(row.p99_us), us(row.max_us)});
      rows.push_back({{"part", "bursts"},
                      {"set_up", name_of(what)},
                      {"transport", to_string(transport)},
                      {"bursts", row.bursts},
                      {"lost", row.lost},
                      {"deaf", row.deaf},
                      {"backwards", row.backwards},
                      {"confirmed_p50_us", row.p50_us},
                      {"confirmed_p99_us", row.p99_us},
                      {"confirmed_max_us", row.max_us}});
    }
  }
  std::fprintf(o.common.tables(), "\n");
  print(o.common.tables(), lines);
}

}  // namespace orc::bench
