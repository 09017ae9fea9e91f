// The subscription's end over multicast: a socket on the group that gets only this channel, and one for what a
// publication sends to this subscription alone. Waiting threads read the group's socket themselves. The housekeeping
// reads the other one, which is seldom used. channel_receiver.h interprets the datagrams.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "base/files/unique_fd.h"
#include "transport/multicast/channel_receiver.h"
#include "transport/multicast/link_events.h"
#include "transport/multicast/socket/datagram_batch.h"
#include "transport/transport.h"
#include "wire/multicast_url.h"

namespace orc::detail {

class multicast_subscriber_link final : public subscriber_link {
 public:
  [[nodiscard]] static link_or_error<subscriber_link> open(const subscription_spec& spec,
                                                           const wire::multicast_url& url);
  ~multicast_subscriber_link() override;

  [[nodiscard]] bool try_recv(sample& out, pick which) noexcept override;
  [[nodiscard]] bool has_more() const noexcept override { return !channel_.ready().empty() || !emptied_; }
  [[nodiscard]] int fd() const noexcept override { return group_.get(); }
  [[nodiscard]] int control_fd() const noexcept override { return events_.fd(); }
  void service() noexcept override;
  void network_changed() noexcept override;
  [[nodiscard]] std::shared_ptr<upkeep> work() noexcept override { return channel_.type_work(monotonic::now()); }
  [[nodiscard]] std::string remark() const override;
  [[nodiscard]] std::optional<error> type_problem() const override { return channel_.type_problem(); }
  [[nodiscard]] std::uint64_t newest_at_join() const noexcept override { return channel_.newest_at_join(); }
  [[nodiscard]] heard heard_of(const wire::id& publication, const std::vector<wire::endpoint>& from) const override;
  [[nodiscard]] link_end why_ended() const noexcept override { return {link_end::cause::network, end_}; }
  [[nodiscard]] link_state state() const noexcept override { return state_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t malformed() const noexcept override { return malformed_.load(std::memory_order_relaxed); }

 private:
  multicast_subscriber_link(const subscription_spec& spec, const wire::multicast_url& url);
  void read_group(bool all) noexcept;
  void read_direct() noexcept;
  void on_connected() noexcept;
  void answer() noexcept;
  void keep_in_touch(monotonic::time_point now) noexcept;
  void arm_timer() noexcept;
  void send(const multicast::source& to, const multicast::orc_datagram& d) noexcept;
  void lose(int error) noexcept;
  void tell_malformed() noexcept;

  const bool in_order_;
  const wire::multicast_url url_;
  unique_fd group_;
  unique_fd direct_;
  int network_ = 0;  // index of the interface that it joined on; 0: with a ttl of 0 the link may exist before it
  std::size_t direct_buffer_ = 0;  // bytes that the kernel granted to it
  multicast::link_events events_;

  multicast::channel_receiver channel_;
  multicast::receiving_batch group_batch_;
  multicast::receiving_batch direct_batch_;
  bool emptied_ = true;                             // the group's socket, at the last read
  monotonic::time_point heard_ = monotonic::now();  // anything of the group
  monotonic::duration retry_{};
  monotonic::time_point next_retry_;
  monotonic::time_point armed_for_ = monotonic::time_point::max();
  int end_ = 0;  // errno
  std::atomic<link_state> state_{link_state::connecting};
  std::atomic<std::uint64_t> malformed_{0};
};

}  // namespace orc::detail
