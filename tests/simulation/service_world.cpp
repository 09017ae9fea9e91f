#include "simulation/service_world.h"

#include <algorithm>

namespace orc::test {

namespace {

using namespace std::chrono_literals;
using orc::call_errc;

constexpr std::size_t broker_host = 0;

}  // namespace

service_world::service_world(const options& wanted)
    : options_(wanted),
      time_(wanted.seed),
      slowest_(time_.chance(80)   ? 2ms
               : time_.chance(80) ? 40ms
                                  : 700ms),
      net_(time_, 2 + 1 + time_.pick(2), 100us, slowest_),
      broker_(net_, broker_host) {
  server_ = std::make_unique<sim_server>(*this, sim_server_host);
  for (std::size_t n = 0; n + 2 < net_.hosts(); ++n) clients_.push_back(std::make_unique<sim_client>(*this, n + 2, n));
}

void service_world::tell(const std::string& what) { story_ += std::to_string(time_.ms()) + " ms: " + what + "\n"; }

sim_call& service_world::make_call(scheduler::duration allowed) {
  return calls_.emplace_back(
      sim_call{.number = calls_.size(), .made_at = time_.now(), .deadline = time_.now() + allowed});
}

void service_world::plan_fault() {
  const auto length = time_.between(200ms, time_.chance(70) ? 8'000ms : 1'500ms);
  const auto begins = time_.between(0ms, 4'000ms);
  const auto ends = begins + length;
  healed_ = std::max(healed_, time_.now() + ends);
  const auto both = [&](auto first, auto then) {
    time_.after(begins, std::move(first));
    time_.after(ends, std::move(then));
  };
  const std::size_t one = time_.pick(net_.hosts());
  const std::size_t other = (one + 1 + time_.pick(net_.hosts() - 1)) % net_.hosts();
  const std::string name = std::to_string(one) + " and " + std::to_string(other);
  const auto cut = [this, one, other](bool back) {
    net_.cut(one, other);
    if (back) net_.cut(other, one);
  };
  const auto mend = [this, one, other](bool back) {
    net_.mend(one, other);
    if (back) net_.mend(other, one);
  };
  switch (time_.pick(8)) {
    case 0:
    case 1:
      both([=, this] { tell("lost: " + name), cut(true); }, [=, this] { tell("back: " + name), mend(true); });
      break;
    case 2:
      both([=, this] { tell("one way lost: " + name), cut(false); }, [=, this] { tell("back: " + name), mend(false); });
      break;
    case 3: {
      const auto all = [this, one](bool lose) {
        tell((lose ? "host lost: " : "host back: ") + std::to_string(one));
        for (std::size_t n = 0; n < net_.hosts(); ++n) {
          if (n == one) continue;
          lose ? (net_.cut(one, n), net_.cut(n, one)) : (net_.mend(one, n), net_.mend(n, one));
        }
      };
      both([=] { all(true); }, [=] { all(false); });
      break;
    }
    case 4:
      for (auto at = begins; at < ends;) {
        const auto until = std::min<scheduler::duration>(at + time_.between(50ms, 2'000ms), ends);
        time_.after(at, [=, this] { tell("flap: " + name), cut(true); });
        time_.after(until, [=] { mend(true); });
        at = until + time_.between(50ms, 1'000ms);
      }
      break;
    case 5: {
      sim_client* const client = clients_[time_.pick(clients_.size())].get();
      if (time_.chance(50))
        both([=, this] { tell("server stopped"), server_->stop(true); },
             [=, this] { tell("server goes on"), server_->stop(false); });
      else
        both([=, this] { tell("client stopped"), client->stop(true); },
             [=, this] { tell("client goes on"), client->stop(false); });
      break;
    }
    case 6: {
      was_killed_ = true;
      const auto who = time_.pick(3);
      if (who == 0) {
        both([=, this] { tell("broker killed"), broker_.kill(); }, [=, this] { tell("broker back"), broker_.start(); });
      } else if (who == 1) {
        time_.after(ends, [=, this] { tell("server restarted"), server_->restart(); });
      } else {
        time_.after(ends, [=, this, n = time_.pick(clients_.size())] {
          tell("client restarted");
          clients_[n]->restart();
        });
      }
      break;
    }
    default:  // both ends see that some time later
      time_.after(std::max<scheduler::duration>(ends - 1s, 0ms), [=, this, n = time_.pick(clients_.size())] {
        tell("address changed: connections of client " + std::to_string(n + 2) + " carry nothing");
        clients_[n]->break_streams();
      });
      break;
  }
}

std::string service_world::run() {
  // A new link takes some round trips.
  const auto trips = slowest_ < 100ms ? 0ms : 10 * slowest_;
  tell("up to " + std::to_string(slowest_.count()) + " ms each way");
  for (const auto& each : clients_) {
    tell("a client with " + std::to_string(each->pairs_) + " pairs of types");
    // Now and then, so that connections are also idle.
    const auto pause = time_.chance(70) ? 100ms : 900ms;
    for (auto at = time_.now(); at < time_.now() + 18s; at += pause)
      time_.at(at, [this, client = each.get(), trips] { client->call(time_.between(600ms, 3'000ms) + trips); });
  }
  time_.run_for(3s);
  healed_ = time_.now();
  for (std::uint64_t faults = 1 + time_.pick(3); faults > 0; --faults) plan_fault();
  time_.run_until(healed_);
  tell("all is well again");
  time_.run_for((was_killed_ ? sim_broker::lease + 2s : 1'500ms) + trips);
  const auto whole = time_.now();
  for (const auto& each : clients_) {
    for (int n = 0; n < 5; ++n) time_.after(n * 100ms, [client = each.get(), trips] { client->call(1s + trips); });
  }
  time_.run_for(6s + 2 * trips);
  return check(whole);
}

std::string service_world::check(scheduler::time whole) {
  for (const auto& each : calls_) {
    const auto ms = [](scheduler::time of) {
      return std::to_string((of - scheduler::time(std::chrono::hours(1))) / 1ms);
    };
    const std::string which = "the call of " + ms(each.made_at) + " ms ";
    if (each.made_at > time_.now() - 4s - 10 * slowest_) continue;
    if (each.ended != 1) return which + "ended " + std::to_string(each.ended) + " times";
    if (each.executed > 1) return which + "ran " + std::to_string(each.executed) + " times";
    if (each.how == call_errc::ok && each.executed == 0) return which + "was answered and never ran";
    if (each.made_at >= whole && each.how != call_errc::ok)
      return which + "ended as " + std::string(to_string(each.how));
  }
  return {};
}

}  // namespace orc::test
