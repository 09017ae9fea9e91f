#include "benchmarks/web_load_topics.h"

#include <poll.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "orc/typed.h"
#include "tools/support/clock.h"
#include "tools/support/interrupt.h"
#include "tools/support/orc_end.h"
#include "tools/support/summary.h"

namespace web_load {

struct state {
  std::int64_t stamp_ns;
  double q[3];
  double torque;
};
ORC_DESCRIBE(state, (stamp_ns, "ns"), (q, "rad"), (torque, "Nm"))

}  // namespace web_load

namespace orc::bench {
namespace {

// All topics of a period are sent in a row: what is late goes out at once, so the rate holds.
class sender {
 public:
  explicit sender(const topics_plan& plan) : participant_(participant_at(plan.broker, "web_load (publisher)")) {
    for (int i = 0; i < plan.topics; ++i)
      topics_.push_back(participant_.register_topic<web_load::state>(topic_of(plan.number, i)));
  }

  [[nodiscard]] bool good() const {
    return std::all_of(topics_.begin(), topics_.end(),
                       [](const auto& each) { return static_cast<bool>(each.result()); });
  }

  // Returns how many were sent.
  std::uint64_t send_all(std::vector<std::int64_t>* calls) {
    std::uint64_t sent = 0;
    for (std::size_t i = 0; i < topics_.size(); ++i) {
      state_.stamp_ns = clock_ns(CLOCK_REALTIME);
      const double angle = static_cast<double>(number_) * 0.005 + static_cast<double>(i);
      state_.q[0] = std::sin(angle);
      const std::int64_t before = now_ns();
      if (topics_[i].send(state_)) ++sent;
      if (calls != nullptr) calls->push_back(now_ns() - before);
    }
    ++number_;
    return sent;
  }

 private:
  orc::participant participant_;
  std::vector<orc::typed_publisher<web_load::state>> topics_;
  web_load::state state_{};
  std::uint64_t number_ = 0;
};

// False: the line ended.
[[nodiscard]] bool send_as_planned(const topics_plan& plan, channel& line) {
  sender topics(plan);
  line.put(topics.good());
  sending_report done;
  std::vector<std::int64_t> calls;
  calls.reserve(static_cast<std::size_t>(plan.hz * plan.topics * (plan.seconds + 2)));
  const auto period = static_cast<std::int64_t>(1e9 / plan.hz);
  std::int64_t measured_from = 0;
  for (std::int64_t due = now_ns(); !interrupted(); due += period) {
    sleep_until_ns(due);
    if (line.readable(0)) {
      if (!line.get<bool>()) return false;
      if (measured_from != 0) break;
      measured_from = now_ns();
    }
    const std::uint64_t sent = topics.send_all(measured_from != 0 ? &calls : nullptr);
    if (measured_from != 0) done.sent += sent;
  }
  done.seconds = static_cast<double>(now_ns() - measured_from) / 1e9;
  const summary s = summarize(calls);
  done.p50_us = s.p50;
  done.p99_us = s.p99;
  done.p999_us = s.p999;
  return line.put(done);
}

void read_as_planned(const topics_plan& plan, channel& line) {
  orc::participant participant(participant_at(plan.broker, "web_load (subscriber)"));
  std::vector<orc::typed_subscriber<web_load::state>> topics;
  std::vector<pollfd> items{{line.fd(), POLLIN, 0}};
  for (int i = 0; i < plan.topics; ++i) {
    topics.push_back(participant.request_topic<web_load::state>(topic_of(plan.number, i)));
    items.push_back({topics.back().fd(), POLLIN, 0});
  }
  std::vector<bool> seen(topics.size());
  std::size_t missing = topics.size();
  while (::poll(items.data(), items.size(), -1) > 0 && items[0].revents == 0) {
    for (std::size_t i = 0; i < topics.size(); ++i) {
      if (items[i + 1].revents == 0 || !topics[i].recv(0) || seen[i]) continue;
      seen[i] = true;
      if (--missing == 0) line.put(true);
    }
  }
}

}  // namespace

std::string topic_of(unsigned trial, int index) {
  return "load" + std::to_string(trial) + "/arm" + std::to_string(index);
}

void serve_topics(channel& line) {
  while (const auto plan = line.get<topics_plan>())
    if (!send_as_planned(*plan, line)) return;
}

void serve_subscriber(channel& line) {
  while (const auto plan = line.get<topics_plan>()) {
    read_as_planned(*plan, line);
    if (!line.get<bool>()) return;
    line.put(true);
  }
}

}  // namespace orc::bench
