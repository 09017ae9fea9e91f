// Readers of a multicast publication that exist only to take from the others: each has a socket and an id, answers
// every status and every repair, and wants all of the newest sample again and again.
#pragma once

#include <sys/epoll.h>
#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files/unique_fd.h"
#include "support/value_of.h"
#include "transport/multicast/datagram/orc_datagram.h"
#include "transport/multicast/socket/multicast_socket.h"

namespace orc::test {

class fake_readers {
 public:
  fake_readers(std::size_t count, const wire::id& publication, const detail::ip_port& reports_at)
      : publication_(publication), events_(::epoll_create1(EPOLL_CLOEXEC)) {
    allow_files(count + 200);
    for (std::size_t n = 0; n < count; ++n) {
      all_.push_back({value_of(detail::multicast::open_direct(reports_at, 4096)), wire::id::random()});
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = n;
      (void)::epoll_ctl(events_.get(), EPOLL_CTL_ADD, all_.back().socket.get(), &event);
    }
    thread_ = std::thread([this] { run(); });
  }
  ~fake_readers() {
    stop_ = true;
    thread_.join();
  }
  fake_readers(const fake_readers&) = delete;
  fake_readers& operator=(const fake_readers&) = delete;

 private:
  struct one {
    detail::unique_fd socket;
    wire::id link;
    std::uint64_t cookie = 0;
    std::uint64_t newest = 0;
  };

  static void allow_files(std::size_t count) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur >= count) return;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, count);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < count) throw std::runtime_error("too few files");
  }

  void run() {
    auto remind_at = detail::monotonic::now();
    while (!stop_) {
      if (detail::monotonic::now() >= remind_at) {
        remind_at += std::chrono::milliseconds(500);
        for (one& each : all_) report(each);
      }
      std::array<epoll_event, 64> ready;
      const int count = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()), 10);
      for (int i = 0; i < count; ++i) take(all_[ready[static_cast<std::size_t>(i)].data.u64]);
    }
  }
  void take(one& whom) {
    std::array<std::byte, 65536> datagram;
    const auto size = ::recv(whom.socket.get(), datagram.data(), datagram.size(), MSG_DONTWAIT);
    if (size < 0) return;
    const auto d = detail::multicast::decode(std::span(datagram).first(static_cast<std::size_t>(size)));
    if (!d) return;
    if (d->kind == detail::multicast::datagram_kind::status) {
      whom.cookie = d->cookie;
      whom.newest = d->sequence;
    }
    report(whom);
  }
  void report(const one& whom) const {
    detail::multicast::orc_datagram d{};
    d.kind = detail::multicast::datagram_kind::report;
    d.publication = publication_;
    d.link = whom.link;
    d.cookie = whom.cookie;
    d.wanted = whom.newest;
    d.gap_count = detail::multicast::orc_datagram::max_gaps;
    d.gaps.fill({0, UINT16_MAX});
    std::array<std::byte, detail::multicast::max_orc_datagram> datagram;
    (void)::send(whom.socket.get(), datagram.data(), detail::multicast::encode(d, datagram), MSG_DONTWAIT);
  }

  const wire::id publication_;
  const detail::unique_fd events_;
  std::vector<one> all_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace orc::test
