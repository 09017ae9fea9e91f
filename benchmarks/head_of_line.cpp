// Head of line: the latency of a small topic (100 B at 1 kHz) while the same participant publishes a large one (10 MB
// at 20 Hz) to the same receiver, on ORC and on bare libzmq; all set-ups interleaved in one run.
//
// The latency of a sample is the time until it, or a newer one, was received: newest wins may skip a sample, and that
// must not hide its delay. A sample that was followed by none counts as lost.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/zmq_end.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

enum class set_up : int { orc_quiet, orc, zmq_quiet, zmq_one_context, zmq_two_contexts };
constexpr set_up all_set_ups[] = {set_up::orc_quiet, set_up::orc, set_up::zmq_quiet, set_up::zmq_one_context,
                                  set_up::zmq_two_contexts};

const char* name_of(set_up s) {
  switch (s) {
    case set_up::orc_quiet: return "ORC, quiet";
    case set_up::orc: return "ORC";
    case set_up::zmq_quiet: return "libzmq, quiet";
    case set_up::zmq_one_context: return "libzmq, second socket";
    case set_up::zmq_two_contexts: return "libzmq, separate contexts";
  }
  return "";
}
bool is_orc(set_up s) { return s == set_up::orc || s == set_up::orc_quiet; }
bool is_quiet(set_up s) { return s == set_up::orc_quiet || s == set_up::zmq_quiet; }

struct options {
  std::vector<orc::transport> transports;
  int repetitions = 5;
  double seconds = 2.0;
  std::size_t small_size = 100;
  std::size_t large_size = 10'000'000;
  double small_hz = 1000;
  double large_hz = 20;
  bool declared = true;
  common_options common;
};

struct plan {
  set_up what{};
  orc::transport transport{};
  unsigned number = 0;
  char broker[200] = {};
  char small_endpoint[200] = {};
  char large_endpoint[200] = {};
};
struct arrival {
  std::uint64_t index = 0;
  std::int64_t at_ns = 0;
};

std::string topic(const plan& p, const char* which) { return "hol." + std::to_string(p.number) + "." + which; }
void copy_text(char (&to)[200], const std::string& from) { std::snprintf(to, sizeof to, "%s", from.c_str()); }

// ---- the receiving process ----

// Takes samples until one without bytes comes; the first 8 bytes are the sample's index.
template <class Receive>
std::vector<arrival> take_all(Receive receive) {
  std::vector<arrival> arrivals;
  arrivals.reserve(100'000);
  for (;;) {
    const auto message = receive();
    if (!message || message.size() < sizeof(std::uint64_t)) return arrivals;
    arrival a;
    a.at_ns = now_ns();
    std::memcpy(&a.index, message.data(), sizeof a.index);
    arrivals.push_back(a);
  }
}

void receive_orc(channel& line, const plan& p) {
  orc::participant participant(participant_at(p.broker, "head_of_line (receiver)"));
  request_options wish;
  wish.transports = {p.transport};
  wish.connected_within = std::chrono::milliseconds(connect_within_ms);
  bool open = static_cast<bool>(participant.request_topic(topic(p, "small"), wish).result());
  if (!is_quiet(p.what)) open = static_cast<bool>(participant.request_topic(topic(p, "large"), wish).result()) && open;
  line.put(open);
  if (!open) return;
  std::thread large;
  if (!is_quiet(p.what)) {
    large = std::thread(
        [in = participant.subscriber(topic(p, "large"))]() mutable { (void)take_all([&] { return in.recv(-1); }); });
  }
  auto in = participant.subscriber(topic(p, "small"));
  line.put(take_all([&] { return in.recv(-1); }));
  if (large.joinable()) large.join();
  (void)line.get<bool>();
}

zmq_message receive_one(const zmq_socket& socket) {
  zmq_message message;
  message.receive(socket.get());
  return message;
}

void receive_zmq(channel& line, const plan& p) {
  const zmq_context first;
  const zmq_context second;
  const zmq_context& large_context = p.what == set_up::zmq_two_contexts ? second : first;
  zmq_socket small_in(first, ZMQ_SUB);
  zmq_socket large_in(large_context, ZMQ_SUB);
  line.put(small_in.connect(p.small_endpoint) && (is_quiet(p.what) || large_in.connect(p.large_endpoint)));
  std::thread large;
  if (!is_quiet(p.what)) {
    large = std::thread([&] { (void)take_all([&] { return receive_one(large_in); }); });
  }
  line.put(take_all([&] { return receive_one(small_in); }));
  if (large.joinable()) large.join();
  (void)line.get<bool>();
}

void serve(channel& line, int cpu) {
  pin_this_thread(cpu);
  while (const auto p = line.get<plan>()) is_orc(p->what) ? receive_orc(line, *p) : receive_zmq(line, *p);
}

// ---- the publishing process ----

// Sends the large topic in a thread of its own and the small one here; returns when each small sample was sent.
template <class SendSmall, class SendLarge>
std::vector<std::int64_t> publish(const options& o, bool quiet, SendSmall send_small, SendLarge send_large) {
  std::atomic<bool> stop{false};
  std::thread large;
  const std::int64_t start = now_ns() + 1'000'000;
  if (!quiet) {
    large = std::thread([&] {
      std::vector<std::byte> payload(o.large_size, std::byte{0x5a});
      const auto period = static_cast<std::int64_t>(1e9 / o.large_hz);
      for (std::uint64_t i = 0; !stop; ++i) {
        std::memcpy(payload.data(), &i, sizeof i);
        sleep_until_ns(start + static_cast<std::int64_t>(i) * period);
        send_large(payload.data(), payload.size());
      }
      send_large(payload.data(), 0);
    });
  }
  std::vector<std::byte> payload(o.small_size, std::byte{0x5a});
  const auto count = static_cast<std::uint64_t>(o.seconds * o.small_hz);
  const auto period = static_cast<std::int64_t>(1e9 / o.small_hz);
  std::vector<std::int64_t> sent_ns;
  sent_ns.reserve(count);
  for (std::uint64_t i = 0; i < count && !interrupted(); ++i) {
    std::memcpy(payload.data(), &i, sizeof i);
    sleep_until_ns(start + static_cast<std::int64_t>(i) * period);
    sent_ns.push_back(now_ns());
    send_small(payload.data(), payload.size());
  }
  stop = true;
  if (large.joinable()) large.join();
  sleep_until_ns(now_ns() + 50'000'000);  // newest wins: the end must not overtake the last sample
  send_small(payload.data(), 0);
  return sent_ns;
}

struct outcome {
  std::vector<std::int64_t> sent_ns;
  std::vector<arrival> arrivals;
};

// While the publications still live: the receiver may be taking the last samples.
outcome with_arrivals(channel& line, std::vector<std::int64_t> sent_ns) {
  auto arrivals = line.get_list<arrival>(10'000);
  if (!arrivals) throw std::runtime_error("the receiver did not end");
  line.put(true);
  return {std::move(sent_ns), std::move(*arrivals)};
}

outcome publish_orc(channel& line, const options& o, const plan& p) {
  orc::participant participant(participant_at(p.broker, "head_of_line"));
  topic_options offer;
  offer.transports = {p.transport};
  offer.expected_size = o.declared ? o.small_size : 0;
  if (const auto done = participant.register_topic(topic(p, "small"), offer).result(); !done)
    throw std::runtime_error(done.error().message());
  offer.expected_size = o.declared ? o.large_size : 0;
  if (const auto done = participant.register_topic(topic(p, "large"), offer).result(); !done)
    throw std::runtime_error(done.error().message());
  line.put(p);
  const auto open = line.get<bool>(3 * connect_within_ms);
  if (!open || !*open) throw std::runtime_error("the receiver has no link");
  auto small = participant.publisher(topic(p, "small"));
  auto large = participant.publisher(topic(p, "large"));
  return with_arrivals(line,
                       publish(
                           o, is_quiet(p.what), [&](const std::byte* d, std::size_t n) { (void)small.send(d, n); },
                           [&](const std::byte* d, std::size_t n) { (void)large.send(d, n); }));
}

outcome publish_zmq(channel& line, const options& o, plan p, const std::string& directory) {
  const zmq_context first;
  const zmq_context second;
  zmq_socket small(first, ZMQ_XPUB);
  zmq_socket large(p.what == set_up::zmq_two_contexts ? second : first, ZMQ_XPUB);
  const std::string number = std::to_string(p.number);
  const bool tcp = p.transport == orc::transport::tcp;
  if (!small.bind(tcp ? "tcp://127.0.0.1:*" : "ipc://" + directory + "/small" + number) ||
      !large.bind(tcp ? "tcp://127.0.0.1:*" : "ipc://" + directory + "/large" + number))
    throw std::runtime_error("cannot bind a libzmq socket");
  copy_text(p.small_endpoint, small.endpoint());
  copy_text(p.large_endpoint, large.endpoint());
  line.put(p);
  const auto open = line.get<bool>(connect_within_ms);
  if (!open || !*open) throw std::runtime_error("the receiver has no link");
  // XPUB hands out the subscription: from then on nothing is lost.
  zmq_msg_t subscription;
  zmq_msg_init(&subscription);
  zmq_msg_recv(&subscription, small.get(), 0);
  if (!is_quiet(p.what)) zmq_msg_recv(&subscription, large.get(), 0);
  zmq_msg_close(&subscription);
  std::uint64_t sequence = 0;
  std::uint64_t large_sequence = 0;
  return with_arrivals(
      line, publish(
                o, is_quiet(p.what), [&](const std::byte* d, std::size_t n) { send_sample(small, ++sequence, d, n); },
                [&](const std::byte* d, std::size_t n) { send_sample(large, ++large_sequence, d, n); }));
}

struct cell {
  set_up what{};
  orc::transport transport{};
  std::vector<std::int64_t> ns;
  std::vector<double> p99_us;  // of each repetition
  std::size_t lost = 0;
};

// Latency per sent sample, given what arrived (in order).
void add_repetition(cell& c, const std::vector<std::int64_t>& sent_ns, const std::vector<arrival>& arrivals) {
  std::vector<std::int64_t> ns;
  std::size_t next = 0;
  for (const arrival& a : arrivals) {
    for (; next < sent_ns.size() && next <= a.index; ++next) ns.push_back(a.at_ns - sent_ns[next]);
  }
  c.lost += sent_ns.size() - next;
  c.ns.insert(c.ns.end(), ns.begin(), ns.end());
  c.p99_us.push_back(summarize(ns).p99);
}

void measure(channel& line, const options& o, const scratch_dir& files, const std::string& broker, cell& c) {
  static unsigned number = 0;
  plan p{c.what, c.transport, ++number, {}, {}, {}};
  copy_text(p.broker, broker);
  const outcome done = is_orc(c.what) ? publish_orc(line, o, p) : publish_zmq(line, o, p, files.path());
  add_repetition(c, done.sent_ns, done.arrivals);
}

void report(const options& o, std::vector<cell>& cells) {
  table lines{{"set-up", "transport", "samples", "lost", "p50", "p99", "p99 spread", "max"}};
  std::vector<json_value> objects;
  for (cell& c : cells) {
    if (c.ns.empty()) continue;
    const summary s = summarize(c.ns);
    const auto [low, high] = std::minmax_element(c.p99_us.begin(), c.p99_us.end());
    lines.push_back({name_of(c.what), std::string(to_string(c.transport)), std::to_string(s.count),
                     std::to_string(c.lost), us(s.p50), us(s.p99), us(*low) + ".." + us(*high), us(s.max)});
    objects.push_back({{"set_up", name_of(c.what)},
                       {"transport", to_string(c.transport)},
                       {"samples", s.count},
                       {"lost", c.lost},
                       {"p50_us", s.p50},
                       {"p99_us", s.p99},
                       {"max_us", s.max},
                       {"p99_us_of_repetitions", c.p99_us}});
  }
  std::fprintf(o.common.tables(), "\nOne-way latency in microseconds of %s at %g Hz beside %s at %g Hz\n\n",
               size_label(o.small_size).c_str(), o.small_hz, size_label(o.large_size).c_str(), o.large_hz);
  print(o.common.tables(), lines);
  if (!o.common.json.empty() && !write_text(o.common.json, to_json(objects)))
    throw std::runtime_error("cannot write " + o.common.json);
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  auto ends = channel::make();
  auto& here = ends.first;
  auto& there = ends.second;
  // Before this process has threads.
  const detail::child_process receiver = detail::child_process::run([&] {
    here.close();
    serve(there, o.common.cpus.second);
    return 0;
  });
  there.close();
  const auto broker = start_broker(files.ipc("broker"));
  pin_this_thread(o.common.cpus.first);
  std::vector<cell> cells;
  for (const auto transport : o.transports) {
    for (const set_up what : all_set_ups) cells.push_back({what, transport, {}, {}, 0});
  }
  for (int i = 0; i < o.repetitions && !interrupted(); ++i) {
    std::fprintf(stderr, "repetition %d of %d\n", i + 1, o.repetitions);
    for (cell& c : cells) {
      if (!interrupted()) measure(here, o, files, broker->endpoints().front(), c);
    }
  }
  here.close();
  report(o, cells);
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("The latency of a small topic beside a large one of the same participant, on ORC and on bare libzmq",
                   "head_of_line");
  options o;
  std::vector<std::string> transports{"ipc", "tcp"};
  std::string small = "100";
  std::string large = "10M";
  bool undeclared = false;
  add_transports(app, transports, "Of both topics").one_of({"ipc", "tcp"});
  app.add_option("--repetitions", o.repetitions, "Of every set-up, interleaved").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition and set-up").between(0.1, 600.0);
  add_size(app, "--small", small, "Bytes of the small topic");
  add_size(app, "--large", large, "Bytes of the large topic");
  app.add_option("--small-hz", o.small_hz, "Its rate").between(1.0, 1e5);
  app.add_option("--large-hz", o.large_hz, "Its rate").between(0.1, 1e5);
  app.add_flag("--undeclared", undeclared, "Do not tell ORC the expected sizes");
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    o.small_size = std::max(sizes_named({small})[0], sizeof(std::uint64_t));
    o.large_size = std::max(sizes_named({large})[0], sizeof(std::uint64_t));
    o.declared = !undeclared;
    return run(o);
  });
}
