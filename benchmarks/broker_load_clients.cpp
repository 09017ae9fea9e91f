#include "benchmarks/broker_load_clients.h"

#include <unistd.h>

#include <algorithm>

#include "base/process/process_identity.h"
#include "orc/type_description.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"

namespace orc::bench {
namespace {

constexpr std::int64_t beat_period_ns = 1'000'000'000;
constexpr std::uint64_t hello_request = 1;
constexpr std::uint64_t beat_request = 2;
constexpr std::uint64_t first_registration = 1000;  // + index of the publication
constexpr std::uint64_t first_storm_request = 1'000'000;

}  // namespace

control_client::control_client(const zmq_context& context, const std::string& broker, const std::string& name)
    : socket_(context, ZMQ_DEALER) {
  hello_.participant = wire::id::random();
  hello_.name = name;
  hello_.host = detail::host_identity();
  hello_.pid = static_cast<std::uint32_t>(::getpid());
  hello_.start_time = detail::process_start_time(hello_.pid).value_or(0);
  hello_.library = "broker_load";
  // As liborc's connection to its broker. The broker greets whoever connects, also after its restart.
  socket_.set(ZMQ_PROBE_ROUTER, 1);
  socket_.set(ZMQ_IMMEDIATE, 1);
  socket_.set(ZMQ_RECONNECT_IVL, 20);
  socket_.set(ZMQ_RECONNECT_IVL_MAX, 200);
  socket_.connect(broker);
}

bool control_client::meet(int within_ms) {
  if (!answer_to(0, within_ms)) return false;
  send(hello_request, hello_);
  return answer_to(hello_request, within_ms).has_value();
}

void control_client::send(std::uint64_t request, wire::body content) {
  const std::string bytes = wire::encode({request, std::move(content)});
  ::zmq_send(socket_.get(), bytes.data(), bytes.size(), ZMQ_DONTWAIT);
}

std::optional<wire::envelope> control_client::try_receive() {
  zmq_msg_t frame;
  zmq_msg_init(&frame);
  std::optional<wire::envelope> received;
  if (::zmq_msg_recv(&frame, socket_.get(), ZMQ_DONTWAIT) >= 0) {
    auto decoded = wire::decode({static_cast<const std::byte*>(zmq_msg_data(&frame)), zmq_msg_size(&frame)});
    if (decoded) received = *std::move(decoded);
  }
  zmq_msg_close(&frame);
  return received;
}

std::optional<wire::envelope> control_client::answer_to(std::uint64_t request, int within_ms) {
  const std::int64_t deadline = now_ns() + within_ms * std::int64_t{1'000'000};
  while (now_ns() < deadline) {
    while (auto message = try_receive()) {
      if (message->request == request && !std::holds_alternative<wire::probe>(message->content)) return message;
      if (std::holds_alternative<wire::probe>(message->content)) send(message->request, wire::alive{});
    }
    zmq_pollitem_t item{socket_.get(), 0, ZMQ_POLLIN, 0};
    ::zmq_poll(&item, 1, 100);
    if (interrupted()) break;
  }
  return std::nullopt;
}

struct fleet::member {
  member(const zmq_context& context, const std::string& broker, std::size_t index)
      : client(context, broker, "participant-" + std::to_string(index)) {}

  control_client client;
  struct owned {
    std::string topic;
    wire::id id;
    bool registered = false;
  };
  std::vector<owned> publications;
  bool known = false;
  std::int64_t next_beat_ns = 0;
  // While a storm lasts:
  std::vector<std::string> wanted;
  std::uint64_t storm_request = first_storm_request;
  std::int64_t asked_at_ns = 0;
};

fleet::fleet(const zmq_context& context, const std::vector<std::string>& brokers, std::size_t participants,
             std::size_t topics)
    : topics_(topics) {
  const std::int64_t now = now_ns();
  for (std::size_t i = 0; i < participants; ++i) {
    auto m = std::make_unique<member>(context, brokers[i % brokers.size()], i);
    for (std::size_t t = i; t < topics; t += participants)
      m->publications.push_back({topic(t), wire::id::random(), false});
    // Spread over the period, as independent processes are.
    m->next_beat_ns = now + static_cast<std::int64_t>(i) * beat_period_ns / static_cast<std::int64_t>(participants);
    members_.push_back(std::move(m));
  }
}

fleet::~fleet() = default;

std::string fleet::topic(std::size_t index) const { return "load/robot/topic." + std::to_string(index); }

std::size_t fleet::registered() const noexcept {
  std::size_t count = 0;
  for (const auto& m : members_) {
    count += static_cast<std::size_t>(
        std::count_if(m->publications.begin(), m->publications.end(), [](const auto& p) { return p.registered; }));
  }
  return count;
}

void fleet::forget_registrations() {
  for (const auto& m : members_) {
    m->known = false;
    for (auto& p : m->publications) p.registered = false;
  }
}

void fleet::declare(member& m) {
  static const wire::type_reference type{"geometry.Pose", "flatbuffer", "flatbuffer",
                                         hash_of({"geometry.Pose", "flatbuffer", "flatbuffer", ""}), 0};
  m.client.send(hello_request, m.client.hello());
  for (std::size_t i = 0; i < m.publications.size(); ++i) {
    const auto& p = m.publications[i];
    wire::register_topic registration;
    registration.topic = p.topic;
    registration.publication = p.id;
    registration.endpoints = {{wire::transport::inproc, "inproc://" + p.id.hex()},
                              {wire::transport::ipc, "ipc:///run/user/1000/orc/" + std::to_string(geteuid()) + "/" +
                                                         p.id.hex().substr(0, 16)},
                              {wire::transport::tcp, "tcp://127.0.0.1:40000"}};
    registration.type = type;
    m.client.send(first_registration + i, std::move(registration));
  }
}

void fleet::beat(member& m, std::int64_t now) {
  wire::heartbeat heartbeat;
  for (const auto& p : m.publications) {
    heartbeat.publications.push_back({p.id, static_cast<std::uint64_t>(now), 1000, 100'000, 0, 1});
  }
  m.client.send(beat_request, std::move(heartbeat));
}

void fleet::handle(member& m, const wire::envelope& message, std::vector<std::int64_t>* storm_ns) {
  if (std::holds_alternative<wire::welcome>(message.content)) {
    if (message.request == 0) declare(m);
    m.known = true;
  } else if (std::holds_alternative<wire::probe>(message.content)) {
    m.client.send(message.request, wire::alive{});
  } else if (const auto* error = std::get_if<wire::error>(&message.content)) {
    // Unknown: our hello is on its way.
    if (error->code != wire::error_code::unknown_participant) ++errors_;
  } else if (message.request >= first_storm_request) {
    if (message.request != m.storm_request || storm_ns == nullptr) return;
    storm_ns->push_back(now_ns() - m.asked_at_ns);
    next_request(m);
  } else if (message.request >= first_registration) {
    const std::size_t index = message.request - first_registration;
    if (index < m.publications.size()) m.publications[index].registered = true;
  }
}

std::int64_t fleet::beat_all(std::int64_t now) {
  std::int64_t next = now + beat_period_ns;
  for (const auto& m : members_) {
    if (m->next_beat_ns <= now) {
      if (m->known) beat(*m, now);
      m->next_beat_ns = std::max(m->next_beat_ns + beat_period_ns, now);
    }
    next = std::min(next, m->next_beat_ns);
  }
  return next;
}

void fleet::turn(int timeout_ms, std::vector<std::int64_t>* storm_ns) {
  std::vector<zmq_pollitem_t> items;
  items.reserve(members_.size());
  for (const auto& m : members_) items.push_back({m->client.socket(), 0, ZMQ_POLLIN, 0});
  if (::zmq_poll(items.data(), static_cast<int>(items.size()), timeout_ms) <= 0) return;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if ((items[i].revents & ZMQ_POLLIN) == 0) continue;
    // A bounded number, so that one talkative connection does not delay the others.
    for (int n = 0; n < 100; ++n) {
      const auto message = members_[i]->client.try_receive();
      if (!message) break;
      handle(*members_[i], *message, storm_ns);
    }
  }
}

bool fleet::run(double seconds, const std::function<bool()>& done) {
  const std::int64_t deadline = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  for (std::int64_t now = now_ns(); now < deadline && !interrupted(); now = now_ns()) {
    if (done()) return true;
    const std::int64_t next = std::min(beat_all(now), deadline);
    turn(static_cast<int>(std::clamp<std::int64_t>((next - now) / 1'000'000, 0, 50)), nullptr);
  }
  return done();
}

void fleet::next_request(member& m) {
  ++m.storm_request;
  if (m.wanted.empty()) return;
  m.asked_at_ns = now_ns();
  m.client.send(m.storm_request, wire::request_topic{m.wanted.back(), wire::id::random()});
  m.wanted.pop_back();
}

bool fleet::request_storm(std::size_t each, double seconds, std::vector<std::int64_t>& ns) {
  std::size_t next_topic = 0;
  for (const auto& m : members_) {
    m->wanted.clear();
    for (std::size_t i = 0; i < each; ++i) m->wanted.push_back(topic(next_topic = (next_topic + 7919) % topics_));
  }
  const std::size_t expected = ns.size() + each * members_.size();
  for (const auto& m : members_) next_request(*m);
  const std::int64_t deadline = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  while (ns.size() < expected && now_ns() < deadline && !interrupted()) {
    beat_all(now_ns());
    turn(10, &ns);
  }
  return ns.size() >= expected;
}

}  // namespace orc::bench
