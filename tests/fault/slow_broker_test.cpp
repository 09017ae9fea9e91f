// A broker behind a slow network, or one that is busy, must be reached also when there are other places to try.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <atomic>
#include <deque>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/files/unique_fd.h"
#include "orc.h"
#include "support/broker_process.h"
#include "support/catch.h"

using namespace orc::test;
using namespace std::chrono_literals;
using orc::detail::unique_fd;

namespace {

constexpr std::size_t scheme = 6;  // "ipc://"

sockaddr_un at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

unique_fd listen_at(const std::string& path) {
  unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto address = at(path);
  REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd.get(), 64) == 0);
  return fd;
}

// Passes bytes on, each some time later.
class slow_relay {
 public:
  slow_relay(const std::string& path, std::string target, std::chrono::milliseconds delay)
      : listener_(listen_at(path)), target_(std::move(target)), delay_(delay), thread_([this] { run(); }) {}
  ~slow_relay() {
    stop_ = true;
    thread_.join();
  }
  slow_relay(const slow_relay&) = delete;
  slow_relay& operator=(const slow_relay&) = delete;

 private:
  using clock = std::chrono::steady_clock;
  struct piece {
    clock::time_point due;
    std::string bytes;
  };
  struct way {
    int from = -1, to = -1;
    std::deque<piece> under_way = {};
    bool ended = false;
  };
  struct connection {
    unique_fd near, far;
    std::array<way, 2> ways;
  };

  void run() {
    while (!stop_) {
      pollfd door{listener_.get(), POLLIN, 0};
      if (::poll(&door, 1, 5) == 1) accept_one();
      for (auto& each : connections_) {
        for (auto& one : each.ways) pass(one);
      }
      std::erase_if(connections_, [](const auto& each) { return each.ways[0].ended || each.ways[1].ended; });
    }
  }
  void accept_one() {
    unique_fd near(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    unique_fd far(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = at(target_);
    if (!near || ::connect(far.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    const int one = near.get();
    const int other = far.get();
    connections_.push_back({std::move(near), std::move(far), {way{one, other}, way{other, one}}});
  }
  void pass(way& of) {
    std::array<char, 4096> bytes{};
    const auto n = ::recv(of.from, bytes.data(), bytes.size(), MSG_DONTWAIT);
    of.ended = n == 0;
    if (n > 0) of.under_way.push_back({clock::now() + delay_, {bytes.data(), static_cast<std::size_t>(n)}});
    while (!of.under_way.empty() && of.under_way.front().due <= clock::now()) {
      const auto& next = of.under_way.front().bytes;
      (void)::send(of.to, next.data(), next.size(), MSG_NOSIGNAL);
      of.under_way.pop_front();
    }
  }

  const unique_fd listener_;
  const std::string target_;
  const std::chrono::milliseconds delay_;
  std::vector<connection> connections_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("slow broker: it is reached and answers, also when another place is named", "[fault][threads]") {
  const broker_process address_broker;
  const std::string slow = address_broker.directory().file("slow");
  const std::string mute = address_broker.directory().file("mute");
  const slow_relay relay(slow, address_broker.endpoint().substr(scheme), 150ms);
  const unique_fd silent = listen_at(mute);
  const std::string named = "ipc://" + slow;
  for (const std::string& others : {named, named + ",ipc:///nowhere/broker", "ipc:///nowhere/broker," + named,
                                    named + ",ipc://" + mute, "ipc://" + mute + "," + named}) {
    INFO(others);
    orc::participant_options options;
    options.broker = others;
    options.broker_timeout = patience;
    orc::participant participant(options);
    const auto registered = participant.register_topic("t").result();
    INFO(registered.error().message());
    CHECK(registered);
  }
}
