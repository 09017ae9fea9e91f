#include "broker/address_broker.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <span>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/network/address_watch.h"
#include "base/threads/signals_blocked.h"
#include "broker/connections/broker_socket.h"
#include "broker/federation/beacon_socket.h"
#include "broker/federation/peer_links.h"
#include "broker/service/broker_service.h"

namespace orc {
namespace {

// After a check for which there was no memory.
constexpr std::chrono::milliseconds tick_again{100};

std::string name_of_this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "unnamed";
  return name.data();
}

broker_service_options service_options(const address_broker_options& from, broker_socket& socket, peer_links* links) {
  broker_service_options to;
  to.unread = [&socket](topic_map::routing connection) { return socket.has_unread(connection); };
  to.round_trip = [&socket](topic_map::routing connection) { return socket.round_trip(connection); };
  to.lease = from.lease;
  to.heartbeat = from.heartbeat;
  to.probe_timeout = from.probe_timeout;
  to.limits = from.limits;
  to.allowed_endpoints = from.allowed_endpoints;
  to.remote = socket.remote();
  to.peers = from.peers;
  to.peer_lease = from.peer_lease;
  to.host_name = from.host_name.empty() ? name_of_this_host() : from.host_name;
  if (links != nullptr) {
    to.send_to_peer = [links](std::size_t peer, const std::string& frame) { return links->send(peer, frame); };
    to.close_peer = [links](std::size_t peer, std::chrono::milliseconds pause) { links->close(peer, pause); };
    to.add_peer = [links](std::size_t peer, const std::string& endpoint) { links->add(peer, endpoint); };
    to.remove_peer = [links](std::size_t peer) { links->remove(peer); };
  }
  to.version = from.version;
  to.log = from.log;
  return to;
}

}  // namespace

class address_broker::loop final : broker_socket::owner, peer_links::owner, beacon_socket::owner {
 public:
  using clock = std::chrono::steady_clock;
  using routing = broker_socket::routing;

  // `links`: none without peers. `beacons`: none without discovery.
  loop(const address_broker_options& options, std::unique_ptr<broker_socket> socket, std::unique_ptr<peer_links> links,
       std::unique_ptr<beacon_socket> beacons)
      : period_(std::max(options.heartbeat, std::chrono::milliseconds(1))),
        socket_(std::move(socket)),
        links_(std::move(links)),
        beacons_(std::move(beacons)),
        endpoints_(socket_->endpoints()),
        log_(options.log),
        service_(
            service_options(options, *socket_, links_.get()),
            [this](routing to, const std::string& frame) { return socket_->send(to, frame); }, clock::now()),
        epoch_(service_.epoch()) {
    if (beacons_) beacons_->begin(epoch_);
    if (links_) addresses_.tick(clock::now());
    if (addresses_.fd() >= 0) (void)socket_->watch(addresses_.fd());
    const detail::signals_blocked inherited_by_the_thread;
    thread_ = std::thread([this] { run(); });
  }
  loop(const loop&) = delete;
  loop& operator=(const loop&) = delete;
  ~loop() { stop(); }

  void stop() {
    if (!thread_.joinable()) return;
    socket_->wake();
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
  void run() noexcept {
    next_tick_ = clock::now() + period_;
    while (socket_->turn(next_turn(), *this)) {
      follow_addresses(clock::now());
      if (links_) links_->turn(clock::now(), *this);
      if (beacons_) beacons_->turn(clock::now(), *this);
      run_timers();
      publish_statistics();
    }
  }

  // Peers must not wait until they find this broker silent at its old address.
  void follow_addresses(clock::time_point now) noexcept {
    addresses_.step(now);
    if (now < addresses_.due()) return;
    addresses_.done();
    if (links_) links_->follow_addresses(now, *this);
    if (beacons_) beacons_->hurry();
  }

  [[nodiscard]] clock::time_point next_turn() const noexcept {
    auto next = std::min({next_tick_, next_deadline_, addresses_.due()});
    if (links_) next = std::min(next, links_->next_deadline());
    if (beacons_) next = std::min(next, beacons_->next_deadline());
    return next;
  }

  void run_timers() noexcept {
    const auto now = clock::now();
    try {
      // A pause of this whole process (SIGSTOP, suspended machine, starvation) must not cost participants their lease.
      if (now - next_tick_ > period_) service_.held_up(now, std::chrono::ceil<topic_map::duration>(now - next_tick_));
      service_.turn(now);
      if (now >= next_tick_) {
        service_.tick(now);
        next_tick_ = now + period_;
      }
      next_deadline_ = service_.next_deadline().value_or(clock::time_point::max());
    } catch (const std::bad_alloc&) {
      next_tick_ = now + tick_again;
      next_deadline_ = next_tick_;
    }
  }

  // ---- called by the links to peer brokers ----

  void peer_ready(peer_links::key which, bool same_host) noexcept override {
    try {
      service_.peer_connected(which, same_host, clock::now());
    } catch (const std::bad_alloc&) {
      drop(which);
    }
  }

  void peer_received(peer_links::key which, std::span<const std::byte> frame) noexcept override {
    try {
      service_.receive_from_peer(which, frame, clock::now());
    } catch (const std::bad_alloc&) {
      drop(which);
    }
  }

  void peer_ended(peer_links::key which, std::string_view why) noexcept override {
    try {
      service_.peer_lost(which, why, clock::now());
    } catch (const std::bad_alloc&) {  // only the line of the log is lost
    }
  }

  void drop(peer_links::key which) noexcept {
    links_->close(which, peer_links::pause);
    peer_ended(which, "no memory");
  }

  void heard(const detail::ip_port& where, std::uint64_t epoch) noexcept override {
    try {
      service_.peer_discovered("tcp://" + where.text(), epoch, clock::now());
    } catch (const std::bad_alloc&) {  // the next beacon
    }
  }

  // ---- called by the socket ----

  void opened(routing from, const peer& who) override { service_.opened(from, who); }

  void received(routing from, std::span<const std::byte> frame) noexcept override {
    try {
      service_.receive(from, frame, clock::now());
      next_deadline_ = service_.next_deadline().value_or(clock::time_point::max());
    } catch (const std::bad_alloc&) {
      rejected("no memory for a message");  // the sender repeats it
    }
  }

  void closed(routing from) noexcept override {
    try {
      service_.closed(from, clock::now());
    } catch (const std::bad_alloc&) {  // the event is lost; participants that miss it repeat their requests
    }
  }

  void rejected(std::string_view why) noexcept override {
    try {
      service_.reject(why);
    } catch (const std::bad_alloc&) {  // it is counted, but the log has another reason
    }
  }

  void removed(const std::string& endpoint, const result& again) noexcept override {
    try {
      const std::string text = "the socket of " + endpoint + " was removed: " +
                               (again ? "listens there anew" : "cannot listen there: " + again.error().message());
      if (std::exchange(last_removal_, text) == text && !again) return;
      if (log_) log_(broker_log_level::warning, text);
    } catch (const std::bad_alloc&) {  // the line is lost
    }
  }

  [[nodiscard]] bool participates(routing from) const noexcept override {
    return service_.map().participant_at(from).has_value();
  }

  void publish_statistics() noexcept {
    const auto& counted = service_.counted();
    const auto& map = service_.map();
    const std::lock_guard lock(mutex_);
    statistics_ = {statistics_.passes + 1,   counted.messages,   counted.rejected,        counted.events,
                   counted.unsent,           counted.takeovers,  map.participant_count(), map.topic_count(),
                   map.subscription_count(), service_.peers_up()};
  }

  const std::chrono::milliseconds period_;
  std::unique_ptr<broker_socket> socket_;
  std::unique_ptr<peer_links> links_;
  std::unique_ptr<beacon_socket> beacons_;
  detail::address_watch addresses_;  // when there are peers
  const std::vector<std::string> endpoints_;
  const broker_log log_;
  std::string last_removal_;
  broker_service service_;
  const std::uint64_t epoch_;
  clock::time_point next_tick_{};
  clock::time_point next_deadline_ = clock::time_point::max();  // of the service's probes
  mutable std::mutex mutex_;
  statistics statistics_;
  std::thread thread_;  // last: everything that it uses exists before it starts
};

detail::expected<std::unique_ptr<address_broker>> address_broker::start(
    address_broker_options
        options) {  // NOLINT(performance-unnecessary-value-param): plain options, by value as they are given
  auto socket = broker_socket::open(options.listen, options.group);
  if (!socket) return socket.error();
  std::unique_ptr<peer_links> links;
  if (options.peers.size() > wire::max_peers)
    return error(errc::bad_argument, "more than " + std::to_string(wire::max_peers) + " peers");
  if (!options.peers.empty() || options.discover) {
    auto opened = peer_links::open(options.peers);
    if (!opened) return opened.error();
    links = *std::move(opened);
    if (!(*socket)->watch(links->fd())) return error(errc::system_error, "the system watches no more descriptors");
  }
  std::unique_ptr<beacon_socket> beacons;
  if (options.discover) {
    const auto port = (*socket)->remote_port();
    if (port == 0) {
      return error(errc::bad_argument,
                   "--discover: no other host reaches this broker: add --listen tcp://*:5570 or the like");
    }
    if (!wire::is_domain(options.domain))
      return error(errc::bad_argument, "--domain: a name has 1 to " + std::to_string(wire::max_domain) +
                                           " letters, digits, '-', '_' and '.'");
    auto opened = beacon_socket::open(port, options.domain);
    if (!opened) return opened.error();
    beacons = *std::move(opened);
    if (!(*socket)->watch(beacons->fd())) return error(errc::system_error, "the system watches no more descriptors");
  }
  try {
    auto running = std::make_unique<loop>(options, *std::move(socket), std::move(links), std::move(beacons));
    return std::unique_ptr<address_broker>(new address_broker(std::move(running)));
  } catch (const std::system_error& thrown) {
    return error(errc::system_error, std::string("cannot start the broker's thread: ") + thrown.what());
  }
}

address_broker::address_broker(std::unique_ptr<loop> running) : loop_(std::move(running)) {}
address_broker::~address_broker() = default;

const std::vector<std::string>& address_broker::endpoints() const noexcept { return loop_->endpoints(); }
std::uint64_t address_broker::epoch() const noexcept { return loop_->epoch(); }
address_broker::statistics address_broker::stats() const { return loop_->stats(); }
void address_broker::stop() { loop_->stop(); }

}  // namespace orc
