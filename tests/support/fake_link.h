// A subscriber link without a publisher: the test decides what arrives and what becomes of the link.
#pragma once

#include <sys/eventfd.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "base/threads/doorbell.h"
#include "transport/transport.h"

namespace orc::test {

// How the link reports samples, as transport.h lists it.
enum class reports_by : std::uint8_t { descriptor, sleeper, bell };

[[nodiscard]] inline detail::sample sample_of(std::uint64_t sequence, std::int64_t stamp_ns = detail::realtime_ns()) {
  return {detail::allocate_frame(8), sequence, stamp_ns};
}

// The publisher's end, which the test keeps. While a thread waits for the link, the test may send() and lose(); all
// else needs the lock of the link's subscription.
struct fake_publisher final : private detail::sleeper {
  explicit fake_publisher(reports_by way = reports_by::descriptor)
      : descriptor(way == reports_by::descriptor ? ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1), way_(way) {}

  void send(std::uint64_t sequence, std::int64_t stamp_ns = detail::realtime_ns()) {
    {
      const std::lock_guard lock(mutex);
      samples.push_back(sample_of(sequence, stamp_ns));
    }
    if (descriptor) ::eventfd_write(descriptor.get(), 1);
    if (way_ == reports_by::sleeper) word.ring();
    if (way_ == reports_by::bell && bell) bell->ring();
  }
  void lose(detail::link_end why = {}) {
    {
      const std::lock_guard lock(mutex);
      state = detail::link_state::lost;
      end = why;
    }
    if (descriptor) ::eventfd_write(descriptor.get(), 1);
  }

  [[nodiscard]] detail::sleeper* as_sleeper() noexcept { return way_ == reports_by::sleeper ? this : nullptr; }

  std::mutex mutex;                    // guards the next three
  std::deque<detail::sample> samples;  // that have not been taken
  detail::link_state state = detail::link_state::connected;
  detail::link_end end;
  std::uint64_t newest_at_join = 0;
  orc::detail::subscriber_link::heard heard = {};  // of each publication
  std::uint64_t malformed = 0;
  std::optional<error> type_problem;
  bool in_order = false;
  bool keeps_samples = false;
  bool exhausted = false;
  bool expected = false;
  bool introduced = false;
  bool path_answers = true;
  bool is_lost_when_read = false;
  detail::unique_fd descriptor;
  detail::unique_fd control;  // none: control_fd() is -1
  int alert = -1;
  std::shared_ptr<detail::doorbell> bell;  // of the subscription
  detail::doorbell word;                   // that a sleeper sleeps on

  // What became of the link.
  bool is_open = true;
  bool drained = false;
  bool wants_alerts = false;
  int services = 0;
  int sleeps = 0;
  int spins = 0;
  std::function<void()> after_spin = [] {};  // runs without the lock, when a spin found nothing

 private:
  [[nodiscard]] bool arm() noexcept override {
    const std::lock_guard lock(mutex);
    ticket_ = word.ticket();
    if (samples.empty()) ++sleeps;
    return samples.empty();
  }
  void disarm() noexcept override {}
  void before_look_out() noexcept override {
    ++spins;
    ticket_ = word.ticket();
  }
  [[nodiscard]] bool look_out(const detail::deadline& until) noexcept override {
    while (word.ticket() == ticket_) {
      if (!until.passed()) continue;
      after_spin();
      return false;
    }
    return true;
  }
  void sleep(const detail::deadline& until) noexcept override { word.wait(ticket_, until); }
  void wake() noexcept override { word.ring(); }
  void want_alerts() noexcept override { wants_alerts = true; }
  [[nodiscard]] int alert_fd() const noexcept override { return alert; }

  const reports_by way_;
  std::uint32_t ticket_ = 0;
};

class fake_link final : public detail::subscriber_link {
 public:
  explicit fake_link(std::shared_ptr<fake_publisher> publisher) : publisher_(std::move(publisher)) {}
  ~fake_link() override { publisher_->is_open = false; }

  [[nodiscard]] bool try_recv(detail::sample& out, detail::pick which) noexcept override {
    auto& samples = publisher_->samples;
    if (publisher_->is_lost_when_read) publisher_->lose();
    const std::lock_guard lock(publisher_->mutex);
    const bool next = publisher_->in_order || (publisher_->keeps_samples && which == detail::pick::next);
    while (!next && samples.size() > 1) samples.pop_front();
    if (samples.empty() || publisher_->exhausted) return false;
    out = std::move(samples.front());
    samples.pop_front();
    eventfd_t count = 0;
    if (samples.empty() && fd() >= 0) ::eventfd_read(fd(), &count);
    return true;
  }
  [[nodiscard]] bool has_more() const noexcept override {
    const std::lock_guard lock(publisher_->mutex);
    return !publisher_->samples.empty();
  }
  [[nodiscard]] int fd() const noexcept override { return publisher_->descriptor.get(); }
  [[nodiscard]] bool keeps_samples() const noexcept override { return publisher_->keeps_samples; }
  [[nodiscard]] bool exhausted() const noexcept override { return publisher_->exhausted; }
  void drain() noexcept override { publisher_->drained = true; }
  [[nodiscard]] detail::sleeper* sleeper() noexcept override { return publisher_->as_sleeper(); }
  [[nodiscard]] int control_fd() const noexcept override { return publisher_->control.get(); }
  void service() noexcept override { ++publisher_->services; }
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return publisher_->newest_at_join; }
  [[nodiscard]] heard heard_of(const wire::id&, const std::vector<wire::endpoint>&) const override {
    return publisher_->heard;
  }
  [[nodiscard]] bool path_answers(detail::monotonic::time_point) noexcept override { return publisher_->path_answers; }
  [[nodiscard]] detail::link_state state() const noexcept override {
    const std::lock_guard lock(publisher_->mutex);
    return publisher_->state;
  }
  [[nodiscard]] bool is_introduced() const noexcept override { return publisher_->introduced; }
  [[nodiscard]] bool is_expected() const noexcept override { return publisher_->expected; }
  [[nodiscard]] detail::link_end why_ended() const noexcept override {
    const std::lock_guard lock(publisher_->mutex);
    return publisher_->end;
  }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return publisher_->malformed; }
  [[nodiscard]] std::optional<error> type_problem() const override { return publisher_->type_problem; }

 private:
  const std::shared_ptr<fake_publisher> publisher_;
};

}  // namespace orc::test
