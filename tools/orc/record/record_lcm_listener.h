// Captures the channels of an LCM network for `orc record --multicast`: the receiving thread without a broker.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/files/unique_fd.h"
#include "orc/result.h"
#include "tools/orc/record/record_block_filler.h"
#include "tools/orc/record/record_options.h"
#include "transport/multicast/datagram/reassembly.h"
#include "wire/multicast_url.h"

namespace orc::cli {

// One socket takes everything that is sent to the group, as lcm-logger does. A subscription of liborc names its
// channel, and the kernel would copy each datagram to each of them.
class record_lcm_listener {
 public:
  // `types`: of the messages, found by their fingerprint.
  record_lcm_listener(const record_options& options, record_buffer& to, const std::vector<type_description>& types);
  ~record_lcm_listener();
  record_lcm_listener(const record_lcm_listener&) = delete;
  record_lcm_listener& operator=(const record_lcm_listener&) = delete;

  // Joins the group and starts the thread. `remark`: a sentence for people, or empty.
  // - bad_argument: the URL; no_permission, system_error: the sockets.
  [[nodiscard]] result start(std::string& remark);
  // Takes what has come, and ends the thread and the buffer.
  void stop();

  // Any thread.
  [[nodiscard]] std::size_t channels() const noexcept { return channel_count_; }

 private:
  struct channel_state {
    std::shared_ptr<record_source> source;  // null: not wanted
    std::uint64_t sequence = 0;
  };
  struct begun_message {
    detail::multicast::source from;
    std::uint32_t number = 0;
    channel_state* channel = nullptr;
  };

  void run();
  [[nodiscard]] bool receive();
  void take(std::span<const std::byte> datagram, const detail::multicast::source& from, std::int64_t stamp_ns);
  void take_fragment(const detail::lcm::datagram& d, const detail::multicast::source& from, std::int64_t stamp_ns);
  void count_gap(const detail::multicast::source& from, std::uint32_t number, std::int64_t stamp_ns);
  [[nodiscard]] channel_state& channel_at(std::string_view name, std::span<const std::byte> payload);
  [[nodiscard]] recording::channel described(std::string_view name, std::span<const std::byte> payload) const;
  [[nodiscard]] channel_state* begun(const detail::multicast::source& from, std::uint32_t number);

  const record_options& options_;
  record_block_filler filler_;
  record_buffer& to_;
  std::map<std::uint64_t, type_description> types_;  // by fingerprint
  wire::multicast_url url_;
  detail::unique_fd socket_;
  detail::unique_fd wake_;
  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> channel_count_{0};
  struct batch;
  std::unique_ptr<batch> batch_;
  std::unique_ptr<detail::multicast::reassembly> fragments_;
  std::deque<begun_message> begun_;  // the first fragment of a message names its channel
  std::unordered_map<std::string, channel_state> channels_;
  channel_state unwanted_;  // beyond the bound
  std::string key_;         // memory of a look-up
  struct sender {
    detail::multicast::source from;
    std::uint32_t next = 0;
    std::int64_t heard_ns = 0;
  };
  std::vector<sender> senders_;
  int network_ = 0;  // index of the interface that it joined on
  std::thread thread_;
};

}  // namespace orc::cli
