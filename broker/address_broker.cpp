#include "address_broker.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "broker_service.h"
#include "broker_socket.h"

namespace orc {
namespace {

// So many messages are read before the timers get their turn: a flood must not stop the leases.
constexpr int messages_per_pass = 4'096;

broker_service_options service_options(const address_broker_options& from, bool remote) {
  broker_service_options to;
  to.lease = from.lease;
  to.heartbeat = from.heartbeat;
  to.probe_timeout = from.probe_timeout;
  to.limits = from.limits;
  to.remote = remote;
  to.version = from.version;
  to.log = from.log;
  return to;
}

// Signals are for the program's own threads.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

class address_broker::loop {
 public:
  using clock = std::chrono::steady_clock;

  loop(const address_broker_options& options, std::unique_ptr<broker_socket> socket, int wake)
      : period_(std::max(options.heartbeat, std::chrono::milliseconds(1))),
        wake_(wake),
        socket_(std::move(socket)),
        endpoints_(socket_->endpoints()),
        service_(
            service_options(options, socket_->remote()),
            [this](const std::string& to, const std::string& frame) {
              // A connection that is gone says Hello again when it is back: nothing is lost.
              return socket_->send(to, frame) != broker_socket::sent::slow;
            },
            clock::now()),
        epoch_(service_.epoch()) {
    const signals_blocked inherited_by_the_thread;
    thread_ = std::thread([this] { run(); });
  }
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  ~loop() {
    stop();
    close(wake_);
  }

  void stop() {
    if (!thread_.joinable()) return;
    eventfd_write(wake_, 1);
    thread_.join();
    socket_.reset();
  }

  [[nodiscard]] const std::vector<std::string>& endpoints() const noexcept { return endpoints_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  [[nodiscard]] statistics stats() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  void run() {
    auto next_tick = clock::now() + period_;
    while (wait(next_tick)) {
      read_messages();
      const auto now = clock::now();
      service_.settle_overdue_probes(now);
      if (now >= next_tick) {
        // A pause of this whole process (SIGSTOP, suspended machine, starvation) is not the participants' fault.
        if (now - next_tick > period_) service_.held_up(now);
        service_.tick(now);
        next_tick = now + period_;
      }
      publish_statistics();
    }
  }

  // False: time to end.
  bool wait(clock::time_point next_tick) {
    const auto deadline = std::min(next_tick, service_.next_deadline().value_or(next_tick));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now()).count();
    zmq_pollitem_t items[] = {{socket_->handle(), 0, ZMQ_POLLIN, 0}, {nullptr, wake_, ZMQ_POLLIN, 0}};
    zmq_poll(items, 2, std::max<long>(left, 0));  // fails with EINTR only, which is a turn with nothing to do
    return (items[1].revents & ZMQ_POLLIN) == 0;
  }

  void read_messages() {
    zmq::message_t frame;
    std::string from;
    for (int i = 0; i < messages_per_pass; ++i) {
      switch (socket_->receive(from, frame)) {
        case broker_socket::received::nothing: return;
        case broker_socket::received::dropped: service_.reject("a message of several frames"); break;
        case broker_socket::received::frame: receive(from, frame); break;
      }
    }
  }

  void receive(const std::string& from, const zmq::message_t& frame) {
    try {
      service_.receive(from, {static_cast<const std::byte*>(frame.data()), frame.size()}, clock::now());
    } catch (const std::bad_alloc&) {
      service_.reject("no memory for a message");  // the sender asks again
    }
  }

  void publish_statistics() {
    const auto& counted = service_.counted();
    const auto& map = service_.map();
    const std::lock_guard lock(mutex_);
    statistics_ = {statistics_.passes + 1,  counted.messages,  counted.rejected,
                   counted.events,          counted.unsent,    counted.takeovers,
                   map.participant_count(), map.topic_count(), map.subscription_count()};
  }

  const std::chrono::milliseconds period_;
  const int wake_;
  std::unique_ptr<broker_socket> socket_;
  const std::vector<std::string> endpoints_;
  broker_service service_;
  const std::uint64_t epoch_;
  mutable std::mutex mutex_;
  statistics statistics_;
  std::thread thread_;  // last: everything it uses exists before it starts
};

std::variant<std::unique_ptr<address_broker>, std::string> address_broker::start(
    address_broker_options
        options) {  // NOLINT(performance-unnecessary-value-param): plain options, by value as they are given
  auto socket = broker_socket::open(options.listen);
  if (auto* wrong = std::get_if<std::string>(&socket)) return std::move(*wrong);
  const int wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake < 0) return "cannot make an eventfd: too many open files: raise the limit with ulimit -n";
  try {
    auto running = std::make_unique<loop>(options, std::move(std::get<0>(socket)), wake);
    return std::unique_ptr<address_broker>(new address_broker(std::move(running)));
  } catch (const std::system_error& error) {
    close(wake);
    return std::string("cannot start the broker's thread: ") + error.what();
  }
}

address_broker::address_broker(std::unique_ptr<loop> running) : loop_(std::move(running)) {}
address_broker::~address_broker() = default;

const std::vector<std::string>& address_broker::endpoints() const noexcept { return loop_->endpoints(); }
std::uint64_t address_broker::epoch() const noexcept { return loop_->epoch(); }
address_broker::statistics address_broker::stats() const { return loop_->stats(); }
void address_broker::stop() { loop_->stop(); }

}  // namespace orc
