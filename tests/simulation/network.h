// Hosts of a simulation and the paths between them. Each direction of a path passes packets or swallows them.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulation/scheduler.h"

namespace orc::test {

class sim_network {
 public:
  sim_network(scheduler& time, std::size_t hosts, scheduler::duration least_delay, scheduler::duration most_delay)
      : time_(time),
        least_(least_delay),
        most_(most_delay),
        hosts_(hosts),
        cuts_(hosts * hosts, 0),
        ups_(hosts * hosts) {}

  // ---- outages ----
  // Cuts one direction; the cuts of a direction add up, so that each is mended alone.
  void cut(std::size_t from, std::size_t to) { ++cuts_[from * hosts_ + to]; }
  void mend(std::size_t from, std::size_t to) {
    if (--cuts_[from * hosts_ + to] == 0) ups_[from * hosts_ + to] = time_.now();
  }

  // ---- paths ----
  [[nodiscard]] bool passes(std::size_t from, std::size_t to) const { return cuts_[from * hosts_ + to] == 0; }
  [[nodiscard]] bool answers(std::size_t one, std::size_t other) const {
    return passes(one, other) && passes(other, one);
  }
  // Since when that direction passes.
  [[nodiscard]] scheduler::time up_since(std::size_t from, std::size_t to) const { return ups_[from * hosts_ + to]; }
  [[nodiscard]] scheduler::duration delay() { return time_.between(least_, most_); }
  // A datagram: it arrives, or not.
  void send(std::size_t from, std::size_t to, std::function<void()> arrives) {
    if (passes(from, to)) time_.after(delay(), std::move(arrives));
  }

  [[nodiscard]] std::size_t hosts() const noexcept { return hosts_; }
  [[nodiscard]] scheduler& time() noexcept { return time_; }

 private:
  scheduler& time_;
  scheduler::duration least_, most_;
  std::size_t hosts_;
  std::vector<int> cuts_;
  std::vector<scheduler::time> ups_;
};

// One direction of a TCP connection: in order, and what a cut swallowed comes some time after the path is back. It ends
// when either end drops it: nothing arrives any more.
template <class Message>
class sim_pipe : public std::enable_shared_from_this<sim_pipe<Message>> {
 public:
  sim_pipe(sim_network& net, std::size_t from, std::size_t to, std::function<void(Message&&)> arrives)
      : net_(net), from_(from), to_(to), arrives_(std::move(arrives)) {}
  void send(Message what) {
    waiting_.push_back(std::move(what));
    if (!is_stuck_) transmit(net_.delay());
  }
  // TCP waits before it tries again.
  [[nodiscard]] bool is_stuck() const noexcept { return is_stuck_; }
  void drop() noexcept {
    is_dropped_ = true;
    waiting_.clear();
  }

 private:
  void transmit(scheduler::duration pause) {
    auto& time = net_.time();
    if (!net_.passes(from_, to_)) {
      if (!is_stuck_) retry(std::chrono::milliseconds(200));
      return;
    }
    ++on_the_way_;
    // Never before the message ahead.
    arrives_at_ = std::max(arrives_at_, time.now() + pause);
    time.at(arrives_at_, [self = this->shared_from_this()] { self->take(); });
  }
  void take() {
    --on_the_way_;
    if (is_dropped_ || waiting_.empty()) return;
    Message first = std::move(waiting_.front());
    waiting_.pop_front();
    arrives_(std::move(first));
  }
  // TCP tries again after pauses that double.
  void retry(scheduler::duration pause) {
    is_stuck_ = true;
    net_.time().after(pause, [self = this->shared_from_this(), pause] {
      if (self->is_dropped_) return;
      if (!self->net_.passes(self->from_, self->to_))
        return self->retry(std::min<scheduler::duration>(pause * 2, std::chrono::seconds(30)));
      self->is_stuck_ = false;
      for (std::size_t n = self->waiting_.size() - self->on_the_way_; n > 0; --n) self->transmit(self->net_.delay());
    });
  }

  sim_network& net_;
  const std::size_t from_, to_;
  std::function<void(Message&&)> arrives_;
  std::deque<Message> waiting_;  // those on the way first
  std::size_t on_the_way_ = 0;
  scheduler::time arrives_at_;
  bool is_stuck_ = false;
  bool is_dropped_ = false;
};

}  // namespace orc::test
