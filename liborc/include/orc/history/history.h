// A subscription with a memory.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "orc/history/field_queries.h"
#include "orc/history/past.h"
#include "orc/subscriber.h"
#include "orc/version.h"

namespace orc {

// Some of the kept samples, one after another: for (const past_sample& each : history.between(a, b)).
class past_range {
 public:
  class iterator {
   public:
    using value_type = past_sample;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    iterator(const past* of, std::size_t index) noexcept : of_(of), index_(index) {}
    past_sample operator*() const noexcept { return (*of_)[index_]; }
    iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    iterator operator++(int) noexcept { return {of_, index_++}; }
    bool operator==(const iterator&) const = default;

   private:
    const past* of_ = nullptr;
    std::size_t index_ = 0;
  };

  past_range(const past& of, std::size_t first, std::size_t end) noexcept
      : of_(&of), first_(first), end_(end < first ? first : end) {}
  [[nodiscard]] iterator begin() const noexcept { return {of_, first_}; }
  [[nodiscard]] iterator end() const noexcept { return {of_, end_}; }
  [[nodiscard]] std::size_t size() const noexcept { return end_ - first_; }
  [[nodiscard]] bool empty() const noexcept { return end_ == first_; }
  [[nodiscard]] past_sample operator[](std::size_t index) const noexcept { return (*of_)[first_ + index]; }

 private:
  const past* of_;
  std::size_t first_;
  std::size_t end_;
};

// Receives the samples of a subscription and keeps the last ones.
//
//   orc::history arm(b.request_topic("arm/state", {.conflate = 0, .depth = 1000}), {.samples = 10'000, .age = 10s});
//   while (arm.recv(100) == orc::errc::ok) use(arm.newest(), arm.at(camera.stamp_ns()));
//
// It keeps what it receives. So request the topic with conflate = 0, and with a depth that holds the samples between
// two calls of recv; with conflate = 1 the samples between two calls are missing.
//
// Times are stamps: ns since the Unix epoch, on the publisher's clock (message::stamp_ns). A thread at a time.
class ORC_API history {
 public:
  explicit history(subscriber from, const history_options& keep = {}) noexcept : from_(std::move(from)), kept_(keep) {}

  // Receives all samples that have arrived, and keeps them. Waits at most as long as the timeout for the first one.
  // Returns ok when there is a new sample; newest() is the last of them, unless another publisher of a shared topic
  // sent a later one before. Otherwise as subscriber::recv, and
  // - bad_argument: the newest sample is larger than history_options::max_bytes;
  // - no_memory: the newest sample is not kept.
  [[nodiscard]] errc recv(std::chrono::nanoseconds timeout) noexcept { return receive(timeout, kept_.limit()); }
  // The same with a timeout in ms; -1 waits without limit.
  [[nodiscard]] errc recv(int timeout_ms) noexcept { return recv(detail::timeout_of(timeout_ms)); }
  // Receives one sample, the next one in order, and keeps it. Returns as recv does.
  [[nodiscard]] errc recv_next(std::chrono::nanoseconds timeout) noexcept { return receive(timeout, 1); }
  // The same with a timeout in ms.
  [[nodiscard]] errc recv_next(int timeout_ms) noexcept { return recv_next(detail::timeout_of(timeout_ms)); }

  // What is kept.
  [[nodiscard]] const past& samples() const noexcept { return kept_; }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }
  // The newest kept sample. There must be one.
  [[nodiscard]] past_sample newest() const noexcept { return kept_[kept_.size() - 1]; }
  // The oldest kept sample. There must be one.
  [[nodiscard]] past_sample oldest() const noexcept { return kept_[0]; }
  // The sample that was the newest one at this time. Nothing: all kept samples were sent later.
  [[nodiscard]] std::optional<past_sample> at(std::int64_t stamp_ns) const noexcept;
  // The samples that were sent from `from_ns` to `to_ns`, both included.
  [[nodiscard]] past_range between(std::int64_t from_ns, std::int64_t to_ns) const noexcept;

  // What `read` returns for a sample, between samples. `read` takes a past_sample and returns a number, a
  // std::array<double, N> or an orc::quaternion, or a std::optional of these: nothing for a sample that has none.
  // Returns nothing for times before the oldest sample and after the newest one, and when a sample that it needs has no
  // value.
  template <class Read>
  [[nodiscard]] auto interpolate(Read read, std::int64_t stamp_ns, interpolation how = interpolation::linear) const {
    return detail::interpolate(kept_, detail::optional_read(read), stamp_ns, how);
  }
  // The mean of what `read` returns for the samples that were sent from `from_ns` to `to_ns`, both included. Nothing:
  // none has a value.
  template <class Read>
  [[nodiscard]] auto mean(Read read, std::int64_t from_ns, std::int64_t to_ns) const {
    return detail::mean(kept_, detail::optional_read(read), kept_.before(from_ns), kept_.until(to_ns));
  }
  // The mean over the last `window` before the newest sample, which counts too.
  template <class Read>
  [[nodiscard]] auto moving_average(Read read, std::chrono::nanoseconds window) const {
    const std::int64_t now = empty() ? 0 : newest().stamp_ns;
    std::int64_t from = 0;
    if (__builtin_sub_overflow(now, window.count(), &from)) from = INT64_MIN;
    return mean(std::move(read), from, now);
  }

  // The subscription.
  [[nodiscard]] subscriber& from() noexcept { return from_; }

 private:
  [[nodiscard]] errc receive(std::chrono::nanoseconds timeout, std::size_t most) noexcept;

  subscriber from_;
  past kept_;
};

}  // namespace orc
