// Part (b): 1 kB at 1 kHz through a link of 100 kB/s, ORC over tcp and libzmq's PUB/SUB. The link is a veth pair with a
// token bucket between two network namespaces; they belong to two processes of this benchmark and disappear with them,
// whatever ends it. Needs root, or user namespaces.
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "benchmarks/freshness.h"
#include "benchmarks/support/channel.h"
#include "benchmarks/support/own_network.h"
#include "benchmarks/support/private_broker.h"
#include "benchmarks/support/zmq_end.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"
#include "tools/support/summary.h"

namespace orc::bench {
namespace {

constexpr std::size_t sample_bytes = 1000;
constexpr std::int64_t period_ns = 1'000'000;
constexpr const char* topic = "throttled";
const std::string publisher_address = "10.99.0.1";
const std::string broker_endpoint = "tcp://" + publisher_address + ":5570";
const std::string stock_endpoint = "tcp://" + publisher_address + ":5571";

enum class kind : int { orc, stock, stock_conflate };
constexpr kind all_kinds[] = {kind::orc, kind::stock, kind::stock_conflate};

const char* name_of(kind k) {
  switch (k) {
    case kind::orc: return "ORC";
    case kind::stock: return "libzmq, default options";
    case kind::stock_conflate: return "libzmq, CONFLATE on both";
  }
  return "";
}

struct stamped {
  std::uint64_t index = 0;
  std::int64_t sent_ns = 0;
};

struct outcome {
  kind what{};
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  // during the stream
  double median_age_ms = 0;
  double p99_age_ms = 0;
  double last_after_ms = -1;  // from sending the last sample to its arrival; -1: it did not arrive
};

// ---- subscriber ----

// Takes samples until the last one has arrived, or the time for it is over. `receive` waits at most 20 ms.
template <class Receive>
outcome take_stream(channel& line, double wait_seconds, Receive receive) {
  outcome done;
  std::vector<std::int64_t> ages_ns;
  std::optional<stamped> last_sent;
  std::int64_t deadline = 0;
  for (;;) {
    stamped sample;
    if (receive(sample)) {
      const std::int64_t age = now_ns() - sample.sent_ns;
      if (!last_sent) ages_ns.push_back(age);
      if (last_sent && sample.index == last_sent->index) done.last_after_ms = static_cast<double>(age) / 1e6;
      done.sent = sample.index;  // the newest so far
    }
    if (!last_sent && line.readable(0)) {
      last_sent = line.get<stamped>();
      if (!last_sent) return done;
      deadline = last_sent->sent_ns + static_cast<std::int64_t>(wait_seconds * 1e9);
      if (done.sent == last_sent->index) done.last_after_ms = static_cast<double>(ages_ns.back()) / 1e6;
    }
    if (last_sent && (done.last_after_ms >= 0 || now_ns() > deadline)) break;
  }
  done.sent = last_sent->index;
  done.received = ages_ns.size();
  const summary s = summarize(ages_ns);
  done.median_age_ms = s.p50 / 1000;
  done.p99_age_ms = s.p99 / 1000;
  return done;
}

template <class Message>
bool unpack(const Message& message, stamped& sample) {
  if (!message || message.size() != sample_bytes) return false;
  std::memcpy(&sample, message.data(), sizeof sample);
  return true;
}

outcome subscribe_orc(channel& line, double wait_seconds) {
  orc::participant participant(participant_at(broker_endpoint, "freshness (receiver)"));
  request_options wish;
  wish.transports = {orc::transport::tcp};  // the file system is shared: ipc would go past the link
  wish.connected_within = std::chrono::milliseconds(connect_within_ms);
  const auto requested = participant.request_topic(topic, wish).result();
  if (!requested) std::fprintf(stderr, "receiver: %s\n", requested.error().message().c_str());
  line.put(static_cast<bool>(requested));
  auto in = participant.subscriber(topic);
  return take_stream(line, wait_seconds, [&](stamped& sample) { return unpack(in.recv(20), sample); });
}

outcome subscribe_stock(channel& line, double wait_seconds, bool conflate) {
  const zmq_context context;
  zmq_socket in(context, ZMQ_SUB);
  if (conflate) in.set(ZMQ_CONFLATE, 1);
  line.put(in.connect(stock_endpoint));
  return take_stream(line, wait_seconds, [&](stamped& sample) {
    zmq_pollitem_t readable{in.get(), 0, ZMQ_POLLIN, 0};
    zmq_message message;
    return ::zmq_poll(&readable, 1, 20) > 0 && message.receive(in.get(), ZMQ_DONTWAIT) && unpack(message, sample);
  });
}

// ---- publisher ----

// Sends the stream; returns its last sample.
template <class Send>
stamped send_stream(double seconds, Send send) {
  std::vector<std::byte> payload(sample_bytes, std::byte{0x5a});
  stamped sample;
  const auto count = static_cast<std::uint64_t>(seconds * 1e9 / static_cast<double>(period_ns));
  const std::int64_t start = now_ns();
  for (std::uint64_t i = 0; i < count; ++i) {
    sleep_until_ns(start + static_cast<std::int64_t>(i) * period_ns);
    sample = {i + 1, now_ns()};
    std::memcpy(payload.data(), &sample, sizeof sample);
    send(payload.data(), payload.size());
  }
  return sample;
}

outcome finish(channel& line, const stamped& last, double wait_seconds) {
  line.put(last);
  const auto done = line.get<outcome>(static_cast<int>(wait_seconds * 1000) + 10'000);
  if (!done) throw std::runtime_error("the receiver did not report");
  return *done;
}

void expect_open(channel& line) {
  const auto open = line.get<bool>(2 * connect_within_ms);
  if (!open || !*open) throw std::runtime_error("the receiver has no link");
}

outcome publish_orc(channel& line, const freshness_options& o) {
  const auto broker = start_broker(broker_endpoint);
  orc::participant participant(participant_at(broker_endpoint, "freshness"));
  topic_options offer;
  offer.transports = {orc::transport::tcp};
  if (const auto done = participant.register_topic(topic, offer).result(); !done)
    throw std::runtime_error(done.error().message());
  line.put(kind::orc);
  expect_open(line);
  auto out = participant.publisher(topic);
  const stamped last =
      send_stream(o.stream_seconds, [&](const std::byte* data, std::size_t size) { (void)out.send(data, size); });
  return finish(line, last, o.wait_seconds);
}

outcome publish_stock(channel& line, const freshness_options& o, kind what) {
  const zmq_context context;
  zmq_socket out(context, ZMQ_PUB);
  if (what == kind::stock_conflate) out.set(ZMQ_CONFLATE, 1);
  if (!out.bind(stock_endpoint)) throw std::runtime_error("cannot bind " + stock_endpoint);
  line.put(what);
  expect_open(line);
  sleep_until_ns(now_ns() + 500'000'000);  // PUB drops what it sends before the subscription arrived
  std::uint64_t sequence = 0;
  const stamped last = send_stream(
      o.stream_seconds, [&](const std::byte* data, std::size_t size) { send_sample(out, ++sequence, data, size); });
  return finish(line, last, o.wait_seconds);
}

// ---- the two namespaces ----

bool shell(const std::string& commands) {
  detail::child_process sh = detail::child_process::start({"/bin/sh", "-c", "PATH=$PATH:/usr/sbin:/sbin; " + commands});
  return sh.wait(std::chrono::seconds(10)) == 0;
}

int subscriber_process(channel& line, const freshness_options& o) {
  if (!line.put(::unshare(CLONE_NEWNET) == 0)) return 1;
  if (!line.get<bool>()) return 1;  // the link was made
  if (!line.put(shell("ip addr add 10.99.0.2/30 dev orc0 && ip link set orc0 up && ip link set lo up"))) return 1;
  while (const auto what = line.get<kind>()) {
    line.put(*what == kind::orc ? subscribe_orc(line, o.wait_seconds)
                                : subscribe_stock(line, o.wait_seconds, *what == kind::stock_conflate));
  }
  return 0;
}

std::string make_link(channel& line, pid_t subscriber, const freshness_options& o) {
  const auto apart = line.get<bool>(5000);
  if (!apart || !*apart) return "the second network namespace could not be made";
  const auto rate_bits = static_cast<std::uint64_t>(o.rate_bytes * 8);
  if (!shell("ip link set lo up && ip link add orc0 type veth peer name orc0 netns " + std::to_string(subscriber) +
             " && ip addr add " + publisher_address + "/30 dev orc0 && ip link set orc0 up && " +
             "tc qdisc add dev orc0 root tbf rate " + std::to_string(rate_bits) + "bit burst 3000 limit " +
             std::to_string(o.queue_bytes))) {
    return "ip or tc failed (are iproute2, veth and sch_tbf there?)";
  }
  line.put(true);
  const auto up = line.get<bool>(15'000);
  return up && *up ? "" : "the link did not come up";
}

struct report {
  bool failed = false;
  char why[300] = {};
  outcome result;
};

int publisher_process(channel& results, const freshness_options& o) {
  report r;
  const auto fail = [&](const std::string& why) {
    r.failed = true;
    std::snprintf(r.why, sizeof r.why, "%s", why.c_str());
    results.put(r);
    return 1;
  };
  if (!enter_own_network()) return fail(std::string("no network namespaces here: ") + std::strerror(errno));
  auto [here, there] = channel::make();
  const detail::child_process subscriber = detail::child_process::run([&, &near = here, &far = there] {
    near.close();
    return subscriber_process(far, o);
  });
  there.close();
  if (const std::string why = make_link(here, subscriber.pid(), o); !why.empty()) return fail(why);
  for (const kind what : all_kinds) {
    std::fprintf(stderr, "throttled link: %s\n", name_of(what));
    try {
      r.result = what == kind::orc ? publish_orc(here, o) : publish_stock(here, o, what);
    } catch (const std::exception& error) {
      return fail(std::string(name_of(what)) + ": " + error.what());
    }
    r.result.what = what;
    results.put(r);
  }
  return 0;
}

}  // namespace

bool run_throttled(const freshness_options& o, const scratch_dir&, std::vector<json_value>& rows) {
  auto [here, there] = channel::make();
  const detail::child_process publisher = detail::child_process::run([&, &near = here, &far = there] {
    near.close();
    return publisher_process(far, o);
  });
  there.close();
  table lines{{"throttled link", "sent", "received", "median age ms", "p99 age ms", "last sample after ms"}};
  std::string failure;
  for (std::size_t i = 0; i < std::size(all_kinds) && failure.empty() && !interrupted(); ++i) {
    while (!here.readable(200) && !interrupted()) {
    }
    const auto r = here.get<report>(0);
    if (!r || r->failed) {
      failure = r ? r->why : "it was ended";
      break;
    }
    const outcome& done = r->result;
    const std::string last =
        done.last_after_ms >= 0 ? fixed(done.last_after_ms, 1) : "not in " + fixed(o.wait_seconds, 0) + " s";
    lines.push_back({name_of(done.what), std::to_string(done.sent), std::to_string(done.received),
                     fixed(done.median_age_ms, 1), fixed(done.p99_age_ms, 1), last});
    rows.push_back({{"part", "throttled"},
                    {"set_up", name_of(done.what)},
                    {"sent", done.sent},
                    {"received", done.received},
                    {"median_age_ms", done.median_age_ms},
                    {"p99_age_ms", done.p99_age_ms},
                    {"last_after_ms", done.last_after_ms}});
  }
  std::fprintf(o.common.tables(), "\n1 kB at 1 kHz for %g s through %g kB/s with a queue of %zu bytes\n\n",
               o.stream_seconds, o.rate_bytes / 1000, o.queue_bytes);
  print(o.common.tables(), lines);
  if (!failure.empty()) std::fprintf(stderr, "throttled link: left out: %s\n", failure.c_str());
  return failure.empty() || interrupted();
}

}  // namespace orc::bench
