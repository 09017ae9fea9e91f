// The subscription's end over ipc and tcp: one connection to one publication. When it ends the link is lost, and the
// subscription looks for a new one.
#pragma once

#include <atomic>

#include "transport/stream/stream_connection.h"
#include "transport/transport.h"
#include "wire/link_message.h"

namespace orc::detail {

class stream_subscriber_link final : public subscriber_link {
 public:
  // `fd`: connected or connecting.
  stream_subscriber_link(unique_fd fd, wire::transport kind, const subscription_spec& spec);
  ~stream_subscriber_link() override;

  [[nodiscard]] bool try_recv(sample& out, pick which = pick::newest) noexcept override;
  [[nodiscard]] bool has_more() const noexcept override { return cut_short_; }
  [[nodiscard]] int fd() const noexcept override { return line_.fd(); }
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] bool path_answers(monotonic::time_point now) noexcept override;
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return newest_at_join_; }
  [[nodiscard]] link_state state() const noexcept override { return state_.load(std::memory_order_acquire); }
  [[nodiscard]] bool is_introduced() const noexcept override { return greeted_; }
  [[nodiscard]] bool is_reached() const noexcept override;
  [[nodiscard]] link_end why_ended() const noexcept override { return end_; }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  enum class accepted { sample, nothing, no_memory };  // sample: `out` has one
  accepted accept(stream_connection::incoming& frame, sample& out) noexcept;
  void handle(const wire::link_message& message) noexcept;
  void say(wire::link_kind kind) noexcept;
  void lose(link_end why) noexcept;
  void refuse(link_end::cause why) noexcept;
  void count_malformed() noexcept { malformed_.fetch_add(1, std::memory_order_relaxed); }

  const wire::transport kind_;
  stream_connection line_;
  allowance noise_{20};  // frames that are no samples
  const wire::id publication_;
  const wire::id subscription_;
  const std::uint64_t secret_;
  const orc::detail::delivery delivery_;
  const std::uint64_t newest_so_far_;
  std::uint64_t newest_at_join_ = 0;
  bool greeted_ = false;
  bool cut_short_ = false;                             // the last try_recv stopped before the socket was empty
  monotonic::time_point asked_at_ = monotonic::now();  // of what is not acknowledged yet, or later
  bool is_silent_ = false;                             // since then
  link_end end_;
  std::atomic<link_state> state_{link_state::connecting};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
