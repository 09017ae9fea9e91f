// Brokers of several hosts without sockets: the time is made up, and each message takes a time drawn at random. The
// same seed draws the same run.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "broker/service/broker_service.h"
#include "wire/control.h"

namespace orc::test {

// One thread. No connection is up at first.
class broker_mesh {
 public:
  using time = broker_service::time;
  using duration = std::chrono::milliseconds;

  broker_mesh(std::size_t brokers, unsigned seed, duration most_delay) : random_(seed), most_delay_(most_delay) {
    for (std::size_t n = 0; n < brokers; ++n) brokers_.push_back(make_broker(n, brokers));
    next_tick_.resize(brokers, now_);
  }

  // Both ways, each at a time of its own within `within`. Lost connections are made again.
  void join(std::size_t one, std::size_t other, duration within = {}) {
    for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
      at(now_ + drawn(within), [this, from = from, to = to] {
        links_[{from, to}].allowed = true;
        connect(from, to);
      });
    }
  }
  void part(std::size_t one, std::size_t other) {
    for (const auto& [from, to] : {std::pair(one, other), std::pair(other, one)}) {
      links_[{from, to}].allowed = false;
      cut(from, to);
    }
  }
  // The connection ends, with what is on its way. It is made again.
  void cut(std::size_t from, std::size_t to) {
    if (!links_[{from, to}].up) return;
    drop(from, to);
    brokers_[from]->peer_lost(to, "cut", now_);
    later_connect(from, to, duration(500));
  }

  // A program on one host that publishes one topic for as long as it has not left, as liborc does.
  class program {
   public:
    program(broker_mesh& where, std::size_t host, std::string topic)
        : where_(where),
          host_(host),
          topic_(std::move(topic)),
          route_(where.open([this](topic_map::routing, const wire::envelope& message) { receive(message); })) {
      say_hello();
      beat();
    }
    program(const program&) = delete;
    program& operator=(const program&) = delete;
    [[nodiscard]] bool holds() const { return holds_; }
    [[nodiscard]] const std::string& refusal() const { return refusal_; }
    [[nodiscard]] wire::id id() const { return id_; }
    void leave() {
      left_ = true;
      holds_ = false;
      where_.tell(host_, route_, {1, wire::goodbye{}});
    }

   private:
    friend class broker_mesh;
    void say_hello() {
      where_.tell(host_, route_,
                  {2, wire::hello{self_, "program", "host" + std::to_string(host_), 1, 1, "", {7, route_}}});
      ask();
    }
    void ask() {
      const auto address = "tcp://192.0.2." + std::to_string(host_ + 1) + ":4000";
      where_.tell(host_, route_, {3, wire::register_topic{topic_, id_, {{wire::transport::tcp, address}}, {}}});
    }
    void beat() {
      if (left_) return;
      where_.tell(host_, route_, {4, wire::heartbeat{}});
      where_.at(where_.now_ + duration(1'000), [this] { beat(); });
    }
    void receive(const wire::envelope& message) {
      if (left_) return;
      if (const auto* const wrong = std::get_if<wire::error>(&message.content)) {
        if (wrong->code == wire::error_code::unknown_participant && message.request == 4) {
          holds_ = false;
          say_hello();
        } else if (wrong->code == wire::error_code::name_taken) {
          holds_ = false;
          refusal_ = wrong->text;
          where_.at(where_.now_ + duration(2'000), [this] {
            if (!left_) ask();
          });
        }
      } else if (message.request == 3) {
        holds_ = true;
      }
    }

    broker_mesh& where_;
    const std::size_t host_;
    const std::string topic_;
    const topic_map::routing route_;
    const wire::id self_ = where_.drawn_id();
    const wire::id id_ = where_.drawn_id();
    bool holds_ = false;
    bool left_ = false;
    std::string refusal_;
  };

  // A program that names several brokers and follows the rules of liborc's session: it uses the first that answers,
  // leaves one whose connection ends, and goes back to an earlier one that accepts its Hello.
  class traveller {
   public:
    traveller(broker_mesh& where, std::size_t host, std::string topic, std::vector<std::size_t> brokers)
        : where_(where), host_(host), topic_(std::move(topic)), brokers_(std::move(brokers)), paths_(brokers_.size()) {
      step();
    }
    traveller(const traveller&) = delete;
    traveller& operator=(const traveller&) = delete;
    [[nodiscard]] bool holds() const { return holds_; }
    [[nodiscard]] bool is_at_first() const { return at_ == 0; }
    [[nodiscard]] wire::id id() const { return id_; }
    // The path to one of its brokers, in its order. A path that fails ends the connection at this end only.
    void set_path(std::size_t which, bool open) {
      if (!open) paths_[which].route = 0;
      paths_[which].open = open;
    }

   private:
    struct path {
      bool open = true;
      topic_map::routing route = 0;  // 0: no connection
      unsigned run = 0;              // of the broker
      bool joined = false;
      time next_beat{};
      std::optional<time> goodbye_at = std::nullopt;
    };

    void step() {
      for (std::size_t n = 0; n < paths_.size(); ++n) {
        if (paths_[n].run != where_.runs_[brokers_[n]]) paths_[n].route = 0;
      }
      if (at_ && paths_[*at_].route == 0) at_.reset();  // lost
      holds_ = holds_ && at_;
      for (std::size_t n = 0; n < paths_.size(); ++n) {
        path& one = paths_[n];
        if (one.route == 0) one.joined = false, one.goodbye_at.reset();
        if (one.goodbye_at && *one.goodbye_at <= where_.now_) {
          say(n, {5, wire::goodbye{}});
          one = {.open = one.open};
        }
        const bool is_best = std::none_of(paths_.begin(), paths_.begin() + static_cast<std::ptrdiff_t>(n),
                                          [](const path& each) { return each.open; });
        const bool wanted = !one.goodbye_at && (at_ ? n < *at_ : is_best);
        if (one.open && one.route == 0 && wanted) connect(n);
        if (one.joined && at_ == n && one.next_beat <= where_.now_) {
          one.next_beat = where_.now_ + duration(1'000);
          say(n, {4, wire::heartbeat{}});
        }
      }
      if (at_ && ask_at_ <= where_.now_) ask();
      where_.at(where_.now_ + duration(100), [this] { step(); });
    }
    void connect(std::size_t which) {
      const auto route = where_.open([this, which](topic_map::routing from, const wire::envelope& message) {
        if (paths_[which].route == from) receive(which, message);
      });
      paths_[which].route = route;
      paths_[which].run = where_.runs_[brokers_[which]];
      say(which, {2, wire::hello{self_, "traveller", "host" + std::to_string(host_), 1, 1, "", {7, self_.lo}}});
    }
    void ask() {
      ask_at_ = where_.now_ + duration(2'000);
      const auto address = "tcp://192.0.2." + std::to_string(host_ + 1) + ":4000";
      say(*at_, {3, wire::register_topic{topic_, id_, {{wire::transport::tcp, address}}, {}}});
    }
    void say(std::size_t which, const wire::envelope& message) {
      where_.tell(brokers_[which], paths_[which].route, message, host_);
    }
    void receive(std::size_t which, const wire::envelope& message) {
      path& one = paths_[which];
      const auto* const wrong = std::get_if<wire::error>(&message.content);
      const bool is_unknown = wrong != nullptr && wrong->code == wire::error_code::unknown_participant;
      if (is_unknown && at_ == which) {
        holds_ = false;
        one.route = 0;  // it begins anew
      } else if (message.request == 2 && wrong == nullptr && (!at_ || which < *at_)) {
        if (at_) paths_[*at_].goodbye_at = where_.now_ + duration(1'000);
        at_ = which;
        one.joined = true;
        one.goodbye_at.reset();
        ask();
      } else if (message.request == 3 && at_ == which) {
        holds_ = wrong == nullptr;
        if (holds_) ask_at_ = time::max();
      } else if (message.request == 0 && std::holds_alternative<wire::probe>(message.content)) {
        say(which, {message.request, wire::alive{}});
      }
    }

    broker_mesh& where_;
    const std::size_t host_;
    const std::string topic_;
    const std::vector<std::size_t> brokers_;
    std::vector<path> paths_;
    std::optional<std::size_t> at_;
    time ask_at_ = time::max();
    const wire::id self_ = where_.drawn_id();
    const wire::id id_ = where_.drawn_id();
    bool holds_ = false;
  };

  // Kills a broker and starts it again: another run, which knows nothing.
  void restart(std::size_t which) {
    for (std::size_t other = 0; other < brokers_.size(); ++other) {
      if (other == which) continue;
      drop(which, other);
      cut(other, which);
    }
    brokers_[which] = make_broker(which, brokers_.size());
    ++runs_[which];
    for (std::size_t other = 0; other < brokers_.size(); ++other) later_connect(which, other, duration(100));
  }

  void run(duration how_long) {
    const auto end = now_ + how_long;
    while (now_ < end) {
      while (!events_.empty() && events_.top().at <= now_) {
        const auto what = events_.top().what;
        events_.pop();
        what();
      }
      auto next = end;
      for (std::size_t n = 0; n < brokers_.size(); ++n) {
        auto& broker = *brokers_[n];
        if (next_tick_[n] <= now_) {
          broker.tick(now_);
          next_tick_[n] = now_ + duration(1'000);
        }
        if (const auto due = broker.next_deadline(); due && *due <= now_) broker.turn(now_);
        next = std::min({next, next_tick_[n], broker.next_deadline().value_or(end)});
      }
      if (!events_.empty()) next = std::min(next, events_.top().at);
      now_ = std::max(next, now_ + std::chrono::microseconds(100));
    }
  }

  [[nodiscard]] broker_service& broker(std::size_t n) { return *brokers_[n]; }
  // The publication of a topic as one broker sees it.
  [[nodiscard]] std::optional<wire::publication_info> seen(std::size_t broker, const std::string& topic) const {
    const auto state = brokers_[broker]->map().describe({topic, {}}, now_);
    return state ? state->publication : std::nullopt;
  }
  [[nodiscard]] duration drawn(duration most) {
    return duration(std::uniform_int_distribution<std::int64_t>(0, most.count())(random_));
  }
  [[nodiscard]] std::size_t drawn(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  [[nodiscard]] wire::id drawn_id() { return {drawn_number(), drawn_number()}; }

 private:
  std::uint64_t drawn_number() { return std::uniform_int_distribution<std::uint64_t>(1)(random_); }

  struct event {
    time at;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const event& other) const {  // the queue has the greatest first
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  // From the broker that asks to the one that answers.
  struct link {
    bool allowed = false;
    bool up = false;
    topic_map::routing route = 0;
    time last_there{};  // messages keep their order
    time last_back{};
  };

  std::unique_ptr<broker_service> make_broker(std::size_t n, std::size_t count) {
    broker_service_options options;
    options.host = "broker" + std::to_string(n);
    options.host_name = "host" + std::to_string(n);
    options.epoch = drawn_number();  // it says who decides, so a seed draws it too
    for (std::size_t each = 0; each < count; ++each) options.peers.push_back("tcp://broker" + std::to_string(each));
    options.send_to_peer = [this, n](peer_reports::peer_key to, const std::string& frame) { return ask(n, to, frame); };
    options.close_peer = [this, n](peer_reports::peer_key which, topic_map::duration pause) {
      drop(n, which);
      later_connect(n, which, std::max(pause, duration(500)));
    };
    return std::make_unique<broker_service>(
        std::move(options), [this](topic_map::routing to, const std::string& frame) { return answer(to, frame); },
        now_);
  }

  void at(time when, std::function<void()> what) { events_.push({when, ++order_, std::move(what)}); }
  void later_connect(std::size_t from, std::size_t to, duration pause) {
    at(now_ + pause, [this, from, to] { connect(from, to); });
  }
  void connect(std::size_t from, std::size_t to) {
    auto& one = links_[{from, to}];
    if (!one.allowed || one.up) return;
    one.up = true;
    one.route = ++last_route_;
    asking_[one.route] = {from, to};
    brokers_[to]->opened(
        one.route,
        {.way = peer::via::tcp, .uid = 0, .pid = 0, .directory = {}, .address = "192.0.2." + std::to_string(from + 1)});
    brokers_[from]->peer_connected(to, false, now_);
  }
  void drop(std::size_t from, std::size_t to) {
    auto& one = links_[{from, to}];
    if (!std::exchange(one.up, false)) return;
    asking_.erase(one.route);
    brokers_[to]->closed(one.route, now_);
  }
  static std::span<const std::byte> bytes(const std::string& frame) { return std::as_bytes(std::span(frame)); }
  time arrival(time& last) { return last = std::max(last, now_ + drawn(most_delay_)); }

  bool ask(std::size_t from, std::size_t to, const std::string& frame) {
    auto& one = links_[{from, to}];
    if (!one.up) return false;
    at(arrival(one.last_there), [this, to, route = one.route, frame] {
      if (asking_.contains(route)) brokers_[to]->receive(route, bytes(frame), now_);
    });
    return true;
  }
  bool answer(topic_map::routing route, const std::string& frame) {
    if (const auto which = asking_.find(route); which != asking_.end()) {
      const auto [from, to] = which->second;
      at(arrival(links_[{from, to}].last_back), [this, from = from, to = to, route, frame] {
        if (asking_.contains(route)) brokers_[from]->receive_from_peer(to, bytes(frame), now_);
      });
    } else if (const auto who = programs_.find(route); who != programs_.end()) {
      at(now_, [who = who->second, route, message = *wire::decode(bytes(frame))] { who(route, message); });
    }
    return true;
  }

  using hears = std::function<void(topic_map::routing, const wire::envelope&)>;
  topic_map::routing open(hears who) {
    programs_[++last_route_] = std::move(who);
    return last_route_;
  }
  void tell(std::size_t host, topic_map::routing route, const wire::envelope& message) {
    tell(host, route, message, host);
  }
  void tell(std::size_t host, topic_map::routing route, const wire::envelope& message, std::size_t from) {
    if (opened_.insert({route, true}).second)
      brokers_[host]->opened(route, {.way = peer::via::tcp,
                                     .uid = 0,
                                     .pid = 0,
                                     .directory = {},
                                     .address = "192.0.2." + std::to_string(from + 1)});
    brokers_[host]->receive(route, bytes(wire::encode(message)), now_);
  }

  std::mt19937 random_;
  const duration most_delay_;
  time now_ = time{} + std::chrono::hours(1);
  std::priority_queue<event> events_;
  std::uint64_t order_ = 0;
  topic_map::routing last_route_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, link> links_;
  std::map<topic_map::routing, std::pair<std::size_t, std::size_t>> asking_;
  std::map<topic_map::routing, hears> programs_;
  std::map<topic_map::routing, bool> opened_;
  std::vector<std::unique_ptr<broker_service>> brokers_;
  std::vector<time> next_tick_;
  std::map<std::size_t, unsigned> runs_;  // restarts of each broker
};

}  // namespace orc::test
