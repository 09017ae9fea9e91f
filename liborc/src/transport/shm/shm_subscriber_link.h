// The subscription's end over shared memory: reads samples where the publisher wrote them.
//
// The socket to the publication carries no samples. It brings the memory, reports new memory, and reports the end of
// the publisher. While it is open, the publisher respects this end's pins.
#pragma once

#include <memory>

#include "base/clock.h"
#include "transport/shm/pinned_message.h"
#include "transport/shm/shm_packet.h"
#include "transport/transport.h"

namespace orc::detail::shm {

class shm_subscriber_link final : public subscriber_link, private detail::sleeper {
 public:
  // `socket`: connected.
  shm_subscriber_link(unique_fd socket, const subscription_spec& spec);
  ~shm_subscriber_link() override;

  [[nodiscard]] bool try_recv(sample& out, pick which = pick::newest) noexcept override;
  [[nodiscard]] bool has_more() const noexcept override;
  [[nodiscard]] int fd() const noexcept override { return -1; }
  [[nodiscard]] bool keeps_samples() const noexcept override { return true; }
  [[nodiscard]] bool exhausted() const noexcept override { return exhausted_; }
  void drain() noexcept override { draining_ = true; }
  [[nodiscard]] detail::sleeper* sleeper() noexcept override { return view_ ? this : nullptr; }
  [[nodiscard]] int control_fd() const noexcept override { return socket_->get(); }
  void service() noexcept override;
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
  [[nodiscard]] link_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_expected() const noexcept override;
  [[nodiscard]] bool is_reached() const noexcept override { return true; }  // the socket was connected at once
  [[nodiscard]] link_end why_ended() const noexcept override { return {end_}; }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  // sleeper
  [[nodiscard]] bool arm() noexcept override;
  void disarm() noexcept override;
  void before_look_out() noexcept override;
  [[nodiscard]] bool look_out(const deadline& until) noexcept override;
  void sleep(const deadline& until) noexcept override;
  void wake() noexcept override;
  void want_alerts() noexcept override;
  [[nodiscard]] int alert_fd() const noexcept override { return alert_.get(); }

  void handle(received_packet& p) noexcept;
  void welcome(const received_packet& p) noexcept;
  [[nodiscard]] bool say(packet_kind kind, std::uint32_t generation = 0) noexcept;
  [[nodiscard]] bool use(const received_packet& p, std::shared_ptr<attachment> by) noexcept;
  [[nodiscard]] reader_page& page() const noexcept { return *page_; }
  void rest_alert() noexcept;
  [[nodiscard]] bool has_moved() const noexcept { return view_->in->header().moved.load() != 0; }
  [[nodiscard]] bool is_news() const noexcept;
  void lose(link_state how, link_end::cause why = link_end::cause::unknown) noexcept {
    end_ = why;
    state_.store(how, std::memory_order_release);
  }
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }

  link_end::cause end_ = link_end::cause::unknown;
  const std::shared_ptr<const shared_socket> socket_;
  const wire::id publication_;
  const wire::id subscription_;
  const std::uint32_t depth_;
  const std::uint32_t pins_;
  std::atomic<link_state> state_{link_state::connecting};
  std::atomic<std::uint64_t> malformed_{0};
  monotonic::time_point expected_at_;  // when the publication last reported that it prepares memory
  std::uint64_t newest_at_join_ = 0;
  std::uint64_t seen_;  // sequence of the last taken sample

  reader_page* page_ = nullptr;            // constant once there is a view
  std::shared_ptr<const view> view_;       // null until connected
  std::shared_ptr<const view> looked_at_;  // by the thread that spins
  std::uint64_t seen_by_look_out_ = 0;
  bool looks_for_move_ = true;
  std::uint32_t ticket_ = 0;     // of the thread that sleeps or spins
  bool awaits_segment_ = false;  // the publisher moved on, and the hand-over has not come yet
  bool exhausted_ = false;
  bool draining_ = false;
  std::uint64_t overtaken_at_ = 0;  // value of newest when the publisher was too fast
  unsigned times_overtaken_ = 0;    // how often that was so with the same newest
  unique_fd alert_;
  unsigned alert_bytes_ = 0;  // in it, or on their way
};

}  // namespace orc::detail::shm
