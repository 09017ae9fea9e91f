#include "support/flaky_relay.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace orc::test {

namespace {

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), std::min(path.size(), sizeof address.sun_path - 1));
  return address;
}

}  // namespace

flaky_relay::flaky_relay(std::string path, std::string target, unsigned seed, unsigned cut_every)
    : path_(std::move(path)),
      target_(std::move(target)),
      random_(seed),
      cut_every_(cut_every),
      listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const sockaddr_un address = address_of(path_);
  if (::bind(listener_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener_.get(), 16) != 0)
    throw std::runtime_error("flaky_relay: cannot listen on " + path_);
  thread_ = std::thread(&flaky_relay::run, this);
}

flaky_relay::~flaky_relay() {
  stop_ = true;
  thread_.join();
}

void flaky_relay::run() {
  while (!stop_) {
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
    for (const auto& each : pipes_) {
      watched.push_back({each.near.get(), POLLIN, 0});
      watched.push_back({each.far.get(), POLLIN, 0});
    }
    if (::poll(watched.data(), watched.size(), 10) <= 0) continue;
    std::vector<pipe> left;
    for (std::size_t i = 0; i < pipes_.size(); ++i) {
      pipe& each = pipes_[i];
      const bool near_goes = watched[1 + 2 * i].revents == 0 || pass(each.near.get(), each.far.get());
      const bool far_goes = watched[2 + 2 * i].revents == 0 || pass(each.far.get(), each.near.get());
      if (near_goes && far_goes) left.push_back(std::move(each));
    }
    pipes_ = std::move(left);
    if (watched[0].revents != 0) accept_one();
  }
}

void flaky_relay::accept_one() {
  pipe fresh{detail::unique_fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)),
             detail::unique_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  const sockaddr_un address = address_of(target_);
  if (::connect(fresh.far.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
    pipes_.push_back(std::move(fresh));
}

bool flaky_relay::pass(int from, int to) {
  char piece[4096];
  const std::size_t most = calm_ ? sizeof piece : 1 + up_to(up_to(4) == 0 ? 4000 : 40);
  const ssize_t n = ::recv(from, piece, most, 0);
  if (n <= 0 || ::send(to, piece, static_cast<std::size_t>(n), MSG_NOSIGNAL) != n) return false;
  if (calm_) return true;
  if (up_to(50) == 0) std::this_thread::sleep_for(std::chrono::microseconds(up_to(3000)));
  if (cut_every_ == 0 || up_to(cut_every_ - 1) != 0) return true;
  ++cuts_;
  return false;
}

}  // namespace orc::test
