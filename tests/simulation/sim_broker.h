// A broker, the sessions of participants with it, and watches of its map, as a simulation needs them: leases,
// declarations that are repeated after an outage, and changes that arrive late.
#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "simulation/network.h"

namespace orc::test {

// Which topic: of the service itself (0), or of a client.
struct sim_topic {
  enum class kind : std::uint8_t { service, calls, replies } what = kind::service;
  std::uint64_t client = 0;
  auto operator<=>(const sim_topic&) const = default;
};

class sim_broker;

// A program's session. Its declarations stay until they are withdrawn, and are repeated when the broker may lack them.
class sim_session {
 public:
  // The state of a topic that was requested. `pushed`: as an event, not as an answer.
  using told = std::function<void(std::optional<std::uint64_t> publication, bool pushed)>;

  sim_session(sim_broker& broker, std::size_t host);
  ~sim_session();
  sim_session(const sim_session&) = delete;
  sim_session& operator=(const sim_session&) = delete;

  void declare(const sim_topic& topic, std::uint64_t publication);
  void withdraw(const sim_topic& topic);
  void request(const sim_topic& topic, told with);
  void release(const sim_topic& topic) { requests_.erase(topic); }
  // A stopped program says and hears nothing.
  void stop(bool stopped) noexcept { stopped_ = stopped; }

 private:
  friend class sim_broker;
  void step();
  void repeat_all();
  [[nodiscard]] bool reaches_broker() const;

  sim_broker& broker_;
  const std::size_t host_;
  std::map<sim_topic, std::uint64_t> declared_;
  std::map<sim_topic, told> requests_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // for events that come after it
  bool stopped_ = false;
  bool up_ = false;
  bool reconnects_ = false;
  bool was_reached_ = false;
  bool is_unsaid_ = false;  // a declaration or a request waits for the path
  scheduler::time lost_at_;
  std::set<sim_topic> late_;  // pushes that did not arrive yet
  scheduler::time told_at_;   // what the broker says comes in order
  // the broker's side
  bool is_known_ = false;
  scheduler::time heard_at_;
};

class sim_broker {
 public:
  static constexpr auto lease = std::chrono::milliseconds(3000);
  static constexpr auto step_every = std::chrono::milliseconds(200);
  static constexpr auto gives_up_after = std::chrono::milliseconds(1500);  // a connection without an answer

  sim_broker(sim_network& net, std::size_t host);

  struct entry {
    sim_session* by;
    std::uint64_t publication;
  };
  // Null: nobody publishes it.
  [[nodiscard]] const entry* find(const sim_topic& topic) const;
  [[nodiscard]] std::vector<std::pair<sim_topic, std::uint64_t>> all(sim_topic::kind what) const;
  [[nodiscard]] bool reachable_from(std::size_t host) const { return is_alive_ && net_.answers(host, host_); }
  void kill();
  void start() { is_alive_ = true; }

  // Of topics of a kind, from a program on `host`: changes, and the whole list after an outage.
  struct watch {
    std::size_t host = 0;
    sim_topic::kind what = sim_topic::kind::calls;
    std::function<void(const sim_topic&, std::optional<std::uint64_t>)> changed = {};
    std::function<void(const std::vector<std::pair<sim_topic, std::uint64_t>>&)> complete = {};
    bool stopped = false;  // the program
    bool up = false;
    bool reconnects = false;
    bool is_late = false;
    scheduler::time lost_at = {};
    scheduler::time told_at = {};
  };
  void add(std::shared_ptr<watch> of) { watches_.push_back(std::move(of)); }
  void remove(const std::shared_ptr<watch>& of) { std::erase(watches_, of); }

 private:
  friend class sim_session;
  void step();
  void step(const std::shared_ptr<watch>& each);
  [[nodiscard]] bool reaches(const watch& each) const { return !each.stopped && reachable_from(each.host); }
  void set(const sim_topic& topic, sim_session& by, std::uint64_t publication);
  void unset(const sim_topic& topic, const sim_session& by);
  void forget(sim_session& gone);
  void push(const sim_topic& topic);
  void tell(sim_session& to, const sim_topic& topic, bool pushed);
  [[nodiscard]] scheduler& time() noexcept { return net_.time(); }
  [[nodiscard]] scheduler::duration reconnection() {
    return time().between(std::chrono::milliseconds(20), std::chrono::milliseconds(700));
  }

  sim_network& net_;
  const std::size_t host_;
  bool is_alive_ = true;
  std::map<sim_topic, entry> map_;
  std::vector<sim_session*> sessions_;
  std::vector<std::shared_ptr<watch>> watches_;
};

}  // namespace orc::test
