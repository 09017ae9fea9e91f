// The echo test of the LCM paper (section 4): a source sends at a rate, one or more clients send back what they get.
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "benchmarks/lcm_echo.h"
#include "benchmarks/support/lcm_end.h"
#include "tools/support/orc_end.h"

namespace orc::bench {

namespace {

constexpr int queue_depth = 1000;  // of both implementations, so that the test is not about it
constexpr std::size_t max_at_a_time = 64;
constexpr std::int64_t quiet_ns = 100'000'000;  // what is not back after a silence of that length is lost

// In front of each message.
struct mark {
  std::uint64_t number = 0;
  std::int64_t sent_ns = 0;
};
constexpr std::uint64_t probe = ~std::uint64_t{0};

std::string ping() { return "ECHO"; }
std::string pong(int client) { return "ECHO_REPLY_" + std::to_string(client); }

// Sends on one channel, receives from several: use(index of the channel, data, size).
class lcm_side {
 public:
  lcm_side(const echo_options& o, std::string out, const std::vector<std::string>& in)
      : lcm_(o.url(implementation::lcm)), out_(std::move(out)) {
    for (std::size_t i = 0; i < in.size(); ++i)
      channels_.push_back(std::make_unique<channel_index>(channel_index{this, i}));
    for (std::size_t i = 0; i < in.size(); ++i) lcm_.subscribe(in[i], &on_message, channels_[i].get(), queue_depth);
  }
  bool send(const std::byte* data, std::size_t size) noexcept { return lcm_.publish(out_, data, size); }
  [[nodiscard]] std::vector<int> fds() const { return {::lcm_get_fileno(lcm_.get())}; }
  template <class Use>
  void take_ready(Use use) {
    for (std::size_t n = 0; n<max_at_a_time&& ::lcm_handle_timeout(lcm_.get(), 0)> 0; ++n) hand_to(use);
  }
  template <class Use>
  bool take_one(Use use) {
    while (!arrived_) {
      if (::lcm_handle(lcm_.get()) != 0) return false;
    }
    hand_to(use);
    return true;
  }

 private:
  struct channel_index {
    lcm_side* side;
    std::size_t index;
  };
  static void on_message(const lcm_recv_buf_t* got, const char*, void* at) {
    const auto* const where = static_cast<const channel_index*>(at);
    const auto* const bytes = static_cast<const std::byte*>(got->data);
    where->side->index_ = where->index;
    where->side->received_.assign(bytes, bytes + got->data_size);
    where->side->arrived_ = true;
  }
  template <class Use>
  void hand_to(Use& use) {
    if (!std::exchange(arrived_, false)) return;  // it was for none of our channels: liblcm tests itself
    use(index_, received_.data(), received_.size());
  }

  lcm_handle_t lcm_;
  const std::string out_;
  std::vector<std::unique_ptr<channel_index>> channels_;
  std::size_t index_ = 0;
  std::vector<std::byte> received_;
  bool arrived_ = false;
};

class orc_side {
 public:
  orc_side(const echo_options&, const std::string& out, const std::vector<std::string>& in)
      : participant_(participant_at("none", "lcm_echo")) {
    out_ = participant_.register_topic(out, {.transports = {orc::transport::multicast}});
    check(out_.result());
    for (const std::string& each : in) {
      in_.push_back(participant_.request_topic(
          each, {.conflate = 0, .depth = queue_depth, .transports = {orc::transport::multicast}}));
      check(in_.back().result());
    }
  }
  bool send(const std::byte* data, std::size_t size) noexcept { return static_cast<bool>(out_.send(data, size)); }
  [[nodiscard]] std::vector<int> fds() {
    std::vector<int> all;
    for (auto& each : in_) all.push_back(each.fd());
    return all;
  }
  template <class Use>
  void take_ready(Use use) {
    for (std::size_t i = 0; i < in_.size(); ++i) {
      for (std::size_t n = 0; n < max_at_a_time; ++n) {
        const message got = in_[i].recv(0);
        if (!got) break;
        use(i, static_cast<const std::byte*>(got.data()), got.size());
      }
    }
  }
  template <class Use>
  bool take_one(Use use) {
    const message got = in_.front().recv(-1);
    if (got) use(std::size_t{0}, static_cast<const std::byte*>(got.data()), got.size());
    return static_cast<bool>(got);
  }

 private:
  static void check(const result& done) {
    if (!done) throw std::runtime_error(done.error().message());
  }
  orc::participant participant_;
  orc::publisher out_;
  std::vector<orc::subscriber> in_;
};

template <class Side>
class source {
 public:
  source(const echo_options& o, std::size_t clients, double hz)
      : side_(o, ping(), replies(clients)),
        payload_(std::max(o.size, sizeof(mark)), std::byte{0x5a}),
        count_(static_cast<std::uint64_t>(hz * o.seconds)),
        period_ns_(1e9 / hz),
        seen_(clients, std::vector<bool>(count_, false)) {
    for (const int fd : side_.fds()) polled_.push_back({fd, POLLIN, 0});
  }

  // Until every client has answered.
  void meet() {
    const std::int64_t deadline = now_ns() + connect_within_ms * std::int64_t{1'000'000};
    std::vector<bool> met(seen_.size(), false);
    while (std::find(met.begin(), met.end(), false) != met.end()) {
      if (now_ns() > deadline || interrupted()) throw std::runtime_error("a client does not answer");
      send(probe);
      take_until(now_ns() + 10'000'000, [&](std::size_t from, const mark&) { met[from] = true; });
    }
    take_until_quiet([](std::size_t, const mark&) {});
  }

  echoed run() {
    const auto count_echo = [&](std::size_t from, const mark& m) { count(from, m); };
    const std::int64_t start = now_ns();
    for (std::uint64_t number = 0; number < count_ && !interrupted(); ++number) {
      const std::int64_t due = start + static_cast<std::int64_t>(static_cast<double>(number) * period_ns_);
      if (now_ns() < due)
        take_until(due, count_echo);
      else
        take_ready(count_echo);
      send(number);
    }
    const double sending_s = static_cast<double>(now_ns() - start) * 1e-9;
    last_ns_ = start;
    take_until_quiet(count_echo);
    const double s = std::max(sending_s, static_cast<double>(last_ns_ - start) * 1e-9);
    const auto wanted = static_cast<double>(count_ * seen_.size());
    const auto echoes = static_cast<double>(round_trips_.size());
    return {static_cast<double>(count_) / sending_s, echoes * static_cast<double>(payload_.size()) / s * 1e-6,
            1 - echoes / wanted, summarize(round_trips_)};
  }

  // Until all of them say that they are done.
  void stop(const std::vector<client*>& clients) {
    const auto all_done = [&] {
      return std::all_of(clients.begin(), clients.end(), [](client* c) { return c->line.readable(0); });
    };
    while (!all_done() && !interrupted()) {
      const std::byte too_short{0};
      (void)side_.send(&too_short, 1);
      take_until(now_ns() + 10'000'000, [](std::size_t, const mark&) {});
    }
    for (client* each : clients) {
      if (each->line.get<state>() != state::done) throw std::runtime_error("a client failed");
    }
  }

 private:
  static std::vector<std::string> replies(std::size_t clients) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < clients; ++i) names.push_back(pong(static_cast<int>(i)));
    return names;
  }
  void send(std::uint64_t number) {
    const mark m{number, now_ns()};
    std::memcpy(payload_.data(), &m, sizeof m);
    if (!side_.send(payload_.data(), payload_.size())) throw std::runtime_error("a message could not be sent");
  }
  void count(std::size_t from, const mark& m) {
    if (m.number >= count_ || seen_[from][m.number]) return;
    seen_[from][m.number] = true;
    last_ns_ = now_ns();
    round_trips_.push_back(last_ns_ - m.sent_ns);
  }
  template <class Use>
  void take_ready(Use use) {
    side_.take_ready([&](std::size_t from, const std::byte* data, std::size_t size) {
      if (size < sizeof(mark)) return;
      mark m;
      std::memcpy(&m, data, sizeof m);
      use(from, m);
    });
  }
  template <class Use>
  bool take_until(std::int64_t deadline_ns, Use use) {
    bool any = false;
    for (std::int64_t left = deadline_ns - now_ns(); left > 0; left = deadline_ns - now_ns()) {
      const timespec wait{left / 1'000'000'000, left % 1'000'000'000};
      if (::ppoll(polled_.data(), polled_.size(), &wait, nullptr) <= 0) continue;
      take_ready([&](std::size_t from, const mark& m) {
        any = true;
        use(from, m);
      });
    }
    return any;
  }
  template <class Use>
  void take_until_quiet(Use use) {
    while (take_until(now_ns() + quiet_ns, use) && !interrupted()) {
    }
  }

  Side side_;
  std::vector<pollfd> polled_;
  std::vector<std::byte> payload_;
  const std::uint64_t count_;
  const double period_ns_;
  std::vector<std::vector<bool>> seen_;
  std::vector<std::int64_t> round_trips_;
  std::int64_t last_ns_ = 0;
};

template <class Side>
echoed run_trial(const echo_options& o, const std::vector<client*>& clients, double hz) {
  source<Side> here(o, clients.size(), hz);
  for (client* each : clients) {
    if (each->line.get<state>(connect_within_ms) != state::ready) throw std::runtime_error("a client is not ready");
  }
  here.meet();
  echoed all = here.run();
  here.stop(clients);
  return all;
}

template <class Side>
bool serve(const echo_options& o, const order& what, channel& line) {
  Side side(o, pong(what.client), {ping()});
  line.put(state::ready);
  for (bool stop = false; !stop;) {
    const bool alive = side.take_one([&](std::size_t, const std::byte* data, std::size_t size) {
      stop = size < sizeof(mark);
      if (!stop) (void)side.send(data, size);
    });
    if (!alive) return false;
  }
  return true;
}

}  // namespace

echoed echo_trial(const echo_options& o, implementation which, const std::vector<client*>& clients, double hz) {
  int number = 0;
  for (client* each : clients) each->line.put(order{which, false, o.size, number++});
  return which == implementation::orc ? run_trial<orc_side>(o, clients, hz) : run_trial<lcm_side>(o, clients, hz);
}

bool serve_echo_trial(const echo_options& o, const order& what, channel& line) {
  return what.which == implementation::orc ? serve<orc_side>(o, what, line) : serve<lcm_side>(o, what, line);
}

}  // namespace orc::bench
