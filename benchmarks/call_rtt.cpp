// A call against the pub/sub round trip of the same size, and against a call written by hand on libzmq (DEALER and
// ROUTER), interleaved in one run between the same two processes (two threads for inproc), each pinned to a core.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/command_line.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/zmq_end.h"
#include "orc/calls.h"
#include "tools/support/interrupt.h"
#include "tools/support/json.h"
#include "tools/support/orc_end.h"
#include "tools/support/scratch_dir.h"
#include "tools/support/summary.h"
#include "tools/support/text.h"

namespace orc::bench {
namespace {

using untyped_result = call_result<std::vector<std::byte>>;

struct options {
  std::vector<orc::transport> transports;
  std::vector<std::size_t> sizes;
  int repetitions = 7;
  double seconds = 0.3;
  common_options common;
};

// One transport and size, as told to the other end.
struct cell {
  orc::transport transport{};
  std::size_t size = 0;
  unsigned number = 0;
  char broker[200] = {};
};
struct endpoint_name {
  char text[200] = {};
};
// What is measured. The other end need only be told of those whose echo runs in its own thread.
enum class subject : char { topics, call, zmq, end_of_cell };
enum class state : char { ready, failed, done };

[[nodiscard]] participant_options over(const cell& c, const char* name) {
  auto options = participant_at(c.broker, name);
  options.transports = {c.transport};
  return options;
}
[[nodiscard]] std::string service_of(const cell& c) { return "call_rtt/" + std::to_string(c.number); }
[[nodiscard]] orc_link link_of(const cell& c, const char* out, const char* in) {
  const std::string prefix = "rtt." + std::to_string(c.number) + ".";
  return {prefix + out, prefix + in, c.transport, c.size};
}

// A reply, for the loops of ping_pong.h.
class reply {
 public:
  explicit reply(untyped_result result) noexcept : result_(std::move(result)) {}
  explicit operator bool() const noexcept { return static_cast<bool>(result_); }
  [[nodiscard]] const std::byte* data() const noexcept { return result_.bytes().data(); }
  [[nodiscard]] std::size_t size() const noexcept { return result_.bytes().size(); }

 private:
  untyped_result result_;
};

class call_end {
 public:
  explicit call_end(const cell& c) : service_(service_of(c)), participant_(over(c, "call_rtt")) {}
  result open() { return participant_.wait_for_service(service_, std::chrono::milliseconds(connect_within_ms)); }
  bool send(const std::byte* data, std::size_t size) {
    call_ = participant_.call(service_, std::span(data, size), std::chrono::seconds(10));
    return true;
  }
  bool send_loaned(const std::byte*, std::size_t, std::size_t) { return false; }
  reply receive(wait_mode) { return reply(call_.get()); }

 private:
  std::string service_;
  participant participant_;
  call_future<std::vector<std::byte>> call_;
};

// A socket of a call by hand. The other end is a ROUTER, which sends each frame back with its sender's name.
class dealer_end {
 public:
  dealer_end(const zmq_context& context, const std::string& endpoint) : socket_(context, ZMQ_DEALER) {
    if (!socket_.connect(endpoint)) throw std::runtime_error("cannot connect a DEALER");
  }
  bool send(const std::byte* data, std::size_t size) { return send_sample(socket_, ++number_, data, size); }
  bool send_loaned(const std::byte*, std::size_t, std::size_t) { return false; }
  zmq_message receive(wait_mode) {
    zmq_message message;
    message.receive(socket_.get());
    return message;
  }

 private:
  zmq_socket socket_;
  std::uint64_t number_ = 0;
};

// Serves until a payload of no bytes comes.
[[nodiscard]] bool echo_router(const zmq_socket& router) {
  for (;;) {
    zmq_msg_t sender;
    ::zmq_msg_init(&sender);
    zmq_message request;
    const bool received = ::zmq_msg_recv(&sender, router.get(), 0) >= 0 && request.receive(router.get());
    if (!received || request.size() == 0) {
      ::zmq_msg_close(&sender);
      return received;
    }
    if (::zmq_msg_send(&sender, router.get(), ZMQ_SNDMORE) < 0) return false;
    if (!send_sample(router, request.header().sequence, request.data(), request.size())) return false;
  }
}

void serve_cell(channel& line, const cell& c, const zmq_context& context, const std::string& directory) {
  zmq_socket router(context, ZMQ_ROUTER);
  const std::string name = "router" + std::to_string(c.number);
  const bool bound = router.bind(c.transport == orc::transport::inproc ? "inproc://" + name
                                 : c.transport == orc::transport::tcp  ? "tcp://127.0.0.1:*"
                                                                       : "ipc://" + directory + "/" + name);
  endpoint_name where;
  std::snprintf(where.text, sizeof where.text, "%s", router.endpoint().c_str());
  line.put(where);
  participant server(over(c, "call_rtt (server)"));
  const auto service = server.serve(service_of(c), [](std::span<const std::byte> request, call_context& call) {
    std::memcpy(call.reply(request.size()).data(), request.data(), request.size());
    return std::vector<std::byte>();
  });
  orc_end topics(c.broker, "call_rtt (echo)", link_of(c, "pong", "ping"));
  const auto opened = topics.open();
  line.put(bound && opened && service.result() ? state::ready : state::failed);
  while (const auto next = line.get<subject>()) {
    if (*next == subject::end_of_cell) break;
    const bool served = *next == subject::call     ? true
                        : *next == subject::topics ? echo(topics, wait_mode::block, send_mode::copy)
                                                   : echo_router(router);
    line.put(served ? state::done : state::failed);
  }
}

void serve(channel& line, const zmq_context& context, int cpu, const std::string& directory) {
  pin_this_thread(cpu);
  while (const auto c = line.get<cell>()) serve_cell(line, *c, context, directory);
}

struct repetition {
  summary topics, call, zmq;
};
struct row {
  orc::transport transport{};
  std::size_t size = 0;
  std::vector<repetition> repetitions;
};

// The measuring end of one cell.
class caller {
 public:
  caller(channel& line, const cell& c, const zmq_context& context)
      : line_(line),
        payload_(c.size, std::byte{0x5a}),
        call_(c),
        topics_(c.broker, "call_rtt", link_of(c, "ping", "pong")) {
    line_.put(c);
    const auto router = line_.get<endpoint_name>(connect_within_ms);
    if (!router) throw std::runtime_error("the other end has no ROUTER");
    zmq_.emplace(context, router->text);
    if (const auto opened = topics_.open(); !opened) throw std::runtime_error(opened.error().message());
    const auto other = line_.get<state>(2 * connect_within_ms);
    if (!other || *other != state::ready) throw std::runtime_error("the other end is not ready");
    if (const auto opened = call_.open(); !opened) throw std::runtime_error(opened.error().message());
  }
  ~caller() { line_.put(subject::end_of_cell); }
  caller(const caller&) = delete;
  caller& operator=(const caller&) = delete;

  // The order turns, so that none always runs on what another one warmed up.
  std::optional<repetition> run(int turn, double seconds, const zmq_context& context) {
    repetition r;
    for (int step = 0; step < 3; ++step) {
      const auto which = static_cast<subject>((turn + step) % 3);
      const bool complete =
          which == subject::topics ? run_one(topics_, which, seconds, r.topics, [&] { topics_.close(); })
          : which == subject::call ? run_one(call_, which, seconds, r.call, [] {})
                                   : run_one(*zmq_, which, seconds, r.zmq, [&] { context.shut_down(); });
      if (!complete) return std::nullopt;
    }
    return r;
  }

 private:
  template <class End, class GiveUp>
  bool run_one(End& end, subject what, double seconds, summary& result, GiveUp give_up) {
    line_.put(what);
    std::vector<std::int64_t> ns;
    ns.reserve(200'000);
    std::atomic<std::uint64_t> progress{0};
    bool complete = false;
    {
      const watchdog watch(progress, give_up);
      const auto some = [&](std::uint64_t n) { return ping(end, payload_, n, wait_mode::block, progress, ns); };
      complete = warm_up_and_measure(some, seconds, 200'000, ns);
    }
    if (what != subject::call) (void)end.send(nullptr, 0);  // ends the echo, also after a failure
    const auto other = line_.get<state>(5000);
    if (!complete) return false;
    result = summarize(ns, 1);
    return other && *other == state::done;
  }

  channel& line_;
  std::vector<std::byte> payload_;
  call_end call_;
  orc_end topics_;
  std::optional<dealer_end> zmq_;
};

double middle(const row& r, summary repetition::*side, double summary::*which) {
  std::vector<double> values;
  for (const repetition& each : r.repetitions) values.push_back(each.*side.*which);
  return median(values);
}

// The median of each repetition's ratio.
double ratio(const row& r, summary repetition::*of, summary repetition::*to, double summary::*which) {
  std::vector<double> values;
  for (const repetition& each : r.repetitions) values.push_back(each.*of.*which / (each.*to.*which));
  return median(values);
}

void print_rows(std::FILE* to, const std::vector<row>& rows) {
  table lines{{"transport", "size", "call p50", "topics p50", "ratio", "zmq p50", "ratio", "call p99", "topics p99"}};
  for (const row& r : rows) {
    lines.push_back({std::string(to_string(r.transport)), size_label(r.size),
                     us(middle(r, &repetition::call, &summary::p50)), us(middle(r, &repetition::topics, &summary::p50)),
                     fixed(ratio(r, &repetition::call, &repetition::topics, &summary::p50)),
                     us(middle(r, &repetition::zmq, &summary::p50)),
                     fixed(ratio(r, &repetition::call, &repetition::zmq, &summary::p50)),
                     us(middle(r, &repetition::call, &summary::p99)),
                     us(middle(r, &repetition::topics, &summary::p99))});
  }
  std::fprintf(
      to,
      "\nRound trips, microseconds: a call, a sample and its echo over topics, DEALER and ROUTER of libzmq (over\n"
      "ipc where ORC uses shm). Medians of the repetitions, and of the ratios of each repetition\n\n");
  print(to, lines);
}

std::string rows_to_json(const std::vector<row>& rows) {
  std::vector<json_value> objects;
  for (const row& r : rows) {
    objects.push_back({{"transport", to_string(r.transport)},
                       {"size", r.size},
                       {"repetitions", r.repetitions.size()},
                       {"call_p50_us", middle(r, &repetition::call, &summary::p50)},
                       {"topics_p50_us", middle(r, &repetition::topics, &summary::p50)},
                       {"zmq_p50_us", middle(r, &repetition::zmq, &summary::p50)},
                       {"call_p99_us", middle(r, &repetition::call, &summary::p99)},
                       {"topics_p99_us", middle(r, &repetition::topics, &summary::p99)},
                       {"zmq_p99_us", middle(r, &repetition::zmq, &summary::p99)},
                       {"p50_ratio_to_topics", ratio(r, &repetition::call, &repetition::topics, &summary::p50)},
                       {"p50_ratio_to_zmq", ratio(r, &repetition::call, &repetition::zmq, &summary::p50)}});
  }
  return to_json(objects);
}

// All cells against one other end.
void measure(const options& o, channel& line, const std::vector<orc::transport>& transports, const zmq_context& context,
             const std::string& broker, std::vector<row>& rows) {
  for (const orc::transport transport : transports) {
    for (const std::size_t size : o.sizes) {
      if (interrupted()) return;
      cell c{transport, size, static_cast<unsigned>(rows.size() + 1), {}};
      std::snprintf(c.broker, sizeof c.broker, "%s", broker.c_str());
      std::fprintf(stderr, "%s %s\n", std::string(to_string(transport)).c_str(), size_label(size).c_str());
      row r{transport, size, {}};
      caller here(line, c, context);
      for (int i = 0; i < o.repetitions && !interrupted(); ++i) {
        const auto measured = here.run(i, o.seconds, context);
        if (!measured && !interrupted()) throw std::runtime_error("a reply did not come within 5 s");
        if (measured) r.repetitions.push_back(*measured);
      }
      if (!r.repetitions.empty()) rows.push_back(std::move(r));
    }
  }
}

int run(options& o) {
  o.common.settle();
  const interruptible in_order;
  const scratch_dir files;
  o.common.print_machine();
  auto [here, there] = channel::make();
  // Before this process has threads.
  detail::child_process other = detail::child_process::run([&, &here = here, &there = there] {
    here.close();
    const zmq_context context;
    serve(there, context, o.common.cpus.second, files.path());
    return 0;
  });
  there.close();
  const auto broker = start_broker(files.ipc("broker"));
  pin_this_thread(o.common.cpus.first);
  std::vector<orc::transport> between_threads;
  std::vector<orc::transport> between_processes;
  for (const auto t : o.transports) (t == orc::transport::inproc ? between_threads : between_processes).push_back(t);
  std::vector<row> rows;
  const std::string endpoint = broker->endpoints().front();
  {
    const zmq_context context;
    auto [near, far] = channel::make();
    std::thread thread([&, &far = far] { serve(far, context, o.common.cpus.second, files.path()); });
    try {
      measure(o, near, between_threads, context, endpoint, rows);
    } catch (...) {
      context.shut_down();
      near.close();
      thread.join();
      throw;
    }
    near.close();
    thread.join();
  }
  {
    const zmq_context context;
    measure(o, here, between_processes, context, endpoint, rows);
  }
  here.close();
  print_rows(o.common.tables(), rows);
  if (!o.common.json.empty() && !write_text(o.common.json, rows_to_json(rows))) return 1;
  return interrupted() ? interrupted_exit_code() : 0;
}

}  // namespace
}  // namespace orc::bench

int main(int argc, char** argv) {
  using namespace orc::bench;
  command_line app("A call against the round trip over topics and against a call by hand on libzmq, interleaved",
                   "call_rtt");
  options o;
  std::vector<std::string> transports{"inproc", "ipc", "tcp", "shm"};
  std::vector<std::string> sizes{"10", "1k", "100k", "1M"};
  add_transports(app, transports, "inproc, ipc, tcp, shm");
  add_size(app, "--size", sizes, "Bytes per request and reply");
  app.add_option("--repetitions", o.repetitions, "Of each, in turn").between(1, 1000);
  app.add_option("--seconds", o.seconds, "Per repetition and subject").between(0.01, 600.0);
  o.common.add_to(app);
  return main_of(app, argc, argv, [&] {
    o.transports = transports_named(transports);
    o.sizes = sizes_named(sizes);
    return run(o);
  });
}
