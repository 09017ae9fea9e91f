// The paper's round trip (ORC paper, IV.A): A sends a sample and waits for the reply, B sends back what it receives.
// The loops are templates over an end, so that ORC and bare libzmq run the same code:
//
//   bool send(const std::byte* data, std::size_t size);   // copies
//   bool forward(message_type&& received);                // sends a received sample on
//   bool send_loaned(const std::byte* mark, std::size_t marked, std::size_t size);  // writes the mark only
//   message_type receive(wait_mode);                      // waits; a false one: the end was closed
//   message_type: explicit bool, data(), size()
//
// A sample of no bytes ends the echo.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "tools/support/clock.h"
#include "tools/support/interrupt.h"

namespace orc::bench {

enum class wait_mode { block, spin };

// How samples are sent: the paper's way (send copies the bytes), by handing the received message on, or on loan, with
// a payload of which only the first bytes are touched: what a program costs that writes its samples in place.
enum class send_mode { copy, move, loan };

inline constexpr std::size_t mark_size = sizeof(std::uint64_t);

// A received sample for an end that keeps the bytes itself, until the next one.
class message_view {
 public:
  message_view() noexcept = default;
  message_view(const std::byte* data, std::size_t size) noexcept : data_(data), size_(size) {}
  explicit operator bool() const noexcept { return data_ != nullptr; }
  [[nodiscard]] const std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class End>
bool echo(End& end, wait_mode wait, send_mode mode) {
  for (;;) {
    auto message = end.receive(wait);
    if (!message) return false;
    if (message.size() == 0) return true;
    const auto* const data = static_cast<const std::byte*>(message.data());
    bool sent = false;
    switch (mode) {
      case send_mode::copy: sent = end.send(data, message.size()); break;
      case send_mode::move: sent = end.forward(std::move(message)); break;
      case send_mode::loan: sent = end.send_loaned(data, std::min(mark_size, message.size()), message.size()); break;
    }
    if (!sent) return false;
  }
}

// Calls `give_up` once when `progress` stands still for 5 s or the benchmark is interrupted: that closes the end which
// the measuring thread waits on, so the loop itself can wait without a time limit, as the paper's does.
class watchdog {
 public:
  static constexpr std::int64_t patience_ns = 5'000'000'000;

  watchdog(const std::atomic<std::uint64_t>& progress, std::function<void()> give_up,
           std::function<void(std::uint64_t)> tick = {})
      : progress_(progress), give_up_(std::move(give_up)), tick_(std::move(tick)), thread_([this] { run(); }) {}
  ~watchdog() {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;

 private:
  void run() {
    std::uint64_t seen = progress_.load(std::memory_order_relaxed);
    std::int64_t seen_at = now_ns();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(200), [this] { return done_; })) {
      const std::uint64_t progress = progress_.load(std::memory_order_relaxed);
      if (progress != seen) {
        seen = progress;
        seen_at = now_ns();
        if (tick_) tick_(progress);
      }
      if (interrupted() || now_ns() - seen_at > patience_ns) {
        give_up_();
        return;
      }
    }
  }

  const std::atomic<std::uint64_t>& progress_;
  std::function<void()> give_up_;
  std::function<void(std::uint64_t)> tick_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
  std::thread thread_;  // last: starts when the rest is there
};

// Sends `payload` and waits for it to come back, once. The first bytes carry a counter, so that a late echo is not
// taken for this one. False: the end was closed.
template <class End>
bool round_trip(End& end, std::span<std::byte> payload, std::uint64_t counter, wait_mode wait,
                send_mode send = send_mode::copy) {
  const std::size_t mark = std::min(mark_size, payload.size());
  std::memcpy(payload.data(), &counter, mark);
  const bool sent = send == send_mode::loan ? end.send_loaned(payload.data(), mark, payload.size())
                                            : end.send(payload.data(), payload.size());
  if (!sent) return false;
  for (;;) {
    auto reply = end.receive(wait);
    if (!reply) return false;
    if (reply.size() == payload.size() && std::memcmp(reply.data(), &counter, mark) == 0) return true;
  }
}

// Appends the time of each of `count` round trips to `ns`, which has room for them. False: the end was closed.
template <class End>
bool ping(End& end, std::span<std::byte> payload, std::uint64_t count, wait_mode wait,
          std::atomic<std::uint64_t>& progress, std::vector<std::int64_t>& ns, send_mode send = send_mode::copy) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::int64_t start = now_ns();
    if (!round_trip(end, payload, i, wait, send)) return false;
    ns.push_back(now_ns() - start);
    progress.fetch_add(1, std::memory_order_relaxed);
  }
  return true;
}

// The same with one message that goes to and fro: both ends hand on what they received.
template <class End>
bool ping_by_move(End& end, std::span<std::byte> payload, std::uint64_t count, wait_mode wait,
                  std::atomic<std::uint64_t>& progress, std::vector<std::int64_t>& ns) {
  if (!end.send(payload.data(), payload.size())) return false;
  auto message = end.receive(wait);
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!message) return false;
    const std::int64_t start = now_ns();
    if (!end.forward(std::move(message))) return false;
    message = end.receive(wait);
    ns.push_back(now_ns() - start);
    progress.fetch_add(1, std::memory_order_relaxed);
  }
  return static_cast<bool>(message);
}

// Calls some(n) with growing n until `most` round trips are done or, unless `exactly`, `seconds` have passed: large
// samples must not warm up for minutes. False as soon as some() is.
template <class Some>
bool warm_up(Some some, std::uint64_t most, double seconds, bool exactly = false) {
  const std::int64_t enough = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
  std::uint64_t step = 1;
  for (std::uint64_t done = 0; done < most; done += step, step = std::min(step * 2, most - done)) {
    if (!some(step)) return false;
    if (!exactly && now_ns() > enough) return true;
  }
  return true;
}

// As many round trips as fit into `seconds`, judged by those of the warm-up; at least `least`.
inline std::uint64_t count_for(double seconds, const std::vector<std::int64_t>& warm_up_ns, std::uint64_t least,
                               std::uint64_t most) {
  if (warm_up_ns.empty()) return least;
  std::vector<std::int64_t> sorted(warm_up_ns);
  std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2), sorted.end());
  const auto typical = static_cast<double>(std::max<std::int64_t>(sorted[sorted.size() / 2], 1));
  return std::clamp(static_cast<std::uint64_t>(seconds * 1e9 / typical), least, most);
}

// Warms up, then measures as many round trips as fit into `seconds`, at most `most`. `some(n)` makes n of them and
// appends their times to `ns`, which ends with those of the measurement. False: some() was.
template <class Some>
bool warm_up_and_measure(Some some, double seconds, std::uint64_t most, std::vector<std::int64_t>& ns) {
  if (!warm_up(some, 1000, seconds / 4)) return false;
  const std::uint64_t count = count_for(seconds, ns, 20, most);
  ns.clear();
  return some(count);
}

}  // namespace orc::bench
